import type { Identity } from '../identity/identity.ts'
import type { Intent } from '../metadata/metadata.ts'
import type { Entry, FileId, Target } from '../namespace/namespace.ts'
import type { ChecksumAlgorithm } from '../s3/checksum.ts'
import { S3Error } from '../s3/errors.ts'
import type { ObjectRecord, Tag } from '../s3/object-record.ts'
import type { CopySource, CopyTarget, StoredObject, WrittenObject } from './objects.ts'
import { settle } from './publish.ts'
import { headObject, isRecorded } from './read.ts'
import { headersOf } from './record.ts'
import { isDurable, pathOf, type Stores } from './stores.ts'

/**
 * CopyObject onto itself with new metadata, without new bytes: a record for the file's next identity, then the new
 * modification time that gives it that identity (design §4). Undefined where a real copy is needed: the user is not the
 * file's owner, the file has no record to take the ETag from, or somebody outside has changed it just now.
 * Throws InvalidRequest when the metadata is not replaced, as S3 does.
 */
export async function renewObject(
  stores: Stores,
  as: Identity,
  source: CopySource,
  target: Target,
  object: CopyTarget,
): Promise<WrittenObject | undefined> {
  if (object.record === undefined) {
    throw new S3Error(
      'InvalidRequest',
      'This copy request is illegal because it is trying to copy an object to itself without changing its metadata. Send x-amz-metadata-directive: REPLACE.',
    )
  }
  const intent = await stores.metadata.begin({ path: pathOf(target), exclusive: true, durable: false })
  return renewUnder(intent, stores, as, source, target, { ...object, record: object.record })
}

async function renewUnder(
  intent: Intent,
  stores: Stores,
  as: Identity,
  source: CopySource,
  target: Target,
  object: CopyTarget & { readonly record: NonNullable<CopyTarget['record']> },
): Promise<WrittenObject | undefined> {
  let replaced: FileId | undefined
  try {
    const current = await headObject(stores, as, target)
    source.condition?.(current)
    if (object.ifAbsent) throw new S3Error('PreconditionFailed')
    object.condition?.(current)
    if (!isRecorded(current) || lacksChecksum(current.record, object.checksumAlgorithm)) return undefined
    const record = { ...contentOf(current.record), ...headersOf(object.record) }
    const entry = await replaceRecord(stores, as, target, current, record, object.tags ?? current.tags)
    if (entry === undefined) return undefined
    if (entry.id !== current.entry.id) replaced = current.entry.id
    if (isDurable(stores.config)) await stores.metadata.flush()
    return { record, size: entry.size, modifiedMs: entry.modifiedMs }
  } finally {
    settle(intent, replaced)
  }
}

async function replaceRecord(
  stores: Stores,
  as: Identity,
  target: Target,
  current: StoredObject,
  record: ObjectRecord,
  tags: readonly Tag[],
): Promise<Entry | undefined> {
  if (current.entry.kind === 'file') {
    return stores.namespace.renew(as, target, current.entry.id, (id) => stores.metadata.putRecord(id, record, tags))
  }
  const entry = await stores.namespace.stat(as, target, { forChange: true })
  await stores.metadata.putRecord(entry.id, record, tags)
  return entry
}

/** What a record says about the bytes, which stay: of a multipart object also its parts. */
function contentOf({ etag, checksums, checksumType, parts }: ObjectRecord): ObjectRecord {
  return {
    etag,
    ...(checksums !== undefined && { checksums }),
    ...(checksumType !== undefined && { checksumType }),
    ...(parts !== undefined && { parts }),
  }
}

function lacksChecksum(record: ObjectRecord, wanted: ChecksumAlgorithm | undefined): boolean {
  return wanted !== undefined && record.checksums?.[wanted.toLowerCase()] === undefined
}
