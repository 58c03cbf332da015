import type { S3Request } from '../s3/request.ts'

/** The `uploadId` of a request whose route demands one. */
export function uploadIdIn(request: S3Request): string {
  return request.query.get('uploadId') ?? ''
}
