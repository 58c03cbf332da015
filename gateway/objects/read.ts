import type { Identity } from '../identity/identity.ts'
import type { ObjectMetadata } from '../metadata/metadata.ts'
import type { Entry, Opened, OpenOptions, Target } from '../namespace/namespace.ts'
import { S3Error } from '../s3/errors.ts'
import { emptyEtag, foreignEtag } from '../s3/etag.ts'
import type { ObjectRecord } from '../s3/object-record.ts'
import type { ReadObject, StoredObject } from './objects.ts'
import type { Stores } from './stores.ts'

/**
 * Records outlive their files by ten minutes (design §4). Who looks one up within this time of seeing the file and finds
 * none need not look at the file again: it has none, being of others.
 */
const trustedMs = 5 * 60_000

/** Throws NoSuchKey, NoSuchBucket, AccessDenied. */
export async function headObject(stores: Stores, as: Identity, target: Target): Promise<StoredObject> {
  const begunMs = Date.now()
  const entry = await stores.namespace.stat(as, target)
  const metadata = await stores.metadata.object(entry.id)
  if (metadata?.record !== undefined) return { entry, record: metadata.record, tags: metadata.tags }
  if (isTrusted(begunMs)) return together(entry, metadata)
  const now = await stores.namespace.stat(as, target)
  return together(now, await stores.metadata.object(now.id))
}

/**
 * Opens an object together with the metadata that belongs to this very content: the record is found by the identity of
 * the descriptor, so an overwrite meanwhile mixes nothing. Who gets a `file` closes it.
 */
export async function readObject(
  stores: Stores,
  as: Identity,
  target: Target,
  options?: OpenOptions,
): Promise<ReadObject> {
  const begunMs = Date.now()
  const opened = await stores.namespace.open(as, target, options)
  const metadata = await metadataOf(stores, opened)
  if (metadata?.record !== undefined) return { ...opened, record: metadata.record, tags: metadata.tags }
  if (isTrusted(begunMs)) return { ...opened, ...together(opened.entry, metadata) }
  opened.file?.close()
  const now = await stores.namespace.open(as, target, options)
  return { ...now, ...together(now.entry, await metadataOf(stores, now)) }
}

/** The object as conditions see it; undefined when nothing is there. */
export async function findObject(stores: Stores, as: Identity, target: Target): Promise<StoredObject | undefined> {
  try {
    return await headObject(stores, as, target)
  } catch (error) {
    if (error instanceof S3Error && error.code === 'NoSuchKey') return undefined
    throw error
  }
}

/** Whether the record was made for this content by the gateway, not synthesised for a file of others. */
export function isRecorded(object: StoredObject): boolean {
  return object.entry.kind === 'folder' || object.record.etag !== foreignEtag(object.entry.id)
}

/** A descriptor belongs to the caller only once the call has succeeded. */
async function metadataOf(stores: Stores, opened: Opened): Promise<ObjectMetadata | undefined> {
  try {
    return await stores.metadata.object(opened.entry.id)
  } catch (error) {
    opened.file?.close()
    throw error
  }
}

/** False after a stop of this process, a hung file system or a changed clock. */
function isTrusted(begunMs: number): boolean {
  const elapsedMs = Date.now() - begunMs
  return elapsedMs >= 0 && elapsedMs < trustedMs
}

function together(entry: Entry, metadata: ObjectMetadata | undefined): StoredObject {
  return { entry, record: metadata?.record ?? synthesised(entry), tags: metadata?.tags ?? [] }
}

/** What a file or folder has that was not written through the gateway (design §4). */
export function synthesised(entry: Entry): ObjectRecord {
  return { etag: entry.kind === 'folder' ? emptyEtag : foreignEtag(entry.id) }
}
