import { readToken } from './continuation-token.ts'
import { S3Error } from './errors.ts'

type Query = ReadonlyMap<string, string>

/** Most entries of one page, whatever is asked for (as on S3). */
const maxPage = 1000

/** What all listings of keys have. */
interface ListParameters {
  readonly prefix: string
  /** Any string; '' for none. */
  readonly delimiter: string
  /** 0 to 1,000. */
  readonly maxKeys: number
  readonly encodingType: 'url' | undefined
  /** Only keys after this one; '' for all. */
  readonly after: string
}

export interface ListObjectsParameters extends ListParameters {
  /** As sent, to be echoed. */
  readonly marker: string
}

/**
 * Parameters of ListObjects in `bucket` (the name as in the request). A marker is a key, or `/<bucket>/<key>` as in
 * NextMarker (spec §4, listing rule 2). Throws InvalidArgument.
 */
export function listObjectsParameters(query: Query, bucket: string): ListObjectsParameters {
  const listType = query.get('list-type')
  if (listType !== undefined) throw invalid('list-type', listType, 'Invalid List Type specified in URL')
  const marker = query.get('marker') ?? ''
  const written = `/${bucket}/`
  return { ...common(query), marker, after: marker.startsWith(written) ? marker.slice(written.length) : marker }
}

export interface ListObjectsV2Parameters extends ListParameters {
  /** As sent, to be echoed. */
  readonly continuationToken: string | undefined
  readonly startAfter: string | undefined
  readonly fetchOwner: boolean
}

/** Parameters of ListObjectsV2. A token overrules start-after; an empty one begins at the start. Throws InvalidArgument. */
export function listObjectsV2Parameters(query: Query): ListObjectsV2Parameters {
  const continuationToken = query.get('continuation-token') || undefined
  const startAfter = query.get('start-after')
  return {
    ...common(query),
    continuationToken,
    startAfter,
    fetchOwner: query.get('fetch-owner') === 'true',
    after: continuationToken === undefined ? (startAfter ?? '') : readToken(continuationToken),
  }
}

export interface ListPartsParameters {
  /** Only parts with higher numbers. */
  readonly partNumberMarker: number
  /** 0 to 1,000. */
  readonly maxParts: number
  readonly encodingType: 'url' | undefined
}

/** Parameters of ListParts. Throws InvalidArgument. */
export function listPartsParameters(query: Query): ListPartsParameters {
  return {
    partNumberMarker: count(query, 'part-number-marker', 0),
    maxParts: Math.min(count(query, 'max-parts', maxPage), maxPage),
    encodingType: encodingType(query),
  }
}

export interface ListMultipartUploadsParameters {
  readonly prefix: string
  readonly delimiter: string
  /** 0 to 1,000. */
  readonly maxUploads: number
  readonly encodingType: 'url' | undefined
  readonly keyMarker: string
  /** '' without a key marker, without which it means nothing (as on S3). */
  readonly uploadIdMarker: string
}

/** Parameters of ListMultipartUploads. Throws InvalidArgument. */
export function listMultipartUploadsParameters(query: Query): ListMultipartUploadsParameters {
  const keyMarker = query.get('key-marker') ?? ''
  return {
    prefix: query.get('prefix') ?? '',
    delimiter: query.get('delimiter') ?? '',
    maxUploads: Math.min(count(query, 'max-uploads', maxPage), maxPage),
    encodingType: encodingType(query),
    keyMarker,
    uploadIdMarker: keyMarker === '' ? '' : (query.get('upload-id-marker') ?? ''),
  }
}

function common(query: Query): Omit<ListParameters, 'after'> {
  return {
    prefix: query.get('prefix') ?? '',
    delimiter: query.get('delimiter') ?? '',
    maxKeys: Math.min(count(query, 'max-keys', maxPage), maxPage),
    encodingType: encodingType(query),
  }
}

/** A whole number from 0 to 2^31-1; `fallback` when it is missing or empty. */
function count(query: Query, name: string, fallback: number): number {
  const text = query.get(name)
  if (text === undefined || text === '') return fallback
  const value = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN
  if (value <= 0x7fffffff) return value
  throw invalid(name, text, `Provided ${name} not an integer or within integer range`)
}

function encodingType(query: Query): 'url' | undefined {
  const value = query.get('encoding-type')
  if (value === undefined || value === '') return undefined
  if (value === 'url') return value
  throw invalid('encoding-type', value, 'Invalid Encoding Method specified in Request')
}

function invalid(name: string, value: string, message: string): S3Error {
  return new S3Error('InvalidArgument', message, { details: { ArgumentName: name, ArgumentValue: value } })
}
