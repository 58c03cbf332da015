import { locationConstraint } from '../s3/xml/documents.ts'
import { bucketOf } from './address.ts'
import { operation } from './operation.ts'
import { xml } from './replies.ts'

/** The specification lists it as unsupported, but many clients ask it first (design §1). */
export const GetBucketLocation = operation({
  name: 'GetBucketLocation',
  route: { method: 'GET', target: 'bucket', query: ['location'] },
  pool: 'light',
  effect: 'read',
  summary: 'Answers an empty location, which clients take for us-east-1.',
  input: bucketOf,
  async run({ path }, { user, buckets }) {
    await buckets.head(user, path)
    return xml(locationConstraint())
  },
})
