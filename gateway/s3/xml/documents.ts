import { type ChecksumType, checksumNames } from '../checksum.ts'
import type { Tag } from '../object-record.ts'
import { timestamp } from '../timestamp.ts'
import { declaration, element, escapeText, etagElement, optional, s3Namespace } from './write.ts'

/** The documents of S3 but for listings (see listings.ts): each takes plain data and returns the whole text. */

export interface ErrorDocument {
  readonly code: string
  readonly message: string
  readonly resource: string
  readonly requestId: string
  readonly hostId?: string | undefined
  /** More elements, such as BucketName or Key. */
  readonly details?: Readonly<Record<string, string>> | undefined
}

/** `Error`, without a namespace as on S3. */
export function errorDocument(error: ErrorDocument): string {
  let details = ''
  for (const name in error.details) details += element(name, error.details[name] ?? '')
  return (
    `${declaration}<Error>${element('Code', error.code)}${element('Message', error.message)}${details}` +
    `${element('Resource', error.resource)}${element('RequestId', error.requestId)}` +
    `${optional('HostId', error.hostId)}</Error>`
  )
}

/** `Tagging`; an empty set is `<TagSet/>` (spec §2). */
export function taggingDocument(tags: readonly Tag[]): string {
  const set = tags.map(({ key, value }) => `<Tag>${element('Key', key)}${element('Value', value)}</Tag>`).join('')
  return document('Tagging', set === '' ? '<TagSet/>' : `<TagSet>${set}</TagSet>`)
}

export interface Owner {
  readonly id: string
  readonly displayName: string
}

export interface ListedBucket {
  readonly name: string
  readonly createdMs: number
}

/** `ListAllMyBucketsResult`. */
export function listAllMyBucketsResult(result: {
  readonly owner?: Owner | undefined
  readonly buckets: readonly ListedBucket[]
}): string {
  const buckets = result.buckets
    .map(
      (bucket) =>
        `<Bucket>${element('Name', bucket.name)}${element('CreationDate', timestamp(bucket.createdMs))}</Bucket>`,
    )
    .join('')
  return document('ListAllMyBucketsResult', `${ownerElement(result.owner)}<Buckets>${buckets}</Buckets>`)
}

/** `LocationConstraint`, empty: the location that has no name. */
export function locationConstraint(): string {
  return `${declaration}<LocationConstraint${s3Namespace}/>`
}

/** `VersioningConfiguration`, empty: versioning was never on. */
export function versioningConfiguration(): string {
  return `${declaration}<VersioningConfiguration${s3Namespace}/>`
}

/** `InitiateMultipartUploadResult`. */
export function initiateMultipartUploadResult(result: {
  readonly bucket: string
  readonly key: string
  readonly uploadId: string
}): string {
  return document(
    'InitiateMultipartUploadResult',
    element('Bucket', result.bucket) + element('Key', result.key) + element('UploadId', result.uploadId),
  )
}

export interface CopyResult {
  /** Without quotes. */
  readonly etag: string
  readonly modifiedMs: number
  /** Base64 by algorithm in lower case. */
  readonly checksums?: Readonly<Record<string, string>> | undefined
  readonly checksumType?: ChecksumType | undefined
}

/** `CopyObjectResult`. */
export function copyObjectResult(result: CopyResult): string {
  return document('CopyObjectResult', copyElements(result))
}

/** `CopyPartResult`. */
export function copyPartResult(result: CopyResult): string {
  return document('CopyPartResult', copyElements(result))
}

function copyElements(result: CopyResult): string {
  return (
    element('LastModified', timestamp(result.modifiedMs)) +
    etagElement(result.etag) +
    checksumElements(result.checksums) +
    optional('ChecksumType', result.checksumType)
  )
}

export interface CompletedUploadResult {
  readonly bucket: string
  readonly key: string
  readonly etag: string
  readonly checksums?: Readonly<Record<string, string>> | undefined
  readonly checksumType?: ChecksumType | undefined
}

/** `CompleteMultipartUploadResult`; Location is `/<bucket>/<key>`, Code and Message are empty (spec §4). */
export function completeMultipartUploadResult(result: CompletedUploadResult): string {
  return document(
    'CompleteMultipartUploadResult',
    element('Location', `/${result.bucket}/${result.key}`) +
      element('Bucket', result.bucket) +
      element('Key', result.key) +
      etagElement(result.etag) +
      checksumElements(result.checksums) +
      `${optional('ChecksumType', result.checksumType)}<Code/><Message/>`,
  )
}

export type DeleteOutcome =
  | { readonly key: string }
  | { readonly key: string; readonly code: string; readonly message: string }

/**
 * `DeleteResult`, in the order given; with `quiet` only the errors. `emptyDeleteMarker` writes the element as the
 * specification lists it; by default it is `false`, because the AWS SDK for Go fails on an empty one (design §1).
 */
export function deleteResult(
  outcomes: readonly DeleteOutcome[],
  options: { readonly quiet: boolean; readonly emptyDeleteMarker: boolean },
): string {
  const marker = options.emptyDeleteMarker ? '<DeleteMarker/>' : '<DeleteMarker>false</DeleteMarker>'
  const nothing = `${marker}<DeleteMarkerVersionId/><VersionId/></Deleted>`
  let body = ''
  for (const outcome of outcomes) {
    const key = `<Key>${escapeText(outcome.key)}</Key>`
    if ('code' in outcome) {
      body += `<Error>${key}${element('Code', outcome.code)}${element('Message', outcome.message)}</Error>`
    } else if (!options.quiet) body += `<Deleted>${key}${nothing}`
  }
  return document('DeleteResult', body)
}

/** `<ChecksumCRC32>…` for each checksum that there is. */
export function checksumElements(checksums: Readonly<Record<string, string>> | undefined): string {
  if (checksums === undefined) return ''
  let elements = ''
  for (const name of checksumNames) elements += optional(`Checksum${name.toUpperCase()}`, checksums[name])
  return elements
}

export function ownerElement(owner: Owner | undefined): string {
  if (owner === undefined) return ''
  return `<Owner>${element('ID', owner.id)}${element('DisplayName', owner.displayName)}</Owner>`
}

export function document(root: string, content: string): string {
  return `${declaration}<${root}${s3Namespace}>${content}</${root}>`
}
