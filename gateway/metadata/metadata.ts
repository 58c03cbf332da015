import type { FileId } from '../namespace/namespace.ts'
import type { ObjectRecord, Tag } from '../s3/object-record.ts'

/**
 * What plain files cannot hold: object records, tags, open uploads, intents. One interface, several drivers, one
 * contract suite (`metadata.contract.ts`). Shared by all processes (and pods) of one namespace: a driver keeps
 * nothing to itself but what is immutable. Every method may throw ServiceUnavailable when the store is away.
 */
export interface Metadata {
  // ---- objects -------------------------------------------------------------------------------------------------
  /** Record and tags of a file or folder; undefined for one that was not written through the gateway. */
  object(id: FileId): Promise<ObjectMetadata | undefined>
  /** Records of one listing page, in the order asked. */
  records(ids: readonly FileId[]): Promise<(ObjectRecord | undefined)[]>
  /** Replaces the tag set (of an object, a folder or a bucket directory); an empty set removes it. */
  putTags(id: FileId, tags: readonly Tag[]): Promise<void>
  /** Writes a record without an intent: for folders, and for a file that keeps its place (CopyObject onto itself). */
  putRecord(id: FileId, record: ObjectRecord, tags: readonly Tag[]): Promise<void>
  /** Lets records and tags go after a grace period, in which readers that hold the file still find them. */
  expire(ids: readonly FileId[], afterMs: number): Promise<void>

  // ---- intents -------------------------------------------------------------------------------------------------
  /**
   * Announces a change of `path` and, in the same step, writes the record of the file about to appear there.
   * Shared intents go together; an exclusive one waits for all others and holds off later ones, so that a condition
   * checked under it still holds at publish. Waiting ends with OperationAborted (409) after `waitMs`.
   * Intents of dead processes do not count. With `durable` it resolves after the store's fsync.
   */
  begin(change: Change): Promise<Intent>
  /** Intents whose process is gone, oldest first: their temporary files can be collected, then `settle` them. */
  abandoned(): Promise<Intent[]>

  // ---- folders -------------------------------------------------------------------------------------------------
  /** Remembers that a folder was deleted while not empty (design §4), or forgets it again. */
  markDeleted(folder: FileId, deleted: boolean): Promise<void>
  isMarkedDeleted(folder: FileId): Promise<boolean>

  // ---- uploads -------------------------------------------------------------------------------------------------
  createUpload(upload: Upload): Promise<void>
  upload(id: string): Promise<Upload | undefined>
  /**
   * Uploads of a bucket in order of key (UTF-8 bytes), then upload id. With `bucket` undefined those of all buckets in
   * order of id, after `afterId`. Completed ones are left out: only `upload` finds them.
   */
  uploads(query: UploadQuery): Promise<Upload[]>
  /**
   * Compare-and-set on the upload's `version`; the stored one gets `version + 1`. False when it has moved on or is gone.
   * `next` undefined removes the upload.
   */
  replaceUpload(expected: Upload, next: Upload | undefined): Promise<boolean>

  // ---- life ----------------------------------------------------------------------------------------------------
  /** Resolves when all that was acknowledged is on stable storage. */
  flush(): Promise<void>
  /** Problems an operator should know of, in sentences; empty when all is well. */
  check(): Promise<string[]>
  close(): Promise<void>
}

export interface ObjectMetadata {
  readonly record: ObjectRecord | undefined
  readonly tags: readonly Tag[]
}

export interface Change {
  /** Bucket path and key, joined by `/`. */
  readonly path: string
  readonly exclusive: boolean
  /** Temporary file to collect should the process die. */
  readonly temp?: string | undefined
  readonly write?: { readonly id: FileId; readonly record: ObjectRecord; readonly tags: readonly Tag[] }
  readonly durable: boolean
  /** Default 30 s. */
  readonly waitMs?: number
}

export interface Intent {
  readonly path: string
  readonly temp: string | undefined
  /** Ends the intent; call it exactly once, also after a failure. `expired` records go after the grace period. */
  settle(expired?: FileId): Promise<void>
}

export interface Upload {
  readonly id: string
  /** Bucket name as the client wrote it, and its path. */
  readonly bucketName: string
  readonly bucket: string
  readonly key: string
  /** Key of the multipart directory in the bucket, without the final `/` (`<key>_<UploadId>`, cut to fit 255 bytes). */
  readonly directory: string
  readonly user: string
  readonly initiatedMs: number
  /** What the finished object gets: headers and user metadata (etag still empty), and tags. */
  readonly record: ObjectRecord
  readonly tags: readonly Tag[]
  readonly checksumAlgorithm?: 'CRC32' | 'CRC32C' | 'CRC64NVME' | 'SHA1' | 'SHA256' | undefined
  readonly checksumType?: 'FULL_OBJECT' | 'COMPOSITE' | undefined
  /**
   * open → completing → assembled → completed, or aborting → removed. A completed one is kept an hour for repeated
   * requests; then the store drops it.
   */
  readonly state: 'open' | 'completing' | 'assembled' | 'completed' | 'aborting'
  /** Which completion (hash of user, part list, conditions) has taken it. */
  readonly completion?: string | undefined
  /** While completing: the temporary file being assembled, to be collected by whoever takes over. */
  readonly temp?: string | undefined
  /** From `assembled` on: the one file that may be published, and its identity; `record` is the object's then. */
  readonly assembled?: { readonly temp: string; readonly id: FileId; readonly etag: string } | undefined
  readonly completedMs?: number | undefined
  readonly version: number
}

export interface UploadQuery {
  readonly bucket: string | undefined
  readonly prefix?: string
  /** Only uploads after this key (with `afterId`: or of this key and after this id). */
  readonly afterKey?: string
  readonly afterId?: string
  readonly limit: number
}
