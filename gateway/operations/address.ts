import type { Target } from '../namespace/namespace.ts'
import { bucketPath } from '../s3/bucket-name.ts'
import { S3Error } from '../s3/errors.ts'
import type { S3Request } from '../s3/request.ts'

/** The bucket of a request: its name as the client wrote it, and its path in the namespace. Throws InvalidBucketName. */
export function bucketOf(request: S3Request): { readonly name: string; readonly path: string } {
  const name = request.bucket ?? ''
  return { name, path: bucketPath(name) }
}

/** The object of a request. Throws InvalidBucketName, InvalidURI. */
export function targetOf(request: S3Request): Target {
  if (request.key === undefined) throw new S3Error('InvalidURI')
  return { bucket: bucketPath(request.bucket ?? ''), key: request.key }
}
