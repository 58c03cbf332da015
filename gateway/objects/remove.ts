import type { Identity } from '../identity/identity.ts'
import type { Removed, Target } from '../namespace/namespace.ts'
import { S3Error } from '../s3/errors.ts'
import { settle } from './publish.ts'
import { pathOf, type Stores } from './stores.ts'

/**
 * Removes an object, or with a final slash an empty folder; a missing one is fine. A folder with entries stays and is
 * remembered: it goes when its last entry is deleted through the gateway, because clients that empty a bucket delete
 * `a/` before `a/b`, in the order of the listing (design §4).
 */
export async function removeObject(stores: Stores, as: Identity, { bucket, key }: Target): Promise<void> {
  // rclone purges a folder under its key with one more slash.
  const target = { bucket, key: key.replace(/\/{2,}$/, '/') }
  let removed = await removeEntry(stores, as, target)
  if (removed.outcome === 'notEmpty' && removed.id !== undefined) {
    await stores.metadata.markDeleted(removed.id, true)
    // Its last entry may have gone just before that request could see the mark.
    removed = await removeEntry(stores, as, target)
  }
  if (removed.outcome === 'removed') await tidyFolders(stores, as, target.bucket, removed)
}

/** One removal, announced by an intent: a conditional write of the key must not have it happen behind its check. */
async function removeEntry(stores: Stores, as: Identity, target: Target): Promise<Removed> {
  const intent = await stores.metadata.begin({ path: pathOf(target), exclusive: false, durable: false })
  let removed: Removed | undefined
  try {
    removed = await stores.namespace.remove(as, target)
  } finally {
    settle(intent, removed?.outcome === 'removed' ? removed.id : undefined)
  }
  return removed
}

/** Removes the folders above that are remembered and empty now. What was asked for is done, so a refusal ends it. */
async function tidyFolders(stores: Stores, as: Identity, bucket: string, removed: Removed): Promise<void> {
  try {
    let { parent } = removed
    while (parent?.empty && (await stores.metadata.isMarkedDeleted(parent.id))) {
      const above = await removeEntry(stores, as, { bucket, key: parent.key })
      parent = above.outcome === 'removed' ? above.parent : undefined
    }
  } catch (error) {
    if (!(error instanceof S3Error)) throw error
  }
}
