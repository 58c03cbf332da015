import type { Reply } from '../s3/reply.ts'

const exposed = [
  'ETag',
  'Content-Range',
  'Accept-Ranges',
  'Last-Modified',
  'x-amz-request-id',
  'x-amz-id-2',
  'x-amz-tagging-count',
  'x-amz-mp-parts-count',
].join(', ')

/** Headers that let a page of `origin` read the answer; empty when it is not among the allowed `origins`. */
export function corsHeaders(origins: string, origin: string | undefined): Readonly<Record<string, string>> {
  if (origins === '' || origin === undefined) return {}
  const allowed = origins.split(',').map((each) => each.trim())
  if (allowed.includes('*')) {
    return { 'Access-Control-Allow-Origin': '*', 'Access-Control-Expose-Headers': exposed }
  }
  if (!allowed.includes(origin)) return { Vary: 'Origin' }
  return { 'Access-Control-Allow-Origin': origin, 'Access-Control-Expose-Headers': exposed, Vary: 'Origin' }
}

/** Answer to a browser's preflight request; undefined when the origin may not call. Source: Fetch standard. */
export function preflightReply(
  origins: string,
  headers: Readonly<Record<string, string | undefined>>,
): Reply | undefined {
  const allow = corsHeaders(origins, headers.origin)
  if (allow['Access-Control-Allow-Origin'] === undefined) return undefined
  const requested = headers['access-control-request-headers']
  return {
    status: 200,
    headers: {
      ...allow,
      'Access-Control-Allow-Methods': 'GET, HEAD, PUT, POST, DELETE',
      ...(requested === undefined ? {} : { 'Access-Control-Allow-Headers': requested }),
      'Access-Control-Max-Age': '3000',
      Vary: 'Origin, Access-Control-Request-Headers, Access-Control-Request-Method',
    },
  }
}
