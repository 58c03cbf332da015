import type { Identity } from '../identity/identity.ts'
import { S3Error } from '../s3/errors.ts'
import { removeObject } from './remove.ts'
import type { Stores } from './stores.ts'

/** Removals of one request that are under way at the same time. */
const atOnce = 32

/**
 * Removes many keys, children before parents, so that a folder that is deleted along with all its entries is empty when
 * its turn comes: first the objects, then the folders, level by level from the deepest. Errors are per key.
 */
export async function removeObjects(
  stores: Stores,
  as: Identity,
  bucket: string,
  keys: readonly string[],
): Promise<(S3Error | undefined)[]> {
  const errors = new Array<S3Error | undefined>(keys.length)
  for (const level of levelsOf(keys)) {
    await inParallel(level, async (index) => {
      errors[index] = await failureOf(removeObject(stores, as, { bucket, key: keys[index] ?? '' }))
    })
  }
  return errors
}

/** Indices of the keys in groups whose order among themselves does not matter. */
function levelsOf(keys: readonly string[]): number[][] {
  const levels = new Map<number, number[]>()
  for (const [index, key] of keys.entries()) {
    const depth = key.endsWith('/') ? key.split('/').length : Number.POSITIVE_INFINITY
    const level = levels.get(depth)
    if (level === undefined) levels.set(depth, [index])
    else level.push(index)
  }
  return [...levels].sort(([a], [b]) => (a === b ? 0 : b > a ? 1 : -1)).map(([, level]) => level)
}

async function inParallel(indices: readonly number[], work: (index: number) => Promise<void>): Promise<void> {
  const rest = indices.values()
  const lane = async () => {
    for (const index of rest) await work(index)
  }
  await Promise.all(Array.from({ length: Math.min(atOnce, indices.length) }, lane))
}

async function failureOf(removal: Promise<void>): Promise<S3Error | undefined> {
  try {
    await removal
    return undefined
  } catch (error) {
    if (error instanceof S3Error) return error
    throw error
  }
}
