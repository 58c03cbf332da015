import { listAllMyBucketsResult } from '../s3/xml/documents.ts'
import { operation } from './operation.ts'
import { ownerOf } from './owner.ts'
import { xml } from './replies.ts'

export const ListBuckets = operation({
  name: 'ListBuckets',
  route: { method: 'GET', target: 'service' },
  pool: 'light',
  effect: 'read',
  summary: 'Lists the buckets that belong to the authenticated user; without one there are none.',
  input: () => undefined,
  async run(_input, { user, users, buckets }) {
    const owned = await buckets.list(user)
    return xml(
      listAllMyBucketsResult({
        owner: ownerOf(user.uid, users),
        buckets: owned.map(({ path, createdMs }) => ({ name: path, createdMs })),
      }),
    )
  },
})
