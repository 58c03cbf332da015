import { versioningConfiguration } from '../s3/xml/documents.ts'
import { bucketOf } from './address.ts'
import { operation } from './operation.ts'
import { xml } from './replies.ts'

/** The specification lists versioning as unsupported; clients that ask are told that it was never on (design §1). */
export const GetBucketVersioning = operation({
  name: 'GetBucketVersioning',
  route: { method: 'GET', target: 'bucket', query: ['versioning'] },
  pool: 'light',
  effect: 'read',
  summary: 'Answers that the bucket never had versions.',
  input: bucketOf,
  async run({ path }, { user, buckets }) {
    await buckets.head(user, path)
    return xml(versioningConfiguration())
  },
})
