import { bucketOf } from './address.ts'
import { operation } from './operation.ts'
import { noContent } from './replies.ts'

export const DeleteBucket = operation({
  name: 'DeleteBucket',
  route: { method: 'DELETE', target: 'bucket' },
  pool: 'light',
  effect: 'write',
  summary: 'Removes an empty bucket.',
  input: bucketOf,
  async run({ path }, { user, buckets }) {
    await buckets.remove(user, path)
    return noContent
  },
})
