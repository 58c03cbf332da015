import { bucketOf } from './address.ts'
import { operation } from './operation.ts'
import { done } from './replies.ts'

export const HeadBucket = operation({
  name: 'HeadBucket',
  route: { method: 'HEAD', target: 'bucket' },
  pool: 'light',
  effect: 'read',
  summary: 'Tells whether a bucket exists.',
  input: bucketOf,
  async run({ path }, { user, buckets }) {
    await buckets.head(user, path)
    return done({ 'Content-Length': '0' })
  },
})
