import type { Identity } from '../identity/identity.ts'
import type { Upload } from '../metadata/metadata.ts'
import type { Condition, StoredObject } from '../objects/objects.ts'
import { S3Error } from '../s3/errors.ts'
import { unquote } from '../s3/etag.ts'
import type { Stores } from './stores.ts'
import type { Completion } from './uploads.ts'

/**
 * What the conditional headers of CompleteMultipartUpload ask of the object that is there at publish. S3 takes
 * If-None-Match with `*` only. `If-Match` on a key without object is NoSuchKey (seen on S3).
 */
export function conditionOf(completion: Completion): { condition?: Condition; ifAbsent: boolean } {
  const { ifMatch, ifNoneMatch } = completion
  const ifAbsent = ifNoneMatch !== undefined
  if (ifNoneMatch !== undefined && ifNoneMatch.trim() !== '*') {
    throw new S3Error('NotImplemented', 'If-None-Match is supported with * only.')
  }
  if (ifMatch === undefined) return { ifAbsent }
  return {
    ifAbsent,
    condition(current) {
      if (current === undefined) throw new S3Error('NoSuchKey')
      if (ifMatch.trim() === '*') return
      const matches = ifMatch.split(',').some((etag) => unquote(etag) === current.record.etag)
      if (!matches) throw new S3Error('PreconditionFailed', undefined, { details: { Condition: 'If-Match' } })
    },
  }
}

/** Refuses by what is there now, before anything is done; at publish it is asked again. */
export async function refuseByCondition(
  stores: Stores,
  as: Identity,
  upload: Upload,
  completion: Completion,
): Promise<void> {
  const { condition, ifAbsent } = conditionOf(completion)
  if (condition === undefined && !ifAbsent) return
  const current = await find(stores, as, upload)
  if (ifAbsent && current !== undefined) {
    throw new S3Error('PreconditionFailed', undefined, { details: { Condition: 'If-None-Match' } })
  }
  condition?.(current)
}

async function find(stores: Stores, as: Identity, upload: Upload): Promise<StoredObject | undefined> {
  try {
    return await stores.objects.head(as, { bucket: upload.bucket, key: upload.key })
  } catch (error) {
    if (error instanceof S3Error && error.code === 'NoSuchKey') return undefined
    throw error
  }
}
