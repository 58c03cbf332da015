import { S3Error } from './errors.ts'
import { percentDecode } from './percent.ts'
import type { S3Request } from './request.ts'

/**
 * `x-amz-copy-source`: `<bucket>/<key>`, with or without a leading slash, percent-encoded UTF-8. A `+` is a space, as on
 * S3 (and on the reference); clients send `%2B` for a plus. The bucket may be `a:b:c`, as in a path.
 * Throws InvalidArgument for anything else, and for a version other than `null`.
 */
export function copySource(headers: S3Request['headers']): { readonly bucket: string; readonly key: string } {
  const header = headers['x-amz-copy-source'] ?? ''
  const mark = header.lastIndexOf('?versionId=')
  const version = mark < 0 ? '' : header.slice(mark + '?versionId='.length)
  if (version !== '' && version !== 'null') {
    throw new S3Error(
      'InvalidArgument',
      'Invalid version id specified. There are no versions here: leave versionId out.',
    )
  }
  const source = percentDecode(mark < 0 ? header : header.slice(0, mark), { plusIsSpace: true })
  if (source === undefined) {
    throw new S3Error('InvalidArgument', 'x-amz-copy-source must be percent-encoded UTF-8, without NUL.')
  }
  const path = source.startsWith('/') ? source.slice(1) : source
  const slash = path.indexOf('/')
  if (slash < 1 || slash === path.length - 1) {
    throw new S3Error('InvalidArgument', 'Copy Source must mention the source bucket and key: sourcebucket/sourcekey')
  }
  return { bucket: path.slice(0, slash), key: path.slice(slash + 1) }
}
