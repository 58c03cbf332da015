import type { Identity } from '../identity/identity.ts'
import type { Upload, UploadQuery } from '../metadata/metadata.ts'
import { S3Error } from '../s3/errors.ts'
import { directoryOf, forgetUpload, isGone, mayUse } from './find-upload.ts'
import type { Stores } from './stores.ts'
import type { UploadListQuery, UploadPage } from './uploads.ts'

/** Within this time an upload gets its directory, or lost its process before. */
const creationMs = 60_000

/**
 * One page of the uploads that are open (or being completed or aborted), rolled up by the delimiter. One whose directory
 * a client of the file system has removed is forgotten on the way.
 */
export async function listUploads(stores: Stores, as: Identity, query: UploadListQuery): Promise<UploadPage> {
  const uploads: Upload[] = []
  const commonPrefixes: string[] = []
  let next: UploadPage['next']
  for await (const upload of visibleUploads(stores, as, query)) {
    const group = commonPrefix(upload.key, query)
    // The page before ended with this group, or it is in this page already.
    if (group !== undefined && (group === query.afterKey || group === commonPrefixes.at(-1))) continue
    if (uploads.length + commonPrefixes.length === query.limit) return { uploads, commonPrefixes, next }
    if (group === undefined) {
      uploads.push(upload)
      next = { key: upload.key, uploadId: upload.id }
    } else {
      commonPrefixes.push(group)
      next = { key: group, uploadId: '' }
    }
  }
  return { uploads, commonPrefixes, next: undefined }
}

async function* visibleUploads(stores: Stores, as: Identity, query: UploadListQuery): AsyncGenerator<Upload> {
  const { bucket, prefix, afterKey, afterId, limit } = query
  const after = afterKey === '' ? {} : { afterKey, ...(afterId !== '' && { afterId }) }
  for await (const upload of eachUpload(stores, { bucket, prefix, ...after, limit })) {
    if (mayUse(as, upload) && (await isThere(stores, as, upload))) yield upload
  }
}

function commonPrefix(key: string, { prefix, delimiter }: UploadListQuery): string | undefined {
  const end = delimiter === '' ? -1 : key.indexOf(delimiter, prefix.length)
  return end < 0 ? undefined : key.slice(0, end + delimiter.length)
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

/** Whether an upload has its directory; one that has lost it is forgotten. */
export async function isThere(stores: Stores, as: Identity, upload: Upload): Promise<boolean> {
  // While it is being completed or aborted its end is near anyway, and its state is in other hands.
  if (upload.state !== 'open') return true
  try {
    await stores.namespace.stat(as, directoryOf(upload))
    return true
  } catch (error) {
    if (error instanceof S3Error && error.code === 'AccessDenied') return true
    if (!isGone(error)) throw error
    // A young one may not have it yet.
    if (upload.initiatedMs + creationMs < Date.now()) await forgetUpload(stores, as, upload)
    return false
  }
}
