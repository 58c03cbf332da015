import { S3Error } from './errors.ts'
import { percentDecode } from './percent.ts'

export interface Address {
  readonly target: 'service' | 'bucket' | 'object'
  readonly bucket: string | undefined
  readonly key: string | undefined
  readonly query: ReadonlyMap<string, string>
  /** Path below the base as it came over the wire, `/` for the service. */
  readonly resource: string
}

const nothing: ReadonlyMap<string, string> = new Map()

/**
 * Splits a request target (Node's `url`, which is latin1 text) below `basePath` (`/api/v1/s3`, or `` or `/` for the
 * root). Undefined when it lies outside. Throws InvalidURI for broken percent codes, NUL and bytes that are not UTF-8,
 * InvalidBucketName for `//key`. A `+` is a plus in the path and a space in the query; `/bucket/` is `/bucket`.
 */
export function parseTarget(rawUrl: string, basePath: string): Address | undefined {
  const url = originForm(rawUrl)
  const mark = url.indexOf('?')
  const path = mark < 0 ? url : url.slice(0, mark)
  const base = basePath.endsWith('/') ? basePath.slice(0, -1) : basePath
  if (!path.startsWith(base)) return undefined
  if (path.length > base.length && path[base.length] !== '/') return undefined
  const query = mark < 0 || mark === url.length - 1 ? nothing : parseQuery(url.slice(mark + 1))
  if (path.length <= base.length + 1)
    return { target: 'service', bucket: undefined, key: undefined, query, resource: '/' }
  const resource = path.slice(base.length)
  const slash = resource.indexOf('/', 1)
  const bucket = decoded(slash < 0 ? resource.slice(1) : resource.slice(1, slash), false)
  if (bucket === '') throw new S3Error('InvalidBucketName', 'The path has no bucket name before its second slash.')
  if (slash < 0 || slash === resource.length - 1) return { target: 'bucket', bucket, key: undefined, query, resource }
  return { target: 'object', bucket, key: decoded(resource.slice(slash + 1), false), query, resource }
}

/** Proxies may send the absolute form (RFC 9112 §3.2.2). */
function originForm(url: string): string {
  if (url[0] === '/') return url
  const absolute = /^https?:\/\/[^/?]*/i.exec(url)
  if (!absolute) return url
  const rest = url.slice(absolute[0].length)
  return rest[0] === '/' ? rest : `/${rest}`
}

function parseQuery(text: string): ReadonlyMap<string, string> {
  const query = new Map<string, string>()
  for (const pair of text.split('&')) {
    if (pair === '') continue
    const equals = pair.indexOf('=')
    const name = decoded(equals < 0 ? pair : pair.slice(0, equals), true)
    if (query.has(name)) continue
    query.set(name, equals < 0 ? '' : decoded(pair.slice(equals + 1), true))
  }
  return query
}

function decoded(raw: string, plusIsSpace: boolean): string {
  const text = percentDecode(raw, { plusIsSpace })
  if (text === undefined) {
    throw new S3Error('InvalidURI', "Couldn't parse the specified URI. Percent-encode names as UTF-8, without NUL.")
  }
  return text
}
