import { constants } from 'node:os'
import { type ErrorCode, S3Error } from '../s3/errors.ts'

const { errno } = constants

/** What each failure of the file system means to an S3 client, unless the step knows better. */
const table: ReadonlyMap<number, readonly [ErrorCode, message?: string]> = new Map([
  [errno.EACCES, ['AccessDenied']],
  [errno.EPERM, ['AccessDenied']],
  [errno.EROFS, ['AccessDenied', 'The file system is mounted read-only.']],
  [errno.EXDEV, ['AccessDenied', 'A symbolic link on the way leads out of the namespace.']],
  [errno.ENOENT, ['NoSuchKey']],
  [errno.ENOTDIR, ['NoSuchKey']],
  [errno.ELOOP, ['NoSuchKey']],
  [errno.EISDIR, ['ExistingObjectIsDirectory']],
  [errno.ENAMETOOLONG, ['KeyTooLongError', 'A part of your key is longer than the file system allows (255 bytes).']],
  [errno.EILSEQ, ['InvalidArgument', 'The file system does not allow this key as a name.']],
  [errno.ENOSPC, ['InsufficientStorage']],
  [errno.EDQUOT, ['InsufficientStorage', 'The quota of the file system is used up.']],
  [errno.EMLINK, ['InsufficientStorage', 'The folder cannot hold more sub-folders.']],
  [errno.EFBIG, ['EntityTooLarge', 'The file system does not allow files of this size.']],
  [errno.EMFILE, ['SlowDown']],
  [errno.ENFILE, ['SlowDown']],
  [errno.ENOMEM, ['SlowDown']],
  [errno.EAGAIN, ['ServiceUnavailable']],
  [errno.ESTALE, ['ServiceUnavailable']],
  [errno.ETIMEDOUT, ['ServiceUnavailable']],
  [errno.EHOSTUNREACH, ['ServiceUnavailable']],
  [errno.ENOTCONN, ['ServiceUnavailable']],
] as [number, readonly [ErrorCode, string?]][])

const names = new Map(Object.entries(errno).map(([name, number]) => [number, name]))

/** The S3 error of a failed call, given its (negative) result. Throw what it returns. */
export function failure(result: number, call: string): S3Error {
  const [code, message] = table.get(-result) ?? ['InternalError']
  const name = names.get(-result) ?? `errno ${-result}`
  return new S3Error(code, message, { cause: `${call}: ${name}` })
}

/** The value of a call, or its S3 error. */
export function orFail(result: number, call: string): number {
  if (result < 0) throw failure(result, call)
  return result
}

export const { EACCES, EAGAIN, EEXIST, EINTR, EINVAL, EISDIR, ELOOP, ENOENT, ENOSYS } = negative()
export const { EBUSY, ENAMETOOLONG, ENOTDIR, ENOTEMPTY, ENXIO, EOPNOTSUPP, EPERM, ESTALE, EXDEV } = negative()

/** As the calls return them. */
function negative(): { readonly [K in keyof typeof errno]: number } {
  return Object.fromEntries(Object.entries(errno).map(([name, number]) => [name, -number])) as Record<
    keyof typeof errno,
    number
  >
}

/** Whether a call failed for want of permission. */
export function isRefused(result: number): boolean {
  return result === EACCES || result === EPERM
}
