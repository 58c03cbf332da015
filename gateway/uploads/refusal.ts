import { S3Error } from '../s3/errors.ts'

/**
 * Whether an error is an answer for the client: nothing was done, and trying again by ourselves would not help. After
 * any other (a time-out, a store that is away) something may have been done, or still will be.
 */
export function isRefusal(error: unknown): error is S3Error {
  return error instanceof S3Error && (error.status < 500 || error.code === 'InsufficientStorage')
}
