import type { Identity } from '../identity/identity.ts'
import type { FileId, Target } from '../namespace/namespace.ts'
import type { Stores } from './stores.ts'

/**
 * After a write below them, folders that were remembered for deletion (see remove.ts) are wanted again: the folder that
 * the target lies in, or is, and, while they are remembered too, those above it. `id` is the identity of the first.
 */
export async function keepFolders(stores: Stores, as: Identity, target: Target, id: FileId): Promise<void> {
  let known: FileId | undefined = id
  for (const key of foldersOf(target.key)) {
    known ??= (await stores.namespace.stat(as, { bucket: target.bucket, key })).id
    if (!(await stores.metadata.isMarkedDeleted(known))) return
    await stores.metadata.markDeleted(known, false)
    known = undefined
  }
}

/** Keys of the folders on the way to a key, the nearest first: `a/b/c` and `a/b/` both have `a/b/` and `a/`. */
function* foldersOf(key: string): Generator<string> {
  for (let slash = key.lastIndexOf('/'); slash > 0; slash = key.lastIndexOf('/', slash - 1))
    yield key.slice(0, slash + 1)
}
