import { S3Error } from './errors.ts'
import { unquote } from './etag.ts'
import { parseHttpDate } from './http-date.ts'

type Headers = Readonly<Record<string, string | undefined>>

/** What conditions are asked of; fits a StoredObject. */
export interface Representation {
  readonly record: { readonly etag: string }
  readonly entry: { readonly modifiedMs: number }
}

/** The four conditional headers, of a read or (with their prefix) of a copy source. */
export interface Conditions {
  readonly ifMatch: string | undefined
  readonly ifNoneMatch: string | undefined
  /** Milliseconds; undefined also when the header is no date. */
  readonly ifModifiedSince: number | undefined
  readonly ifUnmodifiedSince: number | undefined
}

/** The conditions of GET and HEAD; undefined when there are none. */
export function readConditions(headers: Headers): Conditions | undefined {
  return conditions(
    headers['if-match'],
    headers['if-none-match'],
    headers['if-modified-since'],
    headers['if-unmodified-since'],
  )
}

/**
 * In the order of RFC 9110 §13.2.2, which is S3's too: If-Match hides If-Unmodified-Since, If-None-Match hides
 * If-Modified-Since. `notModified` is to be answered with 304. Throws PreconditionFailed.
 */
export function evaluate(asked: Conditions | undefined, object: Representation): 'proceed' | 'notModified' {
  if (asked === undefined) return 'proceed'
  const { etag } = object.record
  const modifiedMs = wholeSeconds(object.entry.modifiedMs)
  if (asked.ifMatch !== undefined) {
    if (!matches(asked.ifMatch, etag, 'strong')) throw failed('If-Match')
  } else if (asked.ifUnmodifiedSince !== undefined && modifiedMs > asked.ifUnmodifiedSince) {
    throw failed('If-Unmodified-Since')
  }
  if (asked.ifNoneMatch !== undefined) return matches(asked.ifNoneMatch, etag, 'weak') ? 'notModified' : 'proceed'
  const { ifModifiedSince } = asked
  return ifModifiedSince !== undefined && modifiedMs <= ifModifiedSince ? 'notModified' : 'proceed'
}

/** Whether a Range may be served: If-Range is absent, or is the ETag or exactly the date of the object (RFC 9110 §13.1.5). */
export function ifRangeHolds(headers: Headers, object: Representation): boolean {
  const value = headers['if-range']?.trim()
  if (value === undefined) return true
  const date = parseHttpDate(value)
  if (date !== undefined) return date === wholeSeconds(object.entry.modifiedMs)
  return matches(value, object.record.etag, 'strong')
}

export interface WriteConditions {
  /** As sent, for a job that evaluates them later: see `writeCondition`. */
  readonly ifMatch: string | undefined
  readonly ifNoneMatch: '*' | undefined
  /** `If-None-Match: *`, which the file system itself can decide. */
  readonly ifAbsent: boolean
  /** If-Match, to be asked of what is there at the moment of publish. */
  readonly condition: ((current: Representation | undefined) => void) | undefined
}

/**
 * The conditions of PutObject, CopyObject and CompleteMultipartUpload: If-Match, or If-None-Match with `*`. Throws
 * NotImplemented for others (as S3 does): a condition must never be ignored.
 */
export function writeConditions(headers: Headers): WriteConditions {
  const ifMatch = headers['if-match']
  const ifNoneMatch = headers['if-none-match']?.trim()
  if (headers['if-unmodified-since'] !== undefined) throw notImplemented('If-Unmodified-Since')
  if (ifNoneMatch === undefined) return { ifMatch, ifNoneMatch, ifAbsent: false, condition: writeCondition(ifMatch) }
  if (ifNoneMatch !== '*') throw notImplemented('If-None-Match with another value than *')
  if (ifMatch !== undefined) throw notImplemented('If-Match together with If-None-Match')
  return { ifMatch, ifNoneMatch, ifAbsent: true, condition: undefined }
}

/** The condition of a write by its If-Match; it throws PreconditionFailed, or NoSuchKey when nothing is there (seen on S3). */
export function writeCondition(
  ifMatch: string | undefined,
): ((current: Representation | undefined) => void) | undefined {
  if (ifMatch === undefined) return undefined
  return (current) => {
    if (current === undefined) throw new S3Error('NoSuchKey')
    if (!matches(ifMatch, current.record.etag, 'strong')) throw failed('If-Match')
  }
}

/** Conditions of a deletion are not implemented, and must not be ignored. Throws NotImplemented. */
export function refuseDeleteConditions(headers: Headers): void {
  for (const name of ['if-match', 'x-amz-if-match-last-modified-time', 'x-amz-if-match-size']) {
    if (headers[name] !== undefined) throw notImplemented(name)
  }
}

/** `x-amz-copy-source-if-*`: one condition on the source that throws PreconditionFailed, also for "not modified". */
export function copySourceConditions(headers: Headers): ((source: Representation | undefined) => void) | undefined {
  const asked = conditions(
    headers['x-amz-copy-source-if-match'],
    headers['x-amz-copy-source-if-none-match'],
    headers['x-amz-copy-source-if-modified-since'],
    headers['x-amz-copy-source-if-unmodified-since'],
  )
  if (asked === undefined) return undefined
  return (source) => {
    if (source === undefined) throw new S3Error('NoSuchKey')
    if (evaluate(asked, source) === 'notModified') {
      throw failed(
        asked.ifNoneMatch === undefined ? 'x-amz-copy-source-if-modified-since' : 'x-amz-copy-source-if-none-match',
      )
    }
  }
}

function conditions(
  ifMatch: string | undefined,
  ifNoneMatch: string | undefined,
  modifiedSince: string | undefined,
  unmodifiedSince: string | undefined,
): Conditions | undefined {
  if ((ifMatch ?? ifNoneMatch ?? modifiedSince ?? unmodifiedSince) === undefined) return undefined
  const date = (text: string | undefined) => (text === undefined ? undefined : parseHttpDate(text))
  return { ifMatch, ifNoneMatch, ifModifiedSince: date(modifiedSince), ifUnmodifiedSince: date(unmodifiedSince) }
}

/** A list of ETags, quoted or (as some clients send them) bare, or `*`. A weak one never matches strongly. */
function matches(list: string, etag: string, comparison: 'strong' | 'weak'): boolean {
  if (list.trim() === '*') return true
  return list.split(',').some((item) => {
    const candidate = item.trim()
    if (comparison === 'strong' && candidate.startsWith('W/')) return false
    return unquote(candidate) === etag
  })
}

/** HTTP dates have no fractions: an object of 12:00:00.7 was last modified at 12:00:00 as far as clients know. */
function wholeSeconds(ms: number): number {
  return Math.floor(ms / 1000) * 1000
}

function failed(condition: string): S3Error {
  return new S3Error('PreconditionFailed', undefined, { details: { Condition: condition } })
}

function notImplemented(what: string): S3Error {
  return new S3Error('NotImplemented', `A condition you provided is not implemented here: ${what}.`)
}
