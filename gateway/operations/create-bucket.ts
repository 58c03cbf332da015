import { checkBucketName } from '../s3/bucket-name.ts'
import { S3Error } from '../s3/errors.ts'
import { bucketOf } from './address.ts'
import { operation } from './operation.ts'
import { done } from './replies.ts'

/** The body (CreateBucketConfiguration) is of no meaning here and is not read. */
export const CreateBucket = operation({
  name: 'CreateBucket',
  route: { method: 'PUT', target: 'bucket' },
  pool: 'light',
  effect: 'write',
  summary: 'Makes a bucket that belongs to the acting user; one that is theirs already is fine.',
  input(request, config) {
    const { name, path } = bucketOf(request)
    if (config.bucketNamingRestrictions) checkBucketName(name)
    return { name, path }
  },
  async run({ name, path }, { user, buckets }) {
    try {
      await buckets.create(user, path)
    } catch (error) {
      if (!(error instanceof S3Error && error.code === 'BucketAlreadyOwnedByYou')) throw error
    }
    return done({ Location: `/${encodeURIComponent(name)}` })
  },
})
