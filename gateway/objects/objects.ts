import type { Identity } from '../identity/identity.ts'
import type { ByteRange, Entry, ListQuery, OpenFile, Staged, StagedFile, Target } from '../namespace/namespace.ts'
import type { ChecksumAlgorithm } from '../s3/checksum.ts'
import type { S3Error } from '../s3/errors.ts'
import type { IncomingContent } from '../s3/incoming-content.ts'
import type { ObjectRecord, Tag } from '../s3/object-record.ts'

/**
 * Objects: a file of the namespace together with its record and tags. Design §4 lives here: stage → verify → record and
 * intent → (condition) → publish → settle. All writes of objects, parts and copies go through this one path.
 */
export interface Objects {
  /** Throws NoSuchKey. */
  head(as: Identity, target: Target): Promise<StoredObject>
  /** One page of a listing, with its records in one call. Throws NoSuchBucket, AccessDenied. */
  list(as: Identity, query: ListQuery): Promise<ObjectPage>
  /** Opens for reading, together with its metadata; small objects inline. */
  read(as: Identity, target: Target, options?: { inlineBytes?: number }): Promise<ReadObject>
  /** Receives a body and makes it the object. */
  write(as: Identity, target: Target, content: IncomingContent, object: NewObject): Promise<WrittenObject>
  /** Makes a copy of (a range of) another object the object. Same source and target: see CopyObject. */
  copy(as: Identity, source: CopySource, target: Target, object: CopyTarget): Promise<WrittenObject>
  /**
   * The end of every write: makes a staged, finished file the object (record and intent, condition, publish, settle).
   * After a failure nothing has changed and the staged file is discarded.
   */
  publish(
    as: Identity,
    target: Target,
    staged: Staged,
    file: StagedFile,
    object: FinishedObject,
  ): Promise<WrittenObject>
  /** Removes an object or an empty folder, tidies remembered folders (design §4). Missing is fine. */
  remove(as: Identity, target: Target): Promise<void>
  /** Removes many keys of a bucket, children before parents; the errors of those that failed, in the order given. */
  removeAll(as: Identity, bucket: string, keys: readonly string[]): Promise<(S3Error | undefined)[]>
  putTags(as: Identity, target: Target, tags: readonly Tag[]): Promise<void>
}

export interface StoredObject {
  readonly entry: Entry
  /** Complete: synthesised where there is no record (foreign files, folders). */
  readonly record: ObjectRecord
  readonly tags: readonly Tag[]
}

/** See ListPage. */
export interface ObjectPage {
  readonly contents: readonly ListedObject[]
  readonly commonPrefixes: readonly string[]
  readonly next: string | undefined
}

interface ListedObject {
  readonly key: string
  readonly entry: Entry
  /** As in StoredObject. */
  readonly record: ObjectRecord
}

export interface ReadObject extends StoredObject {
  readonly bytes?: Buffer
  readonly file?: OpenFile
}

/** Asked of the object that is there (or not) at the moment of publish, under an exclusive intent. Throws S3Error. */
export type Condition = (current: StoredObject | undefined) => void

/**
 * Undefined when the folder stays; otherwise it can go, and the answer makes room for the object. That is called just
 * before publish, so that a write that is refused (its body, its condition) leaves the folder whole. Both throw S3Error.
 */
export type Displace = () => Promise<(() => Promise<void>) | undefined>

export interface NewObject {
  /** Everything but etag, checksums and parts. */
  readonly record: Omit<ObjectRecord, 'etag'>
  readonly tags: readonly Tag[]
  readonly condition?: Condition | undefined
  /** `If-None-Match: *`, which the file system itself can decide. */
  readonly ifAbsent?: boolean | undefined
  /** Have the namespace accept the object before a byte of the body is asked for (the client waits for 100 Continue). */
  readonly stageFirst?: boolean | undefined
  /** Asked when a folder is in the way (a multipart directory, spec §1.4). */
  readonly displace?: Displace | undefined
}

/** A file whose content is complete, as it is to appear: its record has its etag. */
export interface FinishedObject {
  readonly record: ObjectRecord
  readonly tags: readonly Tag[]
  readonly condition?: Condition | undefined
  readonly ifAbsent?: boolean | undefined
  /** See Displace. */
  readonly makeRoom?: (() => Promise<void>) | undefined
}

export interface CopySource {
  readonly target: Target
  readonly range?: ByteRange | undefined
  /** x-amz-copy-source-if-*: asked of the source. */
  readonly condition?: Condition | undefined
}

export interface CopyTarget {
  /** Undefined keeps the source's (directive COPY). */
  readonly record: Omit<ObjectRecord, 'etag'> | undefined
  readonly tags: readonly Tag[] | undefined
  readonly condition?: Condition | undefined
  readonly ifAbsent?: boolean | undefined
  readonly displace?: Displace | undefined
  readonly checksumAlgorithm?: ChecksumAlgorithm | undefined
}

export interface WrittenObject {
  readonly record: ObjectRecord
  readonly size: number
  readonly modifiedMs: number
}
