import type { Identity } from '../identity/identity.ts'
import type { BucketEntry } from '../namespace/namespace.ts'
import type { Tag } from '../s3/object-record.ts'

/** Buckets: directories with an owner and tags, and the bucket-path cache of spec §8. */
export interface Buckets {
  /** Path of a bucket name (`a:b:c` is `a/b/c`); throws InvalidBucketName. Asks nothing of the file system. */
  path(name: string): string
  /** Positive entries are kept for `svc.proxy.s3.bucketpathcache.timeout`. Throws NoSuchBucket. */
  head(as: Identity, path: string): Promise<BucketEntry>
  /**
   * Whether the bucket-path cache vouches for a bucket, so that it answers like an empty one where it is gone in truth.
   * Asks the file system for a bucket that is not cached; with the cache off the answer is false at no cost.
   */
  vouches(as: Identity, path: string): Promise<boolean>
  /** Only those owned by an authenticated user (spec §4, §5.6). */
  list(as: Identity): Promise<BucketEntry[]>
  create(as: Identity, path: string): Promise<void>
  remove(as: Identity, path: string): Promise<void>
  tags(as: Identity, path: string): Promise<readonly Tag[]>
  putTags(as: Identity, path: string, tags: readonly Tag[]): Promise<void>
}
