import { listObjectsParameters } from '../s3/list-parameters.ts'
import { listObjectsResult } from '../s3/xml/listings.ts'
import { bucketOf } from './address.ts'
import { listPage } from './list-page.ts'
import { operation } from './operation.ts'
import { xml } from './replies.ts'

export const ListObjects = operation({
  name: 'ListObjects',
  route: { method: 'GET', target: 'bucket' },
  pool: 'light',
  effect: 'read',
  summary: 'Lists the objects and folders of a bucket in byte order, page by page.',
  input(request) {
    const { name, path } = bucketOf(request)
    return { name, path, parameters: listObjectsParameters(request.query, name) }
  },
  async run({ name, path, parameters }, context) {
    const page = await listPage(context, path, parameters, false)
    return xml(listObjectsResult({ ...parameters, ...page, bucket: name }))
  },
})
