import type { Identity } from '../identity/identity.ts'
import type { ByteRange, Target } from '../namespace/namespace.ts'
import { S3Error } from '../s3/errors.ts'
import { emptyEtag } from '../s3/etag.ts'
import type { ObjectRecord } from '../s3/object-record.ts'
import { makeFolder } from './folder.ts'
import type { CopySource, CopyTarget, FinishedObject, ReadObject, WrittenObject } from './objects.ts'
import { readObject } from './read.ts'
import { computedFields, copiedFields, digestsToCompute, headersOf } from './record.ts'
import { renewObject } from './renew.ts'
import { makeObject } from './stage.ts'
import { isFolder, pathOf, type Stores } from './stores.ts'

/**
 * Makes a copy of (a range of) an object the object. Digests that the source's record has are taken over, and the
 * kernel copies then; others are computed while copying, in slices.
 */
export async function copyObject(
  stores: Stores,
  as: Identity,
  source: CopySource,
  target: Target,
  object: CopyTarget,
): Promise<WrittenObject> {
  if (pathOf(source.target) === pathOf(target) && source.range === undefined) {
    const renewed = await renewObject(stores, as, source, target, object)
    if (renewed !== undefined) return renewed
  }
  const from = await readObject(stores, as, source.target)
  try {
    source.condition?.(from)
    refuseOutside(source.range, from)
    return from.file === undefined || isFolder(target)
      ? await copyFolder(stores, as, from, target, object)
      : await copyFile(stores, as, from, source.range, target, object)
  } finally {
    from.file?.close()
  }
}

async function copyFile(
  stores: Stores,
  as: Identity,
  from: ReadObject,
  range: ByteRange | undefined,
  target: Target,
  object: CopyTarget,
): Promise<WrittenObject> {
  const { file } = from
  if (file === undefined) throw new S3Error('NoSuchKey')
  const size = range?.length ?? from.entry.size
  const whole = size === from.entry.size
  const digests = digestsToCompute(from, whole, object.checksumAlgorithm)
  return makeObject(stores, as, target, {
    displace: object.displace,
    stage: (temp, overFolder) =>
      stores.namespace.copy(as, file, range, target, { digests, overFolder, ...(temp !== undefined && { temp }) }),
    async complete(staged) {
      const copied = await staged.finish({ sync: false })
      if (copied.size !== size) {
        throw new S3Error('OperationAborted', 'The source was cut while it was copied. Send the request again.')
      }
      const kept = whole ? copiedFields(from.record) : undefined
      const record = {
        ...headersOf(object.record ?? from.record),
        etag: '',
        ...kept,
        ...computedFields(digests, copied),
      }
      return { file: copied, object: finished(object, record, from) }
    },
  })
}

/** A folder has no bytes: its copy is a folder, or an empty object; and an empty object's copy can be a folder. */
async function copyFolder(
  stores: Stores,
  as: Identity,
  from: ReadObject,
  target: Target,
  object: CopyTarget,
): Promise<WrittenObject> {
  if (from.entry.size > 0) {
    throw new S3Error('InvalidRequest', 'The target ends in a slash and so names a folder, which cannot have content.')
  }
  const made = finished(object, { ...headersOf(object.record ?? from.record), etag: emptyEtag }, from)
  if (isFolder(target)) return makeFolder(stores, as, target, made)
  return makeObject(stores, as, target, {
    displace: object.displace,
    stage: (temp, overFolder) =>
      stores.namespace.stage(as, target, {
        digests: [],
        overFolder,
        bytes: Buffer.alloc(0),
        ...(temp !== undefined && { temp }),
      }),
    complete: async (staged) => ({ file: await staged.finish({ sync: false }), object: made }),
  })
}

function finished(object: CopyTarget, record: ObjectRecord, from: ReadObject): FinishedObject {
  return { record, tags: object.tags ?? from.tags, condition: object.condition, ifAbsent: object.ifAbsent }
}

function refuseOutside(range: ByteRange | undefined, from: ReadObject): void {
  const { size } = from.entry
  if (range === undefined || range.start + range.length <= size) return
  throw new S3Error('InvalidArgument', `Range specified is not valid for source object of size: ${size}`)
}
