import { LRUCache } from 'lru-cache'
import type { Config } from '../config/properties.ts'
import type { Identity } from '../identity/identity.ts'
import type { Metadata } from '../metadata/metadata.ts'
import type { BucketEntry, Namespace } from '../namespace/namespace.ts'
import { bucketPath } from '../s3/bucket-name.ts'
import { S3Error } from '../s3/errors.ts'
import type { Buckets } from './buckets.ts'

export interface BucketsOptions {
  readonly config: Config
  readonly namespace: Namespace
  readonly metadata: Metadata
}

/** As many paths as the reference keeps (FACTS §14). */
const cachedPaths = 65_536
/** As for object records: readers may still hold the identity. */
const expiryGraceMs = 10 * 60_000

/** Buckets over a namespace and a metadata store. Keeps nothing itself but the bucket-path cache. */
export function createBuckets({ config, namespace, metadata }: BucketsOptions): Buckets {
  const found = new LRUCache<string, BucketEntry>({ max: cachedPaths, allowStale: false })

  async function head(as: Identity, path: string): Promise<BucketEntry> {
    const ttl = config.bucketPathCacheTimeoutMs
    // A cached path answers whoever asks, as in the reference: seeing a bucket needs no permission on it.
    const cached = ttl > 0 ? found.get(path) : undefined
    if (cached !== undefined) return cached
    const entry = await namespace.statBucket(as, path)
    if (ttl > 0) found.set(path, entry, { ttl })
    return entry
  }

  return {
    path: bucketPath,
    head,
    async vouches(as, path) {
      if (config.bucketPathCacheTimeoutMs <= 0) return false
      await head(as, path)
      return true
    },
    async list(as) {
      if (!as.authenticated) return []
      const entries = await namespace.listBuckets(as)
      return entries.filter(({ uid }) => uid === as.uid)
    },
    async create(as, path) {
      await namespace.createBucket(as, path)
    },
    async remove(as, path) {
      const { id } = await namespace.statBucket(as, path)
      await namespace.removeBucket(as, path)
      // The bucket is gone: tags that stay behind do no harm, as the next bucket has another identity.
      await metadata.expire([id], expiryGraceMs).catch(ignoreRefusal)
    },
    async tags(as, path) {
      const { id } = await namespace.statBucket(as, path)
      return (await metadata.object(id))?.tags ?? []
    },
    async putTags(as, path, tags) {
      const { id } = await namespace.statBucket(as, path, { forChange: true })
      await metadata.putTags(id, tags)
      if (config.writeType !== 'MUST_CACHE') await metadata.flush()
    },
  }
}

function ignoreRefusal(error: unknown): void {
  if (!(error instanceof S3Error)) throw error
}
