import { S3Error } from '../../s3/errors.ts'
import { EAGAIN, ELOOP, ENAMETOOLONG, ENOENT, ENOTDIR, ENXIO, EXDEV, failure, isRefused } from '../errno.ts'
import { close, cstring, O_DIRECTORY, O_PATH } from '../libc.ts'
import { type Mount, openPath } from '../mount.ts'

/** Results of a call that mean: nothing is there that S3 could see. */
const absences = new Set([ENOENT, ENOTDIR, ENAMETOOLONG, ELOOP, EXDEV, ENXIO])

export function isAbsence(result: number): boolean {
  return absences.has(result)
}

/** Opens a bucket's directory as a handle. Throws NoSuchBucket (also when a file is there), AccessDenied. */
export function openBucket(mount: Mount, bucket: string): number {
  const fd = openPath(mount, cstring(bucket), O_PATH | O_DIRECTORY)
  if (fd >= 0) return fd
  throw isAbsence(fd) ? new S3Error('NoSuchBucket') : failure(fd, 'open bucket')
}

/**
 * The error of a read that found nothing: NoSuchBucket or NoSuchKey, and AccessDenied for who may not know.
 */
export function notFound(mount: Mount, bucket: string, result: number, call: string): S3Error {
  if (isRefused(result)) return new S3Error('AccessDenied')
  if (result === EAGAIN) return new S3Error('ServiceUnavailable')
  if (!isAbsence(result)) return failure(result, call)
  close(openBucket(mount, bucket))
  return new S3Error('NoSuchKey')
}
