import type { Identity } from '../identity/identity.ts'
import type { Target } from '../namespace/namespace.ts'
import type { Tag } from '../s3/object-record.ts'
import { isDurable, type Stores } from './stores.ts'

/** Replaces the tags of an object or folder; asks for the permission to write to it. Throws NoSuchKey, AccessDenied. */
export async function putObjectTags(stores: Stores, as: Identity, target: Target, tags: readonly Tag[]): Promise<void> {
  const { id } = await stores.namespace.stat(as, target, { forChange: true })
  await stores.metadata.putTags(id, tags)
  if (isDurable(stores.config)) await stores.metadata.flush()
}
