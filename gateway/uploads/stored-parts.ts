import { setImmediate as breathe } from 'node:timers/promises'
import type { Identity } from '../identity/identity.ts'
import type { Upload } from '../metadata/metadata.ts'
import { directoryOf, withDirectory } from './find-upload.ts'
import type { StoredPartFile } from './part-list.ts'
import type { Stores } from './stores.ts'
import type { Completion } from './uploads.ts'

/** Records read in one go; 10,000 at once would hold up the event loop. */
const batchSize = 500

/** The listed ones among the stored parts of an upload, with their records. Throws NoSuchUpload, AccessDenied. */
export async function storedParts(
  stores: Stores,
  as: Identity,
  upload: Upload,
  completion: Completion,
): Promise<StoredPartFile[]> {
  const listed = new Set(completion.parts.map(({ number }) => number))
  const all = await withDirectory(stores, as, upload, () => stores.namespace.parts(as, directoryOf(upload)))
  const wanted = all.filter(({ number }) => listed.has(number))
  const parts: StoredPartFile[] = []
  for (let start = 0; start < wanted.length; start += batchSize) {
    if (start > 0) await breathe()
    const batch = wanted.slice(start, start + batchSize)
    const records = await stores.metadata.records(batch.map(({ entry }) => entry.id))
    for (const [n, { number, entry }] of batch.entries()) parts.push({ number, entry, record: records[n] })
  }
  return parts
}
