import { isUtf8 } from 'node:buffer'
import { S3Error } from './errors.ts'
import type { S3Request } from './request.ts'

/**
 * The acting user a request names: the one place that decides it (spec §5). The signature is not checked.
 * Undefined when no credentials are given or their access key is empty: the caller then acts as the process user.
 *
 * An Authorization header that is there but cannot be read (another scheme, no Credential) is AuthorizationHeaderMalformed:
 * its sender wanted to be somebody, and must not act as the process user, who may do everything (our choice).
 */
export function actingUserName(request: Pick<S3Request, 'headers' | 'query'>): string | undefined {
  const header = request.headers.authorization?.trim()
  const presigned = request.query.size === 0 ? undefined : presignedUser(request.query)
  if (header === undefined || header === '') return presigned || undefined
  if (presigned !== undefined) {
    throw new S3Error(
      'InvalidArgument',
      'Name the user either in the Authorization header or in the query, not in both.',
    )
  }
  return textOf(headerUser(header)) || undefined
}

function presignedUser(query: ReadonlyMap<string, string>): string | undefined {
  const credential = query.get('X-Amz-Credential')
  if (credential !== undefined) return accessKey(credential)
  return query.get('AWSAccessKeyId')?.trim()
}

/** `AWS4-HMAC-SHA256 Credential=<user>/<scope>, SignedHeaders=…, Signature=…` or `AWS <user>:<signature>`. */
function headerUser(header: string): string {
  const space = header.search(/\s/)
  const scheme = space < 0 ? header : header.slice(0, space)
  const rest = space < 0 ? '' : header.slice(space + 1)
  if (scheme === 'AWS') return (rest.split(':', 1)[0] ?? '').trim()
  const credential = scheme.startsWith('AWS4-') ? /(?:^|[\s,])Credential=([^,]*)/.exec(rest)?.[1] : undefined
  if (credential === undefined) throw new S3Error('AuthorizationHeaderMalformed')
  return accessKey(credential)
}

function accessKey(credential: string): string {
  const slash = credential.indexOf('/')
  return (slash < 0 ? credential : credential.slice(0, slash)).trim()
}

/** Header values are latin1 text; a name beyond ASCII is meant as UTF-8, so that it equals the one in a query. */
function textOf(name: string): string {
  if (!/[\x80-\xff]/.test(name)) return name
  const bytes = Buffer.from(name, 'latin1')
  return isUtf8(bytes) ? bytes.toString('utf8') : name
}
