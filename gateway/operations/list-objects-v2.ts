import { writeToken } from '../s3/continuation-token.ts'
import { listObjectsV2Parameters } from '../s3/list-parameters.ts'
import { listObjectsV2Result } from '../s3/xml/listings.ts'
import { bucketOf } from './address.ts'
import { listPage } from './list-page.ts'
import { operation } from './operation.ts'
import { xml } from './replies.ts'

export const ListObjectsV2 = operation({
  name: 'ListObjectsV2',
  route: { method: 'GET', target: 'bucket', query: ['list-type=2'] },
  pool: 'light',
  effect: 'read',
  summary: 'Lists the objects and folders of a bucket in byte order, by continuation token.',
  input: (request) => ({ ...bucketOf(request), parameters: listObjectsV2Parameters(request.query) }),
  async run({ name, path, parameters }, context) {
    const page = await listPage(context, path, parameters, parameters.fetchOwner)
    const nextContinuationToken = page.next === undefined ? undefined : writeToken(page.next)
    return xml(listObjectsV2Result({ ...parameters, ...page, bucket: name, nextContinuationToken }))
  },
})
