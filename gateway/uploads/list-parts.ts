import type { Identity } from '../identity/identity.ts'
import type { Target } from '../namespace/namespace.ts'
import { foreignEtag } from '../s3/etag.ts'
import { directoryOf, findUpload, isOver, noSuchUpload, withDirectory } from './find-upload.ts'
import type { Stores } from './stores.ts'
import type { PartPage } from './uploads.ts'

/** One page of the parts stored so far, in order of number: of the files that the directory holds now. */
export async function listParts(
  stores: Stores,
  as: Identity,
  target: Target,
  id: string,
  page: { after: number; limit: number },
): Promise<PartPage> {
  const upload = await findUpload(stores, as, target, id)
  if (isOver(upload)) throw noSuchUpload(id)
  const all = await withDirectory(stores, as, upload, () => stores.namespace.parts(as, directoryOf(upload)))
  const rest = all.filter(({ number }) => number > page.after)
  const shown = rest.slice(0, page.limit)
  const records = await stores.metadata.records(shown.map(({ entry }) => entry.id))
  return {
    upload,
    parts: shown.map(({ number, entry }, n) => ({
      number,
      size: entry.size,
      modifiedMs: entry.modifiedMs,
      etag: records[n]?.etag ?? foreignEtag(entry.id),
      checksums: records[n]?.checksums ?? {},
    })),
    // A page of none goes nowhere, so nothing is announced after it.
    truncated: page.limit > 0 && rest.length > shown.length,
  }
}
