import type { Identity } from '../identity/identity.ts'
import type { Upload } from '../metadata/metadata.ts'
import type { Target } from '../namespace/namespace.ts'
import type { CopySource, Displace, WrittenObject } from '../objects/objects.ts'
import type { ChecksumAlgorithm, ChecksumType } from '../s3/checksum.ts'
import type { IncomingContent } from '../s3/incoming-content.ts'
import type { ObjectRecord, Tag } from '../s3/object-record.ts'

/**
 * Multipart uploads (spec §3). A part is a plain file `<key>_<UploadId>/<PartNumber>` with an object record like any
 * other; so there is no second list of parts: the directory is the list. State lives in the upload's record.
 */
export interface Uploads {
  create(as: Identity, target: Target, bucketName: string, upload: NewUpload): Promise<Upload>
  /** All throw NoSuchUpload for an unknown id or one of another key, AccessDenied for another user's. */
  storePart(
    as: Identity,
    target: Target,
    id: string,
    part: number,
    content: IncomingContent,
    options?: StoreOptions,
  ): Promise<WrittenObject>
  copyPart(as: Identity, target: Target, id: string, part: number, source: CopySource): Promise<WrittenObject>
  parts(as: Identity, target: Target, id: string, page: { after: number; limit: number }): Promise<PartPage>
  /** One page of the uploads that the acting user may see: their own, and all for the process user. */
  list(as: Identity, query: UploadListQuery): Promise<UploadPage>
  abort(as: Identity, target: Target, id: string): Promise<void>
  /**
   * A PUT of `target` found a folder there. When that is the directory of an open upload and holds nothing else, the
   * answer aborts the upload, so that the object can take its place (spec §1.4). Throws AccessDenied for another user's
   * upload; the answer throws ExistingObjectIsDirectory when something else has come into the directory meanwhile.
   */
  displace(as: Identity, target: Target): ReturnType<Displace>
  /**
   * Throws NoSuchUpload and AccessDenied at once. `done` settles when the job has run (design §6): with what was made of
   * the list, conditions and sizes (checked before there is a job), or the failure.
   */
  complete(
    as: Identity,
    target: Target,
    id: string,
    completion: Completion,
  ): Promise<{ done: Promise<CompletedUpload> }>
}

export interface NewUpload {
  readonly record: Omit<ObjectRecord, 'etag'>
  readonly tags: readonly Tag[]
  readonly checksumAlgorithm: ChecksumAlgorithm | undefined
  readonly checksumType: ChecksumType | undefined
}

export interface StoreOptions {
  /** As NewObject.stageFirst. */
  readonly stageFirst?: boolean | undefined
}

interface StoredPart {
  readonly number: number
  readonly size: number
  readonly modifiedMs: number
  readonly etag: string
  readonly checksums: Readonly<Record<string, string>>
}

export interface PartPage {
  readonly upload: Upload
  readonly parts: readonly StoredPart[]
  readonly truncated: boolean
}

export interface UploadListQuery {
  readonly bucket: string
  readonly prefix: string
  /** Any string; '' means none. */
  readonly delimiter: string
  /** Only what comes after this key (and, with `afterId`, of this key after this id); '' begins at the start. */
  readonly afterKey: string
  readonly afterId: string
  readonly limit: number
}

export interface UploadPage {
  /** By key in byte order, then by time of initiation. */
  readonly uploads: readonly Upload[]
  readonly commonPrefixes: readonly string[]
  /** Last of the page (id '' for a common prefix), to go on after; undefined when the listing is complete. */
  readonly next: { readonly key: string; readonly uploadId: string } | undefined
}

export interface Completion {
  readonly parts: readonly {
    readonly number: number
    readonly etag?: string
    readonly checksums?: Record<string, string>
  }[]
  /** Conditional headers as sent, since they go into a job: If-Match, If-None-Match. */
  readonly ifMatch?: string | undefined
  readonly ifNoneMatch?: '*' | undefined
  /** x-amz-mp-object-size. */
  readonly objectSize?: number | undefined
  /** Checksum of the finished object that the client expects, base64 by algorithm in lower case. */
  readonly checksums?: Readonly<Record<string, string>>
  readonly checksumType?: ChecksumType | undefined
}

export interface CompletedUpload {
  readonly etag: string
  readonly checksums: Readonly<Record<string, string>>
  readonly checksumType: ChecksumType | undefined
}
