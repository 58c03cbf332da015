import { bucketOf } from './address.ts'
import { operation } from './operation.ts'
import { noContent } from './replies.ts'

export const DeleteBucketTagging = operation({
  name: 'DeleteBucketTagging',
  route: { method: 'DELETE', target: 'bucket', query: ['tagging'] },
  pool: 'light',
  effect: 'write',
  summary: 'Removes the tags of a bucket.',
  input: bucketOf,
  async run({ path }, { user, buckets }) {
    await buckets.putTags(user, path, [])
    return noContent
  },
})
