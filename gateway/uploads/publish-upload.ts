import type { Identity } from '../identity/identity.ts'
import type { Upload } from '../metadata/metadata.ts'
import type { FileId, Staged, Target } from '../namespace/namespace.ts'
import type { Condition } from '../objects/objects.ts'
import { conditionOf } from './completion-condition.ts'
import { completed, giveBack } from './completion-state.ts'
import type { CompletionJob } from './queues.ts'
import { isRefusal } from './refusal.ts'
import type { Stores } from './stores.ts'

type AssembledFile = NonNullable<Upload['assembled']>

/**
 * Makes the assembled file the object, once: its temporary name is renamed, and when that name is gone it has happened
 * (in a run that died, or in another that is still alive). What replaced the object since then stays.
 * A refusal (a condition, a folder in the way, a lost permission) opens the upload again; after any other failure it
 * stays assembled, because the rename may still take place. Undefined when the upload's state has changed meanwhile.
 */
export async function publishUpload(
  stores: Stores,
  as: Identity,
  job: CompletionJob,
  upload: Upload,
  staged?: Staged,
): Promise<Upload | undefined> {
  const target = { bucket: upload.bucket, key: upload.key }
  const file = fileOf(upload)
  const found = staged ?? (await stores.namespace.restage(as, file.temp, target, file.id))
  if (found !== undefined) {
    try {
      await publish(stores, as, job, upload, found)
    } catch (error) {
      await found.release()
      if (!isRefusal(error) || (await isThere(stores, as, target, file))) {
        if (!isRefusal(error) || (await giveBack(stores, upload)) !== undefined) throw error
        return undefined
      }
    }
  }
  return completed(stores, upload)
}

async function publish(
  stores: Stores,
  as: Identity,
  job: CompletionJob,
  upload: Upload,
  staged: Staged,
): Promise<void> {
  const target = { bucket: upload.bucket, key: upload.key }
  const assembled = fileOf(upload)
  const { id } = assembled
  const { condition, ifAbsent } = conditionOf(job.completion)
  const size = (upload.record.parts ?? []).reduce((sum, part) => sum + part, 0)
  const file = { id, size, modifiedMs: Date.now(), digests: new Map() }
  await stores.objects.publish(as, target, once(stores, as, target, staged, assembled), file, {
    record: upload.record,
    tags: upload.tags,
    condition: condition === undefined ? undefined : unlessItself(id, condition),
    ifAbsent,
  })
}

/**
 * The staged file as the one write path of objects may use it. Its name is known to the upload's record, not to an
 * intent, and is not removed on a failure: a later run decides by it whether the object has been published.
 */
function once(stores: Stores, as: Identity, target: Target, staged: Staged, file: AssembledFile): Staged {
  return {
    temp: undefined,
    write: (bytes) => staged.write(bytes),
    finish: (options) => staged.finish(options),
    async publish(options) {
      try {
        return await staged.publish(options)
      } catch (error) {
        if (!isRefusal(error) || (await isThere(stores, as, target, file))) throw error
        return { replaced: undefined }
      }
    },
    discard: async () => {},
    release: async () => {},
  }
}

/** Whether the file still has its temporary name: then it has not been published. */
async function isThere(stores: Stores, as: Identity, target: Target, file: AssembledFile): Promise<boolean> {
  const staged = await stores.namespace.restage(as, file.temp, target, file.id)
  await staged?.release()
  return staged !== undefined
}

/** A condition that does not turn against the very object it has let through, in another run. */
function unlessItself(id: FileId, condition: Condition): Condition {
  return (current) => {
    if (current?.entry.id !== id) condition(current)
  }
}

function fileOf(upload: Upload): AssembledFile {
  if (upload.assembled === undefined) throw new Error(`the upload ${upload.id} has no assembled file`)
  return upload.assembled
}
