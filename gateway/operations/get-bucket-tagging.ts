import { taggingDocument } from '../s3/xml/documents.ts'
import { bucketOf } from './address.ts'
import { operation } from './operation.ts'
import { xml } from './replies.ts'

export const GetBucketTagging = operation({
  name: 'GetBucketTagging',
  route: { method: 'GET', target: 'bucket', query: ['tagging'] },
  pool: 'light',
  effect: 'read',
  summary: 'Returns the tags of a bucket; an empty set when there are none.',
  input: bucketOf,
  run: async ({ path }, { user, buckets }) => xml(taggingDocument(await buckets.tags(user, path))),
})
