import { readTagging, taggingMaxBytes } from '../s3/tagging.ts'
import { bucketOf } from './address.ts'
import { operation } from './operation.ts'
import { readDocument } from './read-document.ts'
import { done } from './replies.ts'

export const PutBucketTagging = operation({
  name: 'PutBucketTagging',
  route: { method: 'PUT', target: 'bucket', query: ['tagging'] },
  pool: 'light',
  effect: 'write',
  summary: 'Replaces the tags of a bucket.',
  input: bucketOf,
  async run({ path }, { request, config, user, buckets }) {
    const body = await readDocument(request, taggingMaxBytes)
    await buckets.putTags(user, path, readTagging(body, config.taggingRestrictions))
    return done()
  },
})
