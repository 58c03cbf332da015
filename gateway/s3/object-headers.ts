import { type ChecksumType, checksumNames } from './checksum.ts'
import { S3Error } from './errors.ts'
import { httpDate } from './http-date.ts'
import type { ObjectRecord } from './object-record.ts'

type Headers = Readonly<Record<string, string | undefined>>

const metaPrefix = 'x-amz-meta-'

/** Headers of an object that are kept: name in a record, in requests, in answers, and as an override in the query. */
const kept = [
  ['contentType', 'content-type', 'Content-Type', 'response-content-type'],
  ['cacheControl', 'cache-control', 'Cache-Control', 'response-cache-control'],
  ['contentDisposition', 'content-disposition', 'Content-Disposition', 'response-content-disposition'],
  ['contentEncoding', 'content-encoding', 'Content-Encoding', 'response-content-encoding'],
  ['contentLanguage', 'content-language', 'Content-Language', 'response-content-language'],
  ['expires', 'expires', 'Expires', 'response-expires'],
] as const

type Mutable<T> = { -readonly [K in keyof T]: T[K] }

/**
 * What the headers of an upload say about the object to be. `metadataMaxSize` is the largest sum of names (without
 * `x-amz-meta-`) and values of user metadata in bytes, 0 for any (spec §8). Throws MetadataTooLarge.
 */
export function recordFromHeaders(headers: Headers, metadataMaxSize: number): Omit<ObjectRecord, 'etag'> {
  const record: Mutable<Omit<ObjectRecord, 'etag'>> = {}
  for (const [field, name] of kept) {
    const value = headers[name]
    if (value !== undefined && value !== '') record[field] = value
  }
  if (record.contentEncoding !== undefined) {
    const encoding = withoutFraming(record.contentEncoding)
    if (encoding === '') delete record.contentEncoding
    else record.contentEncoding = encoding
  }
  const userMetadata = readUserMetadata(headers, metadataMaxSize)
  if (userMetadata !== undefined) record.userMetadata = userMetadata
  return record
}

/** aws-chunked is of the transfer, not of the object. */
function withoutFraming(encoding: string): string {
  if (!/aws-chunked/i.test(encoding)) return encoding
  const codings = encoding.split(',').map((coding) => coding.trim())
  return codings.filter((coding) => coding !== '' && coding.toLowerCase() !== 'aws-chunked').join(',')
}

function readUserMetadata(headers: Headers, maxSize: number): Record<string, string> | undefined {
  let metadata: Record<string, string> | undefined
  let size = 0
  for (const header in headers) {
    if (!header.startsWith(metaPrefix)) continue
    const name = header.slice(metaPrefix.length)
    const value = headers[header] ?? ''
    size += name.length + value.length
    metadata ??= Object.create(null) as Record<string, string>
    metadata[name] = value
  }
  if (maxSize > 0 && size > maxSize) {
    throw new S3Error('MetadataTooLarge', undefined, {
      details: { Size: String(size), MaxSizeAllowed: String(maxSize) },
    })
  }
  return metadata
}

export interface ObjectHeadersOptions {
  readonly record: ObjectRecord
  /** Content-Length: bytes of the answer's content, of the range when there is one. Undefined where the server sets it. */
  readonly size?: number | undefined
  readonly modifiedMs: number
  readonly tagCount: number
  /** Query of the request, for `response-*`. */
  readonly overrides?: ReadonlyMap<string, string> | undefined
  /** Whether checksums are wanted (x-amz-checksum-mode: ENABLED) and hold for this content. */
  readonly checksumMode?: boolean | undefined
  /** x-amz-mp-parts-count, for a request with `partNumber`. */
  readonly partsCount?: number | undefined
}

/** The headers that GET and HEAD answer. Throws InvalidArgument for an override that is no header value. */
export function objectHeaders(options: ObjectHeadersOptions): Record<string, string> {
  const { record, overrides } = options
  const headers: Record<string, string> = {
    'Accept-Ranges': 'bytes',
    'Content-Type': record.contentType ?? 'application/octet-stream',
    ETag: `"${record.etag}"`,
    'Last-Modified': httpDate(options.modifiedMs),
  }
  if (options.size !== undefined) headers['Content-Length'] = String(options.size)
  if (record.cacheControl !== undefined) headers['Cache-Control'] = record.cacheControl
  if (record.contentDisposition !== undefined) headers['Content-Disposition'] = record.contentDisposition
  if (record.contentEncoding !== undefined) headers['Content-Encoding'] = record.contentEncoding
  if (record.contentLanguage !== undefined) headers['Content-Language'] = record.contentLanguage
  if (record.expires !== undefined) headers.Expires = record.expires
  if (record.userMetadata !== undefined) {
    for (const name in record.userMetadata) headers[metaPrefix + name] = record.userMetadata[name] ?? ''
  }
  if (options.tagCount > 0) headers['x-amz-tagging-count'] = String(options.tagCount)
  if (options.partsCount !== undefined) headers['x-amz-mp-parts-count'] = String(options.partsCount)
  if (options.checksumMode) Object.assign(headers, checksumHeaders(record))
  if (overrides !== undefined && overrides.size > 0) override(headers, overrides)
  return headers
}

/** `x-amz-checksum-*` and the type, of a record or of what was just written; nothing when there are none. */
export function checksumHeaders(record: {
  readonly checksums?: Readonly<Record<string, string>> | undefined
  readonly checksumType?: ChecksumType | undefined
}): Record<string, string> {
  const headers: Record<string, string> = {}
  if (record.checksums === undefined) return headers
  for (const name of checksumNames) {
    const value = record.checksums[name]
    if (value !== undefined) headers[`x-amz-checksum-${name}`] = value
  }
  if (record.checksumType !== undefined) headers['x-amz-checksum-type'] = record.checksumType
  return headers
}

/** A value from the query becomes a header as it is, in UTF-8; it must not be able to end it and begin another. */
function override(headers: Record<string, string>, query: ReadonlyMap<string, string>): void {
  for (const [, , name, parameter] of kept) {
    const value = query.get(parameter)
    if (value === undefined || value === '') continue
    if (/[\0-\x08\x0a-\x1f\x7f]/.test(value)) {
      throw new S3Error('InvalidArgument', `The value of ${parameter} has a character that a header cannot have.`)
    }
    headers[name] = /[^\0-\x7f]/.test(value) ? Buffer.from(value, 'utf8').toString('latin1') : value
  }
}
