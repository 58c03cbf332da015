import { S3Error } from '../s3/errors.ts'
import type { Reply } from '../s3/reply.ts'
import { errorDocument } from '../s3/xml/documents.ts'
import { hostId } from './request-id.ts'

/** The document and status of an error; whatever is no S3Error is a fault of ours and says nothing of itself. */
export function errorReply(error: unknown, request: { readonly id: string; readonly resource: string }): Reply {
  const { code, status, message, details, headers } = asS3Error(error)
  const body = errorDocument({ code, message, resource: request.resource, requestId: request.id, hostId, details })
  // 304 and 412 of conditional reads are errors on the way, but a 304 has no document.
  return { status, headers: { 'Content-Type': 'application/xml', ...headers }, body }
}

export function asS3Error(error: unknown): S3Error {
  return error instanceof S3Error ? error : new S3Error('InternalError', undefined, { cause: error })
}
