import type { Identity } from '../identity/identity.ts'
import type { FileId, ListQuery } from '../namespace/namespace.ts'
import type { ObjectPage } from './objects.ts'
import { synthesised } from './read.ts'
import type { Stores } from './stores.ts'

/** One page of a listing with the records of its files, asked for in one call; a folder's ETag is always the same. */
export async function listObjects(stores: Stores, as: Identity, query: ListQuery): Promise<ObjectPage> {
  const page = await stores.namespace.list(as, query)
  const ids: FileId[] = []
  for (const { entry } of page.contents) if (entry.kind === 'file') ids.push(entry.id)
  const records = ids.length > 0 ? await stores.metadata.records(ids) : []
  let next = 0
  const contents = page.contents.map(({ key, entry }) => {
    const record = entry.kind === 'file' ? records[next++] : undefined
    return { key, entry, record: record ?? synthesised(entry) }
  })
  return { contents, commonPrefixes: page.commonPrefixes, next: page.next }
}
