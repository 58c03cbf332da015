import type { Identity } from '../identity/identity.ts'
import type { Digest } from '../s3/checksum.ts'

/**
 * The namespace: buckets and objects as plain directories and files below one root.
 *
 * Every method takes the acting user and runs as it (the kernel checks permissions). Every failure is an S3Error:
 * errno becomes an S3 code in one table at this edge (ENOENT: NoSuchBucket or NoSuchKey, EACCES: AccessDenied, …).
 * Work on the file system happens in compound steps, one message each to a worker thread.
 */
export interface Namespace {
  /** What the file system can do, probed once at start. */
  readonly features: NamespaceFeatures

  /** Top-level directories, in byte order of their names; reserved and unrepresentable names are left out. */
  listBuckets(as: Identity): Promise<BucketEntry[]>
  /** The directory of a bucket. Throws NoSuchBucket (also when a file is there), AccessDenied (see StatOptions). */
  statBucket(as: Identity, bucket: string, options?: StatOptions): Promise<BucketEntry>
  /**
   * Makes a bucket directory owned by `as`, appearing at once with owner and mode set.
   * Throws BucketAlreadyOwnedByYou, BucketAlreadyExists, InvalidBucketName (a file is there), NoSuchBucket (parent).
   */
  createBucket(as: Identity, bucket: string): Promise<BucketEntry>
  /** Removes an empty bucket directory. Throws NoSuchBucket, BucketNotEmpty, AccessDenied. */
  removeBucket(as: Identity, bucket: string): Promise<void>

  /** Throws NoSuchBucket, NoSuchKey, AccessDenied. A key with a final `/` names a folder, one without names a file. */
  stat(as: Identity, target: Target, options?: StatOptions): Promise<Entry>
  /**
   * Opens an object for reading. Files up to `inlineBytes` come back whole in `bytes` and are closed already;
   * for others (and for ranges, which the caller serves) `file` stays open until closed. A folder has neither.
   */
  open(as: Identity, target: Target, options?: OpenOptions): Promise<Opened>
  /** One page of a listing, in byte order of full keys; see ListQuery. Throws NoSuchBucket, AccessDenied. */
  list(as: Identity, query: ListQuery): Promise<ListPage>

  /**
   * Begins a new file for `target` in the target's own directory, invisible until published: missing parent folders
   * are made, permissions are checked. With `bytes` given the content is written in the same step.
   * Throws NoSuchBucket, AccessDenied, KeyTooLongError, ExistingObjectIsDirectory, ObjectParentIsFile, NoSpaceLeft.
   */
  stage(as: Identity, target: Target, options: StageOptions): Promise<Staged>
  /** A fresh name for `StageOptions.temp`: hidden, in the target's own directory, as a path below the root. Pure. */
  tempName(target: Target): string
  /** Staged copy of (a range of) an open file; made in the kernel where no digest is asked for. */
  copy(
    as: Identity,
    source: OpenFile,
    range: ByteRange | undefined,
    target: Target,
    options: StageOptions,
  ): Promise<Staged>
  /** Staged concatenation of files, in order, in slices, so that nothing is blocked; `onProgress` gets bytes done. */
  assemble(as: Identity, sources: readonly Target[], target: Target, options: AssembleOptions): Promise<Staged>
  /**
   * Makes an existing file (a stored part) the staged file of `target` without copying: it gets the hidden name `temp`
   * besides its own (a hard link), is checked to be `expected`, and `finish` gives it a new identity. `publish` renames
   * `temp`; the old name stays until the caller removes it. `discard` removes `temp` only.
   * Undefined when the file is gone or no longer `expected`, or cannot be linked (file system, not the owner): copy then.
   */
  adopt(
    as: Identity,
    source: Target,
    target: Target,
    options: { readonly temp: string; readonly expected: FileId },
  ): Promise<Staged | undefined>
  /**
   * Takes up again, perhaps in another process, a finished staged file by its name and identity (from `assemble` or
   * `adopt`); only its end remains to be called. Undefined when that file is not there any more: it was published, or
   * removed.
   */
  restage(as: Identity, temp: string, target: Target, id: FileId): Promise<Staged | undefined>
  /**
   * Sets a new modification time on the object's own file, so that it gets a new identity without new bytes
   * (CopyObject onto itself). `write` is called with the new identity before the time is set. Undefined when the
   * user may not (not the owner), or when the file is no longer `expected`.
   */
  renew(
    as: Identity,
    target: Target,
    expected: FileId,
    write: (id: FileId) => Promise<void>,
  ): Promise<Entry | undefined>

  /** Makes a folder and its missing parents; an existing one is fine. Throws ExistingObjectIsFile. */
  makeFolder(as: Identity, target: Target): Promise<Entry>
  /**
   * Removes a file or an empty folder (key with final `/`). A missing one is `missing`, a folder with entries
   * `notEmpty`: both are no errors for S3. `parent` is the folder it was in, undefined directly in the bucket.
   */
  remove(as: Identity, target: Target): Promise<Removed>

  /** The numbered files of a multipart directory, by number. Throws NoSuchUpload when the directory is gone. */
  parts(as: Identity, directory: Target): Promise<PartEntry[]>
  /** Whether a multipart directory holds anything but its numbered files. False when it is gone. */
  holdsForeign(as: Identity, directory: Target): Promise<boolean>
  /** Removes the numbered files of a multipart directory, then the directory if nothing foreign is left in it. */
  removeParts(as: Identity, directory: Target): Promise<void>

  /** Removes left-over temporary files, given as returned in `Staged.temp`. Never anything else. As the process user. */
  collect(temps: readonly string[]): Promise<void>
  /** Answers within `timeoutMs` whether the root can be read, for readiness. */
  check(timeoutMs: number): Promise<boolean>
  close(): Promise<void>
}

/** A place in the namespace. `bucket` is a relative path without `:` (`a/b/c`), `key` is checked by key-path.ts. */
export interface Target {
  readonly bucket: string
  readonly key: string
}

/**
 * Identity of a file's content: inode, mtime in ns and size (design §4); of a folder: inode and birth time.
 * A short printable string, equal across processes and restarts; changes whenever the content does.
 */
export type FileId = string

export interface NamespaceFeatures {
  /** Temporary files can be nameless (O_TMPFILE), so that nothing is left when the process dies. */
  readonly tmpfile: boolean
  /** Steps run as the acting user; otherwise everything belongs to the process user. */
  readonly enforcedIdentity: boolean
}

export interface Entry {
  readonly kind: 'file' | 'folder'
  readonly id: FileId
  /** Bytes; 0 for folders. */
  readonly size: number
  readonly modifiedMs: number
  readonly uid: number
  /** Hard links. */
  readonly links: number
}

export interface BucketEntry {
  /** Path below the root, `a` or `a/b`. */
  readonly path: string
  readonly id: FileId
  readonly createdMs: number
  readonly uid: number
}

/** An open descriptor; belongs to whoever holds it. */
export interface OpenFile {
  readonly fd: number
  readonly size: number
  /** For files of a local file system. */
  readonly direct?: DirectSend
  /** Idempotent. */
  close(): void
}

/** Gives bytes of an open file to a socket within the kernel. Only until the file is closed. */
export interface DirectSend {
  /** Whether `length` bytes (at least 1) from `start` on are in memory, so that to send them waits for no disk. */
  isCached(start: number, length: number): boolean
  /** Sends to the descriptor of a socket; bytes it took, 0 or less when it takes none or the file has ended. */
  sendTo(socket: number, start: number, length: number): number
}

export interface StatOptions {
  /** Throws AccessDenied unless the user may write to it: its tags are about to change. */
  readonly forChange?: boolean
}

export interface OpenOptions {
  /** Return the content inline when the file is not larger than this. */
  readonly inlineBytes?: number
}

export interface Opened {
  readonly entry: Entry
  readonly bytes?: Buffer
  readonly file?: OpenFile
}

export interface ByteRange {
  readonly start: number
  readonly length: number
}

export interface StageOptions {
  /** Digests to compute over the content while it is written, off the event loop. */
  readonly digests: readonly Digest[]
  /** The whole content, for small bodies. */
  readonly bytes?: Buffer
  /** A name from `tempName` when `features.tmpfile` is false, registered before as an intent. */
  readonly temp?: string
  /** A folder in the target's place is no reason to refuse: it will have gone by `publish`, or that refuses. */
  readonly overFolder?: boolean | undefined
}

export interface AssembleOptions {
  readonly temp: string
  readonly onProgress?: (bytes: number) => void
  readonly signal?: AbortSignal
}

/** A file that is written but not yet visible. Exactly one of `publish` (if it succeeds), `discard`, `release` ends it. */
export interface Staged {
  /** Path of the temporary file below the root; undefined while it has no name. */
  readonly temp: string | undefined
  /** Appends; resolves when more may be given (back-pressure). The buffer must not be touched until then. */
  write(bytes: Buffer): Promise<void>
  /** Ends the content: sets the identity and, with `sync`, makes the bytes durable. May be called again to do so. */
  finish(options: { sync: boolean }): Promise<StagedFile>
  /**
   * Makes the file the object, atomically. With `ifAbsent` throws PreconditionFailed when anything is there.
   * Throws ExistingObjectIsDirectory. With `sync` the directory entry is durable on return.
   */
  publish(options: { ifAbsent: boolean; sync: boolean }): Promise<Published>
  /** Removes the temporary file. Never throws. */
  discard(): Promise<void>
  /** Lets go of a named temporary file and leaves it where it is, for `restage`. Never throws. */
  release(): Promise<void>
}

export interface StagedFile {
  readonly id: FileId
  readonly size: number
  readonly modifiedMs: number
  readonly digests: ReadonlyMap<Digest, Buffer>
}

export interface Published {
  /** Identity of the file that was replaced, when nothing else links to it. */
  readonly replaced: FileId | undefined
  /** Identity of the folder the file is in now; undefined directly in the bucket. */
  readonly parent?: FileId | undefined
}

export interface Removed {
  readonly outcome: 'removed' | 'missing' | 'notEmpty'
  /** Identity of what was removed, when nothing else links to it; or of the folder that is not empty. */
  readonly id?: FileId
  /** The folder that held it: its key in the bucket, its identity and whether it is empty now. */
  readonly parent?: { readonly key: string; readonly id: FileId; readonly empty: boolean }
}

export interface PartEntry {
  readonly number: number
  readonly entry: Entry
}

export interface ListQuery {
  readonly bucket: string
  readonly prefix: string
  /** Any string; '' means none. */
  readonly delimiter: string
  /** Only keys (and common prefixes) greater than this in byte order; '' starts at the beginning. */
  readonly after: string
  readonly maxKeys: number
}

export interface ListPage {
  /** Files and folders (key with final `/`) in byte order. */
  readonly contents: readonly { readonly key: string; readonly entry: Entry }[]
  readonly commonPrefixes: readonly string[]
  /** Last key or common prefix of the page, to go on after; undefined when the listing is complete. */
  readonly next: string | undefined
}
