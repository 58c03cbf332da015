import { createHash } from 'node:crypto'
import type { Identity } from '../identity/identity.ts'
import type { Upload } from '../metadata/metadata.ts'
import type { Target } from '../namespace/namespace.ts'
import { S3Error } from '../s3/errors.ts'
import { refuseByCondition } from './completion-condition.ts'
import { isSameCompletion } from './completion-state.ts'
import { beingCompleted, findUpload, isOver, noSuchUpload } from './find-upload.ts'
import { completedUpload } from './finished-record.ts'
import { listedParts } from './part-list.ts'
import { type CompletionOutcome, type CompletionPayload, completionQueue } from './queues.ts'
import { isRefusal } from './refusal.ts'
import { storedParts } from './stored-parts.ts'
import type { Stores } from './stores.ts'
import type { CompletedUpload, Completion } from './uploads.ts'

/**
 * Completes an upload by a job (design §6), so that it goes on when the client or this process goes away, and a repeated
 * request joins it or gets its result. Throws NoSuchUpload and AccessDenied at once; `done` tells of everything else.
 */
export async function completeUpload(
  stores: Stores,
  as: Identity,
  target: Target,
  id: string,
  completion: Completion,
): Promise<{ done: Promise<CompletedUpload> }> {
  const upload = await findUpload(stores, as, target, id)
  const name = `${id}-${hashOf(as, completion)}`
  refuseOver(upload, name)
  const done = finish(stores, as, upload, completion, name)
  // With keepalive the client is not told of a refusal (spec §7.3); failures of ours are reported by the job in any case.
  const { keepaliveEnabled, keepaliveErrors } = stores.config
  done.catch((error) => {
    if (keepaliveEnabled && !keepaliveErrors && isRefusal(error)) {
      stores.report(
        `The completion of the multipart upload ${id} of ${target.bucket}/${target.key} was refused.`,
        error,
      )
    }
  })
  return { done }
}

/** An upload that is over answers only the request that has completed it, asked again. */
function refuseOver(upload: Upload, name: string): void {
  if (!isOver(upload) || (upload.state === 'completed' && isSameCompletion(upload, name))) return
  throw noSuchUpload(upload.id)
}

async function finish(
  stores: Stores,
  as: Identity,
  upload: Upload,
  completion: Completion,
  name: string,
): Promise<CompletedUpload> {
  const { state } = upload
  refuseOver(upload, name)
  if (state === 'completed') return completedUpload(upload.record)
  if (state !== 'open' && !isSameCompletion(upload, name)) throw beingCompleted()
  if (state === 'open') {
    try {
      await refuseAtOnce(stores, as, upload, completion)
    } catch (error) {
      // The same request may have completed the upload meanwhile, so that its parts are gone.
      const now = await stores.metadata.upload(upload.id)
      if (now === undefined || now.version === upload.version) throw error
      return finish(stores, as, now, completion, name)
    }
  }
  // A failed completion opens the upload again with another version: a new request is a new job, not the old result.
  const job = state === 'open' ? `${name}-${upload.version}` : (upload.completion ?? name)
  const user = as.authenticated ? as.name : null
  const outcome = await run(stores, { upload: upload.id, user, job, completion })
  if ('completed' in outcome) return outcome.completed
  const { code, message, details } = outcome.refused
  throw new S3Error(code, message, { details })
}

async function run(stores: Stores, payload: CompletionPayload): Promise<CompletionOutcome> {
  try {
    return await stores.jobs.run(completionQueue(stores.config), payload.job, payload)
  } catch (error) {
    if (error instanceof S3Error) throw error
    throw new S3Error('InternalError', undefined, { cause: error })
  }
}

/** What can be refused before there is a job: the list, sizes and conditions as they are now. */
async function refuseAtOnce(stores: Stores, as: Identity, upload: Upload, completion: Completion): Promise<void> {
  const stored = await storedParts(stores, as, upload, completion)
  listedParts(upload, completion, stored, stores.config.minPartSize)
  await refuseByCondition(stores, as, upload, completion)
}

/** Names a completion by who asks for what: the same request again is the same completion. */
function hashOf(as: Identity, completion: Completion): string {
  return createHash('sha256')
    .update(JSON.stringify([as.name, completion]))
    .digest('hex')
    .slice(0, 32)
}
