import type { Identity } from '../identity/identity.ts'
import type { ObjectMetadata } from '../metadata/metadata.ts'
import type { Entry, Opened, OpenOptions, Target } from '../namespace/namespace.ts'
import { S3Error } from '../s3/errors.ts'
import { emptyEtag, foreignEtag } from '../s3/etag.ts'
import type { ObjectRecord } from '../s3/object-record.ts'
import type { ReadObject, StoredObject } from './objects.ts'
import type { Stores } from './stores.ts'

/** Throws NoSuchKey, NoSuchBucket, AccessDenied. */
export async function headObject(stores: Stores, as: Identity, target: Target): Promise<StoredObject> {
  const entry = await stores.namespace.stat(as, target)
  const metadata = await stores.metadata.object(entry.id)
  if (metadata?.record !== undefined) return { entry, record: metadata.record, tags: metadata.tags }
  // No record: a file of others, or one whose record has expired since it was replaced. The second look tells.
  const again = await stores.namespace.stat(as, target)
  return together(again, again.id === entry.id ? metadata : await stores.metadata.object(again.id))
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
  const opened = await stores.namespace.open(as, target, options)
  const metadata = await metadataOf(stores, opened)
  if (metadata?.record !== undefined) return { ...opened, record: metadata.record, tags: metadata.tags }
  const now = await unlessFailed(opened, stores.namespace.stat(as, target))
  if (now.id === opened.entry.id) return { ...opened, ...together(opened.entry, metadata) }
  opened.file?.close()
  const again = await stores.namespace.open(as, target, options)
  return { ...again, ...together(again.entry, await metadataOf(stores, again)) }
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

/** Replaces the tags of an object or folder; asks for the permission to write to it. Throws NoSuchKey, AccessDenied. */
export async function putObjectTags(
  stores: Stores,
  as: Identity,
  target: Target,
  tags: Parameters<Stores['metadata']['putTags']>[1],
): Promise<void> {
  const entry = await stores.namespace.stat(as, target, { forChange: true })
  await stores.metadata.putTags(entry.id, tags)
}

/** Whether the record was made for this content by the gateway, not synthesised for a file of others. */
export function isRecorded(object: StoredObject): boolean {
  return object.entry.kind === 'folder' || object.record.etag !== foreignEtag(object.entry.id)
}

function metadataOf(stores: Stores, opened: Opened): Promise<ObjectMetadata | undefined> {
  return unlessFailed(opened, stores.metadata.object(opened.entry.id))
}

/** A descriptor belongs to the caller only once the call has succeeded. */
async function unlessFailed<T>(opened: Opened, step: Promise<T>): Promise<T> {
  try {
    return await step
  } catch (error) {
    opened.file?.close()
    throw error
  }
}

function together(entry: Entry, metadata: ObjectMetadata | undefined): StoredObject {
  return { entry, record: metadata?.record ?? synthesised(entry), tags: metadata?.tags ?? [] }
}

/** What a file or folder has that was not written through the gateway (design §4). */
export function synthesised(entry: Entry): ObjectRecord {
  return { etag: entry.kind === 'folder' ? emptyEtag : foreignEtag(entry.id) }
}
