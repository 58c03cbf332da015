import type { Identity } from '../identity/identity.ts'
import type { Upload } from '../metadata/metadata.ts'
import type { Target } from '../namespace/namespace.ts'
import { S3Error } from '../s3/errors.ts'
import { directoryOf, refuseIfOver } from './find-upload.ts'
import { scheduleCleaning } from './queues.ts'
import { isRefusal } from './refusal.ts'
import { isDurable, type Stores } from './stores.ts'
import { multipartDirectory, nameMax, newUploadId } from './upload-id.ts'
import type { NewUpload } from './uploads.ts'

/**
 * Opens an upload: the record first, then the directory, so that a process that dies in between leaves no directory that
 * nobody knows. Throws NoSuchBucket, AccessDenied, KeyTooLongError, ObjectParentIsFile, InvalidArgument.
 */
export async function createUpload(
  stores: Stores,
  as: Identity,
  target: Target,
  bucketName: string,
  wanted: NewUpload,
): Promise<Upload> {
  refuseKey(stores, target)
  const id = newUploadId()
  const upload: Upload = {
    id,
    bucketName,
    bucket: target.bucket,
    key: target.key,
    directory: multipartDirectory(target.key, id),
    user: as.name,
    initiatedMs: Date.now(),
    record: { ...wanted.record, etag: '' },
    tags: wanted.tags,
    checksumAlgorithm: wanted.checksumAlgorithm,
    checksumType: wanted.checksumType,
    state: 'open',
    version: 0,
  }
  await stores.metadata.createUpload(upload)
  await makeDirectory(stores, as, upload)
  await scheduleCleaning(stores, upload)
  if (isDurable(stores.config)) await stores.metadata.flush()
  return upload
}

/** The directory's name is another, so a key that cannot become an object would show at the end only. */
function refuseKey(stores: Stores, target: Target): void {
  if (target.key.endsWith('/')) {
    throw new S3Error(
      'InvalidArgument',
      'A key that ends in a slash names a folder, which has no parts. Put it instead.',
    )
  }
  stores.namespace.tempName(target)
  if (Buffer.byteLength(target.key.slice(target.key.lastIndexOf('/') + 1)) > nameMax) {
    throw new S3Error('KeyTooLongError', `Your key is too long. What follows its last slash can have ${nameMax} bytes.`)
  }
}

async function makeDirectory(stores: Stores, as: Identity, upload: Upload): Promise<void> {
  try {
    await stores.namespace.makeFolder(as, directoryOf(upload))
  } catch (error) {
    // After a time-out the directory may still appear: then the upload stays known, for the cleaner.
    if (isRefusal(error)) await stores.metadata.replaceUpload(upload, undefined)
    throw error
  }
  await refuseIfOver(stores, as, upload)
}
