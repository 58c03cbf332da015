import type { Identity } from '../identity/identity.ts'
import type { Upload, UploadQuery } from '../metadata/metadata.ts'
import { S3Error } from '../s3/errors.ts'
import { directoryOf, forgetUpload, isGone, mayUse } from './find-upload.ts'
import type { Stores } from './stores.ts'

/**
 * Uploads that are open (or being completed or aborted), of the acting user; the process user sees everybody's. One
 * whose directory a client of the file system has removed is forgotten on the way. May be fewer than `query.limit` only
 * at the end.
 */
export async function listUploads(stores: Stores, as: Identity, query: UploadQuery): Promise<Upload[]> {
  const found: Upload[] = []
  for await (const upload of eachUpload(stores, query)) {
    if (!mayUse(as, upload) || upload.directoryId === '') continue
    if (!(await isThere(stores, as, upload))) continue
    found.push(upload)
    if (found.length === query.limit) break
  }
  return found
}

/** All that match, in order, read in batches of at least `query.limit`. */
export async function* eachUpload(stores: Stores, query: UploadQuery): AsyncGenerator<Upload> {
  const limit = Math.max(query.limit, 100)
  let batch = await stores.metadata.uploads({ ...query, limit })
  for (;;) {
    yield* batch
    const last = batch.at(-1)
    if (last === undefined || batch.length < limit) return
    batch = await stores.metadata.uploads({ ...query, limit, afterKey: last.key, afterId: last.id })
  }
}

async function isThere(stores: Stores, as: Identity, upload: Upload): Promise<boolean> {
  // While it is being completed or aborted its end is near anyway, and its state is in other hands.
  if (upload.state !== 'open') return true
  try {
    await stores.namespace.stat(as, directoryOf(upload))
    return true
  } catch (error) {
    if (error instanceof S3Error && error.code === 'AccessDenied') return true
    if (!isGone(error)) throw error
    await forgetUpload(stores, upload)
    return false
  }
}
