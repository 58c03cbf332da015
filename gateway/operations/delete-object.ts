import { refuseDeleteConditions } from '../s3/conditions.ts'
import { targetOf } from './address.ts'
import { inBucket } from './in-bucket.ts'
import { operation } from './operation.ts'
import { noContent } from './replies.ts'

export const DeleteObject = operation({
  name: 'DeleteObject',
  route: { method: 'DELETE', target: 'object' },
  pool: 'light',
  effect: 'write',
  summary: 'Removes an object, or with a final slash an empty folder; a missing one is fine.',
  input(request) {
    refuseDeleteConditions(request.headers)
    return targetOf(request)
  },
  async run(target, { user, buckets, objects }) {
    await inBucket(buckets, user, target.bucket, undefined, () => objects.remove(user, target))
    return noContent
  },
})
