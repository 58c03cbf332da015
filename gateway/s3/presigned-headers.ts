import { S3Error } from './errors.ts'

type Headers = Readonly<Record<string, string | undefined>>

/**
 * The headers of a request together with those that a presigned URL carries in its query: the AWS SDK for JavaScript
 * moves all `x-amz-*` there (metadata, tags), and S3 takes them for headers. Not taken are checksums, which that SDK
 * computes over an empty body when it signs. Throws InvalidArgument for a value that a header cannot have.
 */
export function withPresignedHeaders(headers: Headers, query: ReadonlyMap<string, string>): Headers {
  if (query.size === 0 || !query.has('X-Amz-Signature')) return headers
  let all: Record<string, string | undefined> | undefined
  for (const [parameter, value] of query) {
    if (!parameter.startsWith('x-amz-') || /checksum|trailer|content-sha256/.test(parameter)) continue
    if (/[\0-\x08\x0a-\x1f\x7f]/.test(value) || !/^[!-~]+$/.test(parameter)) {
      throw new S3Error('InvalidArgument', `The query parameter ${parameter} cannot be a header.`)
    }
    const name = parameter.toLowerCase()
    all ??= { ...headers }
    // Header values are the bytes of their UTF-8 as latin1 text.
    all[name] ??= Buffer.from(value, 'utf8').toString('latin1')
  }
  return all ?? headers
}
