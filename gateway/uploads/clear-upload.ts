import type { Identity } from '../identity/identity.ts'
import type { Upload } from '../metadata/metadata.ts'
import { removeStoredParts } from './find-upload.ts'
import { cancelCleaning, cleanerQueue } from './queues.ts'
import type { Stores } from './stores.ts'

/**
 * After a completion: the multipart directory goes. The object is there, so a failure here is not the client's: the
 * cleaner tries again.
 */
export async function clearUpload(stores: Stores, as: Identity, upload: Upload): Promise<void> {
  await Promise.all([
    removeStoredParts(stores, as, upload).catch(async (error) => {
      stores.report(`The parts of the completed multipart upload ${upload.id} could not be removed.`, error)
      await stores.jobs.schedule(cleanerQueue(stores.config), `${upload.id}-parts`, { upload: upload.id }, 0)
    }),
    cancelCleaning(stores, upload.id),
  ])
}
