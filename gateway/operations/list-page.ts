import type { ObjectPage } from '../objects/objects.ts'
import type { Owner } from '../s3/xml/documents.ts'
import type { ListedContent } from '../s3/xml/listings.ts'
import { inBucket } from './in-bucket.ts'
import type { Context } from './operation.ts'
import { ownerOf } from './owner.ts'

interface Asked {
  readonly prefix: string
  readonly delimiter: string
  readonly after: string
  readonly maxKeys: number
}

const nothing: ObjectPage = { contents: [], commonPrefixes: [], next: undefined }

/** One page of a bucket as the listing documents want it. Throws NoSuchBucket, AccessDenied. */
export async function listPage(
  { user, users, buckets, objects }: Context,
  bucket: string,
  { prefix, delimiter, after, maxKeys }: Asked,
  withOwner: boolean,
): Promise<{ contents: ListedContent[]; commonPrefixes: readonly string[]; next: string | undefined }> {
  const page = await inBucket(buckets, user, bucket, nothing, () =>
    objects.list(user, { bucket, prefix, delimiter, after, maxKeys }),
  )
  const owners = new Map<number, Owner>()
  const contents = page.contents.map(({ key, entry, record }) => {
    const listed = { key, size: entry.size, modifiedMs: entry.modifiedMs, etag: record.etag }
    if (!withOwner) return listed
    let owner = owners.get(entry.uid)
    if (owner === undefined) {
      owner = ownerOf(entry.uid, users)
      owners.set(entry.uid, owner)
    }
    return { ...listed, owner }
  })
  return { contents, commonPrefixes: page.commonPrefixes, next: page.next }
}
