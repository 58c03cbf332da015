import type { Identity } from '../identity/identity.ts'
import type { Upload } from '../metadata/metadata.ts'
import type { Condition, StoredObject } from '../objects/objects.ts'
import { writeCondition } from '../s3/conditions.ts'
import { S3Error } from '../s3/errors.ts'
import type { Stores } from './stores.ts'
import type { Completion } from './uploads.ts'

/** What the conditional headers of CompleteMultipartUpload ask of the object that is there at publish. */
export function conditionOf(completion: Completion): { condition: Condition | undefined; ifAbsent: boolean } {
  return { condition: writeCondition(completion.ifMatch), ifAbsent: completion.ifNoneMatch !== undefined }
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
