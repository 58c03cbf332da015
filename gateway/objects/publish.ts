import type { Identity } from '../identity/identity.ts'
import type { Intent } from '../metadata/metadata.ts'
import type { FileId, Published, Staged, StagedFile, Target } from '../namespace/namespace.ts'
import { S3Error } from '../s3/errors.ts'
import { keepFolders } from './keep-folders.ts'
import type { FinishedObject, WrittenObject } from './objects.ts'
import { findObject } from './read.ts'
import { isDurable, pathOf, type Stores } from './stores.ts'

/**
 * The end of every write (design §4): the record and an intent in one call, then the condition, then publish, then the
 * intent is settled with the record of the replaced file. A condition makes the intent exclusive, so that what it saw
 * still holds at publish; only then a folder in the way goes. After a failure the object that was there is whole and the staged file is gone.
 */
export async function publishObject(
  stores: Stores,
  as: Identity,
  target: Target,
  staged: Staged,
  file: StagedFile,
  object: FinishedObject,
): Promise<WrittenObject> {
  const published = await publish(stores, as, target, staged, file, object)
  if (published.parent !== undefined) {
    // The object is there: a folder that stays remembered does it no harm.
    await keepFolders(stores, as, target, published.parent).catch(ignoreRefusal)
  }
  return { record: object.record, size: file.size, modifiedMs: file.modifiedMs }
}

async function publish(
  stores: Stores,
  as: Identity,
  target: Target,
  staged: Staged,
  file: StagedFile,
  object: FinishedObject,
): Promise<Published> {
  const sync = isDurable(stores.config)
  // The bytes become durable while the record does: both must be before the rename.
  const syncing = sync ? staged.finish({ sync }) : undefined
  syncing?.catch(() => {})
  let intent: Intent | undefined
  try {
    intent = await stores.metadata.begin({
      path: pathOf(target),
      exclusive: object.condition !== undefined,
      temp: staged.temp,
      write: { id: file.id, record: object.record, tags: object.tags },
      durable: sync,
    })
    await syncing
    if (object.condition !== undefined) object.condition(await findObject(stores, as, target))
    await object.makeRoom?.()
    const published = await staged.publish({ ifAbsent: object.ifAbsent ?? false, sync })
    settle(intent, published.replaced)
    return published
  } catch (error) {
    // Its descriptor must not be closed under it.
    await syncing?.catch(() => {})
    await staged.discard()
    if (intent !== undefined) settle(intent, isRefusal(error) ? file.id : undefined)
    throw error
  }
}

/**
 * Ends an intent without making the client wait. The change itself is done, so a failure here is none of the request:
 * the intents of a process end with it, and the sweep finds records left over.
 */
export function settle(intent: Intent, expired?: FileId): void {
  intent.settle(expired).catch(() => {})
}

/** A refusal is final. After a time-out or a lost worker the rename may still take place, and needs its record. */
function isRefusal(error: unknown): boolean {
  return error instanceof S3Error && error.status < 500
}

/** Swallows what the stores may answer, but no mistake of ours. */
export function ignoreRefusal(error: unknown): void {
  if (!(error instanceof S3Error)) throw error
}
