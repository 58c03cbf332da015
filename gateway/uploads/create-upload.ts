import type { Identity } from '../identity/identity.ts'
import type { Upload } from '../metadata/metadata.ts'
import type { Target } from '../namespace/namespace.ts'
import { S3Error } from '../s3/errors.ts'
import { directoryOf, noSuchUpload } from './find-upload.ts'
import { scheduleCleaning } from './queues.ts'
import { isDurable, type Stores } from './stores.ts'
import { multipartDirectory, nameMax, newUploadId } from './upload-id.ts'
import type { NewUpload } from './uploads.ts'

/**
 * Opens an upload: record first, then directory, then the record again with the directory's identity. So a process that
 * dies in between leaves no directory that nobody knows; an upload without identity was never answered, and start-up
 * aborts it (see cleaner.ts). Throws NoSuchBucket, AccessDenied, KeyTooLongError, ObjectParentIsFile, InvalidArgument.
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
    directoryId: '',
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
  const open = await makeDirectory(stores, as, upload)
  await scheduleCleaning(stores, upload)
  if (isDurable(stores.config)) await stores.metadata.flush()
  return open
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

async function makeDirectory(stores: Stores, as: Identity, upload: Upload): Promise<Upload> {
  try {
    const { id } = await stores.namespace.makeFolder(as, directoryOf(upload))
    const open: Upload = { ...upload, directoryId: id }
    // Only an abort can have come between, by one who guessed the id: it wins.
    if (!(await stores.metadata.replaceUpload(upload, open))) throw noSuchUpload(upload.id)
    return { ...open, version: upload.version + 1 }
  } catch (error) {
    // After a time-out the directory may still appear, so the record stays for the next start.
    if (error instanceof S3Error && error.status < 500) await stores.metadata.replaceUpload(upload, undefined)
    throw error
  }
}
