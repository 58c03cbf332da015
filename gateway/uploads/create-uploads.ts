import { abortUpload, displaceUpload } from './abort-upload.ts'
import { cleanUpload, scanUploads } from './cleaner.ts'
import { completeUpload } from './complete-upload.ts'
import { runCompletion } from './completion-job.ts'
import { createUpload } from './create-upload.ts'
import { listParts } from './list-parts.ts'
import { listUploads } from './list-uploads.ts'
import { type CompletionResult, cleanerQueue, completionQueue } from './queues.ts'
import { copyPart, storePart } from './store-part.ts'
import type { Stores } from './stores.ts'
import type { Uploads } from './uploads.ts'

/**
 * Multipart uploads over a namespace, a metadata store, objects and jobs. Declares its queues, so it must be made before
 * the jobs begin. Keeps nothing itself. `scan` is to be called once after the start of the process.
 */
export function createUploads(stores: Stores): Uploads & { scan(): Promise<void> } {
  const { jobs, config } = stores
  jobs.process(completionQueue(config), (job, signal): Promise<CompletionResult> => runCompletion(stores, job, signal))
  jobs.process(cleanerQueue(config), async ({ upload }) => {
    await cleanUpload(stores, upload)
    return null
  })
  return {
    create: (as, target, bucketName, upload) => createUpload(stores, as, target, bucketName, upload),
    storePart: (as, target, id, part, content, options) => storePart(stores, as, target, id, part, content, options),
    copyPart: (as, target, id, part, source) => copyPart(stores, as, target, id, part, source),
    parts: (as, target, id, page) => listParts(stores, as, target, id, page),
    list: (as, query) => listUploads(stores, as, query),
    abort: (as, target, id) => abortUpload(stores, as, target, id),
    displace: (as, target) => displaceUpload(stores, as, target),
    complete: (as, target, id, completion) => completeUpload(stores, as, target, id, completion),
    scan: () => scanUploads(stores),
  }
}
