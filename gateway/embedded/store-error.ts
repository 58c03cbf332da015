import { S3Error } from '../s3/errors.ts'

/** No space, quota or largest file size used up; -30792 is lmdb's MDB_MAP_FULL. */
const fullCodes: ReadonlySet<unknown> = new Set([28, 122, 27, 'ENOSPC', 'EDQUOT', 'EFBIG', -30792])

/** What the client is told when the store fails: nothing was written, and the store stays usable. */
export function storeError(error: unknown): S3Error {
  const { code, message } = error as { code?: number | string; message: string }
  return fullCodes.has(code)
    ? new S3Error('InsufficientStorage', 'There is no space left for the metadata store. Free some, then try again.', {
        cause: error,
      })
    : new S3Error('ServiceUnavailable', 'The metadata store cannot be used at the moment. Please try again.', {
        cause: new Error(`metadata store: ${message}`, { cause: error }),
        headers: { 'Retry-After': '1' },
      })
}

export function closedError(): S3Error {
  return storeError(new Error('it is closed'))
}

/** Errors of lmdb have a number; a bad key or value has none and is its step's own fault. */
export function isStoreFailure(error: unknown): boolean {
  return typeof (error as { code?: unknown }).code === 'number'
}
