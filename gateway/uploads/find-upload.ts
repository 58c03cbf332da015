import type { Identity } from '../identity/identity.ts'
import type { Upload } from '../metadata/metadata.ts'
import type { Target } from '../namespace/namespace.ts'
import { S3Error } from '../s3/errors.ts'
import { cancelCleaning } from './queues.ts'
import type { Stores } from './stores.ts'

/** Only who began an upload may use it, and the process user (seen on the reference: 403 for others). */
export function mayUse(as: Identity, upload: Upload): boolean {
  return as.superuser || upload.user === as.name
}

/** The upload of this id and key, in any state. Throws NoSuchBucket, NoSuchUpload, AccessDenied. */
export async function findUpload(stores: Stores, as: Identity, target: Target, id: string): Promise<Upload> {
  const upload = await stores.metadata.upload(id)
  if (upload === undefined || upload.bucket !== target.bucket || upload.key !== target.key) {
    await stores.namespace.statBucket(as, target.bucket)
    throw noSuchUpload(id)
  }
  if (!mayUse(as, upload)) throw new S3Error('AccessDenied', 'The upload belongs to another user.')
  return upload
}

/** As `findUpload`, for an upload that takes parts. Throws OperationAborted too, while it is being completed. */
export async function findOpenUpload(stores: Stores, as: Identity, target: Target, id: string): Promise<Upload> {
  const upload = await findUpload(stores, as, target, id)
  if (isOver(upload)) throw noSuchUpload(id)
  if (upload.state !== 'open') throw beingCompleted()
  return upload
}

/** Completed or aborted (the abort may still be at work on the parts): for its client the upload is gone. */
export function isOver(upload: Upload): boolean {
  return upload.state === 'completed' || upload.state === 'aborting'
}

export function directoryOf(upload: Upload): Target {
  return { bucket: upload.bucket, key: `${upload.directory}/` }
}

export function partOf(upload: Upload, part: number): Target {
  return { bucket: upload.bucket, key: `${upload.directory}/${part}` }
}

/**
 * Runs something that needs the directory of an upload. Should it be gone (a client of the file system removed it, or
 * it was deleted as a folder), so is the upload: it is forgotten, and the answer is NoSuchUpload.
 */
export async function withDirectory<T>(
  stores: Stores,
  as: Identity,
  upload: Upload,
  use: () => Promise<T>,
): Promise<T> {
  try {
    return await use()
  } catch (error) {
    if (!isGone(error)) throw error
    await forgetUpload(stores, as, upload)
    throw noSuchUpload(upload.id)
  }
}

/** Whether an error says that a directory, or anything above it, is not there. */
export function isGone(error: unknown): boolean {
  return (
    error instanceof S3Error && ['NoSuchKey', 'NoSuchUpload', 'NoSuchBucket', 'ObjectParentIsFile'].includes(error.code)
  )
}

/**
 * After something was put into an upload's place: the upload may have ended meanwhile, and then nobody else would remove
 * it any more. It was there before the state is read here, and an end changes the state before it removes what is there:
 * one of the two sees it. Throws NoSuchUpload.
 */
export async function refuseIfOver(stores: Stores, as: Identity, upload: Upload): Promise<void> {
  const now = await stores.metadata.upload(upload.id)
  if (now !== undefined && !isOver(now)) return
  await removeStoredParts(stores, as, upload)
  throw noSuchUpload(upload.id)
}

/** Removes the parts of an upload and its directory; what others have put into it stays, in a plain folder. */
export async function removeStoredParts(stores: Stores, as: Identity, upload: Upload): Promise<void> {
  try {
    await stores.namespace.removeParts(as, directoryOf(upload))
  } catch (error) {
    if (!isGone(error)) throw error
  }
}

/**
 * Drops the record of an open upload whose directory is gone. Where the bucket is gone too it may be all of the file
 * system that is not there at the moment, and the record stays.
 */
export async function forgetUpload(stores: Stores, as: Identity, upload: Upload): Promise<void> {
  if (upload.state !== 'open') return
  await stores.namespace.statBucket(as, upload.bucket)
  if (await stores.metadata.replaceUpload(upload, undefined)) await cancelCleaning(stores, upload.id)
}

export function noSuchUpload(id: string): S3Error {
  return new S3Error('NoSuchUpload', undefined, { details: { UploadId: id } })
}

export function beingCompleted(): S3Error {
  return new S3Error('OperationAborted', 'The upload is being completed. Wait for the answer, or ask again.')
}
