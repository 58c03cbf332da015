import type { Upload } from '../metadata/metadata.ts'
import { abort } from './abort-upload.ts'
import { isGone, removeStoredParts } from './find-upload.ts'
import { eachUpload, isThere } from './list-uploads.ts'
import { cleanerQueue, scheduleCleaning } from './queues.ts'
import type { Stores } from './stores.ts'

/**
 * The cleaner's job (spec §3, §8): aborts an upload that is older than the timeout. A failure is told and thrown, so that
 * the queue tries again and, after the last time, keeps the job as failed.
 */
export async function cleanUpload(stores: Stores, id: string): Promise<void> {
  const upload = await stores.metadata.upload(id)
  if (upload === undefined) return
  if (upload.state !== 'completed' && upload.state !== 'aborting') {
    const { cleanerEnabled, cleanerTimeoutMs } = stores.config
    if (!cleanerEnabled) return
    // A completion is left alone; should it fail, the upload is open again, and old.
    if (upload.state !== 'open') return lookAgain(stores, id, cleanerTimeoutMs)
    // The timeout was shorter when this was scheduled.
    const early = upload.initiatedMs + cleanerTimeoutMs - Date.now()
    if (early > 0) return lookAgain(stores, id, early)
  }
  try {
    // The parts and their directory belong to the user who began the upload.
    const as = await stores.users.identify(upload.user)
    if (upload.state === 'completed') await removeStoredParts(stores, as, upload)
    else await abort(stores, as, upload)
  } catch (error) {
    const now = await stores.metadata.upload(id)
    // Its client was faster: the upload is gone, or a completion has begun.
    if (now === undefined) return
    if (now.state === 'assembled') return lookAgain(stores, id, stores.config.cleanerTimeoutMs)
    stores.report(`The cleaner could not abort the multipart upload ${id} of ${upload.bucket}/${upload.key}.`, error)
    throw error
  }
}

/**
 * The start-up scan: has the cleaner look at uploads that were opened while it was off, and at those whose abort was
 * interrupted by the end of a process; forgets those whose directory is gone.
 */
export async function scanUploads(stores: Stores): Promise<void> {
  for await (const upload of eachUpload(stores, { bucket: undefined, limit: 1000 })) {
    try {
      await scan(stores, upload)
    } catch (error) {
      if (isGone(error)) continue
      // One upload that cannot be looked at must not keep the gateway from starting.
      stores.report(`The multipart upload ${upload.id} of ${upload.bucket}/${upload.key} was left out.`, error)
    }
  }
}

async function scan(stores: Stores, upload: Upload): Promise<void> {
  if (upload.state === 'aborting') await lookAgain(stores, upload.id, 0)
  else if (await isThere(stores, await stores.users.identify(upload.user), upload))
    await scheduleCleaning(stores, upload)
}

/** Under a name of its own, as the upload's usual one is that of the job at work, or of one that is put off. */
async function lookAgain(stores: Stores, id: string, delayMs: number): Promise<void> {
  await stores.jobs.schedule(cleanerQueue(stores.config), `${id}-${Date.now()}`, { upload: id }, delayMs)
}
