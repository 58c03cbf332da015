import type { Identity } from '../identity/identity.ts'
import type { Upload } from '../metadata/metadata.ts'
import { assembleUpload } from './assemble-upload.ts'
import { clearUpload } from './clear-upload.ts'
import { isSameCompletion } from './completion-state.ts'
import { beingCompleted, isOver, noSuchUpload } from './find-upload.ts'
import { completedUpload } from './finished-record.ts'
import { publishUpload } from './publish-upload.ts'
import type { CompletionJob, CompletionOutcome } from './queues.ts'
import { isRefusal } from './refusal.ts'
import type { Stores } from './stores.ts'
import type { CompletedUpload } from './uploads.ts'

/**
 * Runs a completion from whatever state the upload is in, as the acting user. Safe to be run again at any point, also
 * while another run of the same job is still at work. What the client did wrong is the outcome; failures are thrown.
 */
export async function runCompletion(
  stores: Stores,
  job: CompletionJob,
  signal: AbortSignal,
): Promise<CompletionOutcome> {
  try {
    const as = await stores.users.identify(job.user ?? undefined)
    for (;;) {
      const completed = await advance(stores, as, job, signal)
      if (completed !== undefined) return { completed }
    }
  } catch (error) {
    if (isRefusal(error)) {
      return { refused: { code: error.code, message: error.message, details: error.details } }
    }
    if (!signal.aborted) stores.report(`The completion of the multipart upload ${job.upload} failed.`, error)
    throw error
  }
}

/** One look at the state, and the way from there; undefined when it has changed meanwhile. */
async function advance(
  stores: Stores,
  as: Identity,
  job: CompletionJob,
  signal: AbortSignal,
): Promise<CompletedUpload | undefined> {
  const upload = await stores.metadata.upload(job.upload)
  if (upload === undefined || (isOver(upload) && !isOwn(upload, job))) throw noSuchUpload(job.upload)
  if (upload.state === 'completed') return finish(stores, as, upload)
  if (upload.state !== 'open' && upload.completion !== job.job) throw beingCompleted()
  const { state } = upload
  const assembled = state === 'assembled' ? { upload } : await assembleUpload(stores, as, job, upload, signal)
  if (assembled === undefined) return undefined
  const completed = await publishUpload(stores, as, job, assembled.upload, assembled.staged)
  return completed === undefined ? undefined : finish(stores, as, completed)
}

function isOwn(upload: Upload, job: CompletionJob): boolean {
  return upload.state === 'completed' && isSameCompletion(upload, job.job.slice(0, job.job.lastIndexOf('-')))
}

async function finish(stores: Stores, as: Identity, upload: Upload): Promise<CompletedUpload> {
  await clearUpload(stores, as, upload)
  return completedUpload(upload.record)
}
