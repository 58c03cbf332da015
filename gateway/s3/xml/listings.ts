import type { ChecksumAlgorithm, ChecksumType } from '../checksum.ts'
import { percentEncode } from '../percent.ts'
import { timestamp } from '../timestamp.ts'
import { checksumElements, document, type Owner, ownerElement } from './documents.ts'
import { element, escapeText, etagElement, optional } from './write.ts'

/** The documents of listings. With `encodingType` url, what stems from keys is percent-encoded, as S3 does. */
type EncodingType = 'url' | undefined

export interface ListedContent {
  readonly key: string
  readonly size: number
  readonly modifiedMs: number
  /** Without quotes. */
  readonly etag: string
  readonly owner?: Owner | undefined
}

interface ListBucketResult {
  /** As the client wrote it (`a:b:c`). */
  readonly bucket: string
  readonly prefix: string
  /** '' when none was given. */
  readonly delimiter: string
  readonly maxKeys: number
  readonly encodingType: EncodingType
  readonly contents: readonly ListedContent[]
  readonly commonPrefixes: readonly string[]
}

export interface ListObjectsResult extends ListBucketResult {
  /** As it came; '' when none was given. */
  readonly marker: string
  /** Last key or common prefix of the page when there is more; undefined when the listing is complete. */
  readonly next: string | undefined
}

/** `ListBucketResult` of ListObjects; NextMarker has the form `/<bucket>/<key>` (spec §4, listing rule 2). */
export function listObjectsResult(result: ListObjectsResult): string {
  const encode = encoder(result.encodingType)
  const next = result.next === undefined ? undefined : `${encode(`/${result.bucket}/${result.next}`)}`
  return listBucketResult(
    result,
    element('Marker', encode(result.marker)) + optional('NextMarker', next),
    result.next !== undefined,
    false,
  )
}

export interface ListObjectsV2Result extends ListBucketResult {
  readonly continuationToken: string | undefined
  readonly nextContinuationToken: string | undefined
  readonly startAfter: string | undefined
}

/** `ListBucketResult` of ListObjectsV2. */
export function listObjectsV2Result(result: ListObjectsV2Result): string {
  const encode = encoder(result.encodingType)
  const { startAfter } = result
  return listBucketResult(
    result,
    element('KeyCount', result.contents.length + result.commonPrefixes.length) +
      optional('ContinuationToken', result.continuationToken) +
      optional('NextContinuationToken', result.nextContinuationToken) +
      (startAfter === undefined ? '' : element('StartAfter', encode(startAfter))),
    result.nextContinuationToken !== undefined,
    true,
  )
}

/** `version2` tells the two listings apart; it is "present in some builds" (spec §2) and so in ours. */
function listBucketResult(result: ListBucketResult, paging: string, truncated: boolean, version2: boolean): string {
  const encode = encoder(result.encodingType)
  let body =
    element('Name', result.bucket) +
    element('Prefix', encode(result.prefix)) +
    paging +
    element('MaxKeys', result.maxKeys) +
    (result.delimiter === '' ? '' : element('Delimiter', encode(result.delimiter))) +
    optional('EncodingType', result.encodingType) +
    element('IsTruncated', truncated) +
    element('version2', version2)
  const url = result.encodingType === 'url'
  for (const content of result.contents) {
    body +=
      `<Contents><Key>${url ? percentEncode(content.key) : escapeText(content.key)}</Key>` +
      `<LastModified>${timestamp(content.modifiedMs)}</LastModified>${etagElement(content.etag)}` +
      `<Size>${content.size}</Size>${ownerElement(content.owner)}<StorageClass>STANDARD</StorageClass></Contents>`
  }
  return document('ListBucketResult', body + commonPrefixElements(result.commonPrefixes, encode))
}

interface ListedPart {
  readonly number: number
  readonly size: number
  readonly modifiedMs: number
  readonly etag: string
  readonly checksums?: Readonly<Record<string, string>> | undefined
}

export interface ListPartsResult {
  readonly bucket: string
  readonly key: string
  readonly uploadId: string
  readonly encodingType?: EncodingType
  readonly initiator?: Owner | undefined
  readonly partNumberMarker: number
  readonly maxParts: number
  readonly truncated: boolean
  readonly checksumAlgorithm?: ChecksumAlgorithm | undefined
  readonly checksumType?: ChecksumType | undefined
  readonly parts: readonly ListedPart[]
}

/** `ListPartsResult`; Bucket is written with a leading `/` (spec §4). */
export function listPartsResult(result: ListPartsResult): string {
  const encode = encoder(result.encodingType)
  let body =
    element('Bucket', `/${result.bucket}`) +
    element('Key', encode(result.key)) +
    element('UploadId', result.uploadId) +
    (result.initiator === undefined ? '' : initiatorElement(result.initiator) + ownerElement(result.initiator)) +
    `<StorageClass>STANDARD</StorageClass>${element('PartNumberMarker', result.partNumberMarker)}` +
    element('NextPartNumberMarker', result.parts.at(-1)?.number ?? result.partNumberMarker) +
    element('MaxParts', result.maxParts) +
    optional('EncodingType', result.encodingType) +
    element('IsTruncated', result.truncated) +
    optional('ChecksumAlgorithm', result.checksumAlgorithm) +
    optional('ChecksumType', result.checksumType)
  for (const part of result.parts) {
    body +=
      `<Part><PartNumber>${part.number}</PartNumber><LastModified>${timestamp(part.modifiedMs)}</LastModified>` +
      `${etagElement(part.etag)}<Size>${part.size}</Size>${checksumElements(part.checksums)}</Part>`
  }
  return document('ListPartsResult', body)
}

interface ListedUpload {
  readonly key: string
  readonly uploadId: string
  readonly initiatedMs: number
  readonly initiator?: Owner | undefined
  readonly checksumAlgorithm?: ChecksumAlgorithm | undefined
  readonly checksumType?: ChecksumType | undefined
}

export interface ListMultipartUploadsResult {
  readonly bucket: string
  readonly prefix: string
  readonly delimiter: string
  readonly encodingType?: EncodingType
  readonly keyMarker: string
  readonly uploadIdMarker: string
  readonly maxUploads: number
  /** Where the next page begins; undefined when the listing is complete. */
  readonly next: { readonly key: string; readonly uploadId: string } | undefined
  readonly uploads: readonly ListedUpload[]
  readonly commonPrefixes: readonly string[]
}

/** `ListMultipartUploadsResult`. */
export function listMultipartUploadsResult(result: ListMultipartUploadsResult): string {
  const encode = encoder(result.encodingType)
  const { next } = result
  let body =
    element('Bucket', result.bucket) +
    element('KeyMarker', encode(result.keyMarker)) +
    element('UploadIdMarker', result.uploadIdMarker) +
    (next === undefined
      ? ''
      : element('NextKeyMarker', encode(next.key)) + element('NextUploadIdMarker', next.uploadId)) +
    element('Prefix', encode(result.prefix)) +
    (result.delimiter === '' ? '' : element('Delimiter', encode(result.delimiter))) +
    element('MaxUploads', result.maxUploads) +
    optional('EncodingType', result.encodingType) +
    element('IsTruncated', next !== undefined)
  for (const upload of result.uploads) {
    body +=
      `<Upload>${element('Key', encode(upload.key))}${element('UploadId', upload.uploadId)}` +
      (upload.initiator === undefined ? '' : initiatorElement(upload.initiator) + ownerElement(upload.initiator)) +
      `<StorageClass>STANDARD</StorageClass>${element('Initiated', timestamp(upload.initiatedMs))}` +
      `${optional('ChecksumAlgorithm', upload.checksumAlgorithm)}${optional('ChecksumType', upload.checksumType)}</Upload>`
  }
  return document('ListMultipartUploadsResult', body + commonPrefixElements(result.commonPrefixes, encode))
}

function initiatorElement(initiator: Owner): string {
  return `<Initiator>${element('ID', initiator.id)}${element('DisplayName', initiator.displayName)}</Initiator>`
}

function commonPrefixElements(prefixes: readonly string[], encode: (text: string) => string): string {
  let elements = ''
  for (const prefix of prefixes) elements += `<CommonPrefixes>${element('Prefix', encode(prefix))}</CommonPrefixes>`
  return elements
}

function encoder(encodingType: EncodingType): (text: string) => string {
  return encodingType === 'url' ? percentEncode : (text) => text
}
