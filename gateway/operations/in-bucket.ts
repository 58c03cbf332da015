import type { Buckets } from '../buckets/buckets.ts'
import type { Identity } from '../identity/identity.ts'
import { S3Error } from '../s3/errors.ts'

/**
 * Runs work in a bucket that the bucket-path cache may vouch for: when the bucket is gone in truth, the answer is
 * `whenGone`, that of an empty one (spec §8: "stale entries make behaviour differ").
 */
export async function inBucket<T>(
  buckets: Buckets,
  user: Identity,
  path: string,
  whenGone: T,
  work: () => Promise<T>,
): Promise<T> {
  const vouched = await buckets.vouches(user, path)
  try {
    return await work()
  } catch (error) {
    if (vouched && error instanceof S3Error && error.code === 'NoSuchBucket') return whenGone
    throw error
  }
}
