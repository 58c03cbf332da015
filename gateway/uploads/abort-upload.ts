import type { Identity } from '../identity/identity.ts'
import type { Upload } from '../metadata/metadata.ts'
import type { Target } from '../namespace/namespace.ts'
import type { Displace } from '../objects/objects.ts'
import { S3Error } from '../s3/errors.ts'
import { beingCompleted, directoryOf, findUpload, mayUse, noSuchUpload, removeStoredParts } from './find-upload.ts'
import { cancelCleaning } from './queues.ts'
import type { Stores } from './stores.ts'
import { uploadIdOf } from './upload-id.ts'

/**
 * Ends an upload and removes what it stored. Repeating it after a failure goes on where it stopped. A completion that is
 * still assembling gives way; one that may have published does not: OperationAborted.
 */
export async function abortUpload(stores: Stores, as: Identity, target: Target, id: string): Promise<void> {
  await abort(stores, as, await findUpload(stores, as, target, id))
}

/** See Uploads.displace. */
export async function displaceUpload(stores: Stores, as: Identity, target: Target): ReturnType<Displace> {
  const id = uploadIdOf(target.key)
  const upload = id === undefined ? undefined : await stores.metadata.upload(id)
  if (upload === undefined || upload.bucket !== target.bucket || upload.directory !== target.key) return undefined
  if (!mayUse(as, upload)) throw new S3Error('AccessDenied', 'The upload at this key belongs to another user.')
  if (await stores.namespace.holdsForeign(as, directoryOf(upload))) return undefined
  return () => makeRoom(stores, as, upload)
}

async function makeRoom(stores: Stores, as: Identity, upload: Upload): Promise<void> {
  if (await stores.namespace.holdsForeign(as, directoryOf(upload))) throw new S3Error('ExistingObjectIsDirectory')
  // It may have ended while the body came in. A completed one leaves its directory only if it could not be removed then.
  const now = await stores.metadata.upload(upload.id)
  if (now?.state === 'completed') await removeStoredParts(stores, as, now)
  else if (now !== undefined) await abort(stores, as, now)
}

/**
 * The state comes first, so that no completion can begin and no part can come in unseen (see store-part.ts); then the
 * files; then the record, by which a restart would know that the abort is not done.
 */
export async function abort(stores: Stores, as: Identity, upload: Upload): Promise<void> {
  const aborting = await beginAbort(stores, upload)
  if (aborting.temp !== undefined) await stores.namespace.collect([aborting.temp])
  await removeStoredParts(stores, as, aborting)
  await stores.metadata.replaceUpload(aborting, undefined)
  await cancelCleaning(stores, upload.id)
}

async function beginAbort(stores: Stores, upload: Upload): Promise<Upload> {
  let now: Upload | undefined = upload
  for (;;) {
    if (now === undefined || now.state === 'completed') throw noSuchUpload(upload.id)
    if (now.state === 'aborting') return now
    if (now.state === 'assembled') throw beingCompleted()
    if (await stores.metadata.replaceUpload(now, { ...now, state: 'aborting' })) {
      return { ...now, state: 'aborting', version: now.version + 1 }
    }
    now = await stores.metadata.upload(upload.id)
  }
}
