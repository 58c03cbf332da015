import type { StoredObject } from '../objects/objects.ts'
import { type Conditions, evaluate, ifRangeHolds, readConditions } from '../s3/conditions.ts'
import { S3Error } from '../s3/errors.ts'
import { quote } from '../s3/etag.ts'
import { httpDate } from '../s3/http-date.ts'
import { objectHeaders } from '../s3/object-headers.ts'
import type { ObjectRecord } from '../s3/object-record.ts'
import { partNumber } from '../s3/part-number.ts'
import { contentRange, parseRange, type Range } from '../s3/range.ts'
import type { S3Request } from '../s3/request.ts'

/** What of a GET or HEAD decides which bytes it is about. */
export interface ObjectQuestion {
  readonly conditions: Conditions | undefined
  readonly part: number | undefined
}

/** From the head of a GET or HEAD. Throws InvalidArgument (partNumber), InvalidRequest. */
export function objectQuestion({ headers, query }: S3Request): ObjectQuestion {
  const part = query.get('partNumber')
  if (part !== undefined && headers.range !== undefined) {
    throw new S3Error('InvalidRequest', 'Cannot specify both Range header and partNumber query parameter')
  }
  return { conditions: readConditions(headers), part: part === undefined ? undefined : partNumber(part) }
}

/** Status and headers of the answer, and the bytes that belong to it. */
export interface ObjectHead {
  readonly status: 200 | 206 | 304
  readonly headers: Record<string, string>
  readonly range: Range
}

/**
 * What GET and HEAD answer about an object. `withLength` writes Content-Length, for HEAD.
 * Throws PreconditionFailed, InvalidRange, InvalidPartNumber, InvalidArgument (response-* overrides).
 */
export function objectHead(
  request: S3Request,
  question: ObjectQuestion,
  object: StoredObject,
  withLength: boolean,
): ObjectHead {
  const { entry, record, tags } = object
  const { size } = entry
  if (evaluate(question.conditions, object) === 'notModified') return notModified(object)
  const range = question.part === undefined ? rangeOf(request, object) : partRange(record, size, question.part)
  const part = range ?? { start: 0, length: size }
  const headers = objectHeaders({
    record,
    size: withLength ? part.length : undefined,
    modifiedMs: entry.modifiedMs,
    tagCount: tags.length,
    overrides: request.query,
    checksumMode: range === undefined && request.headers['x-amz-checksum-mode']?.toUpperCase() === 'ENABLED',
    partsCount: question.part === undefined ? undefined : record.parts?.length,
  })
  if (range === undefined) return { status: 200, headers, range: part }
  headers['Content-Range'] = contentRange(range, size)
  return { status: 206, headers, range }
}

function rangeOf({ headers }: S3Request, object: StoredObject): Range | undefined {
  if (headers.range === undefined || !ifRangeHolds(headers, object)) return undefined
  return parseRange(headers.range, object.entry.size)
}

/** An object that is not of parts counts as one part; an empty one has no range to tell (both seen on S3). */
function partRange(record: ObjectRecord, size: number, part: number): Range | undefined {
  const parts = record.parts ?? [size]
  const length = parts[part - 1]
  if (length === undefined) throw new S3Error('InvalidPartNumber')
  if (length === 0) return undefined
  let start = 0
  for (const before of parts.slice(0, part - 1)) start += before
  return { start, length }
}

/** What RFC 9110 §15.4.5 wants of a 304. */
function notModified({ entry, record }: StoredObject): ObjectHead {
  const headers: Record<string, string> = { ETag: quote(record.etag), 'Last-Modified': httpDate(entry.modifiedMs) }
  if (record.cacheControl !== undefined) headers['Cache-Control'] = record.cacheControl
  if (record.expires !== undefined) headers.Expires = record.expires
  return { status: 304, headers, range: { start: 0, length: 0 } }
}
