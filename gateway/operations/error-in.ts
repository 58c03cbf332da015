import { S3Error } from '../s3/errors.ts'
import type { S3Request } from '../s3/request.ts'
import { errorDocument } from '../s3/xml/documents.ts'

/** The document of an error that is told after the status 200 has gone out, as S3 does in long answers. */
export function errorIn(error: unknown, request: S3Request): string {
  const told = error instanceof S3Error ? error : new S3Error('InternalError')
  return errorDocument({
    code: told.code,
    message: told.message,
    resource: request.resource,
    requestId: request.id,
    details: told.details,
  })
}
