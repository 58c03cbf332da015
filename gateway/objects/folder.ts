import { createHash } from 'node:crypto'
import type { Identity } from '../identity/identity.ts'
import type { Intent } from '../metadata/metadata.ts'
import type { Entry, Target } from '../namespace/namespace.ts'
import type { Digest } from '../s3/checksum.ts'
import { S3Error } from '../s3/errors.ts'
import type { IncomingContent } from '../s3/incoming-content.ts'
import { keepFolders } from './keep-folders.ts'
import type { FinishedObject, NewObject, WrittenObject } from './objects.ts'
import { ignoreRefusal, settle } from './publish.ts'
import { findObject } from './read.ts'
import { recordOf } from './record.ts'
import { isDurable, pathOf, type Stores } from './stores.ts'

/** Digests of no bytes. */
const emptyDigests: ReadonlyMap<Digest, Buffer> = new Map<Digest, Buffer>([
  ['MD5', createHash('md5').digest()],
  ['SHA1', createHash('sha1').digest()],
  ['SHA256', createHash('sha256').digest()],
  ['CRC32', Buffer.alloc(4)],
  ['CRC32C', Buffer.alloc(4)],
  ['CRC64NVME', Buffer.alloc(8)],
])

/** PutObject of `key/`: makes the folder. It has headers, metadata and tags like any object, but can hold no bytes. */
export async function writeFolder(
  stores: Stores,
  as: Identity,
  target: Target,
  content: IncomingContent,
  object: NewObject,
): Promise<WrittenObject> {
  refuseContent(content.length ?? 0)
  for await (const bytes of content.bytes()) refuseContent(bytes.length)
  content.verify(emptyDigests, 0)
  return makeFolder(stores, as, target, {
    ...object,
    record: recordOf(object.record, { digests: emptyDigests }, content),
  })
}

/**
 * Makes a folder and gives it its record, which is kept by the folder's identity: inode and birth time. There is
 * nothing to rename into place, so an intent of its own keeps conditional writers apart.
 */
export async function makeFolder(
  stores: Stores,
  as: Identity,
  target: Target,
  object: FinishedObject,
): Promise<WrittenObject> {
  const exclusive = object.condition !== undefined || object.ifAbsent === true
  const intent = await stores.metadata.begin({ path: pathOf(target), exclusive, durable: false })
  const entry = await madeUnder(intent, stores, as, target, object)
  await keepFolders(stores, as, target, entry.id).catch(ignoreRefusal)
  return { record: object.record, size: 0, modifiedMs: entry.modifiedMs }
}

async function madeUnder(
  intent: Intent,
  stores: Stores,
  as: Identity,
  target: Target,
  object: FinishedObject,
): Promise<Entry> {
  try {
    if (object.condition !== undefined || object.ifAbsent) {
      const current = await findObject(stores, as, target)
      if (object.ifAbsent && current !== undefined) throw new S3Error('PreconditionFailed')
      object.condition?.(current)
    }
    const entry = await stores.namespace.makeFolder(as, target)
    await stores.metadata.putRecord(entry.id, object.record, object.tags)
    if (isDurable(stores.config)) await stores.metadata.flush()
    return entry
  } finally {
    settle(intent)
  }
}

function refuseContent(length: number): void {
  if (length > 0) {
    throw new S3Error('InvalidRequest', 'A key that ends in a slash names a folder, which cannot have content.')
  }
}
