import { writeConditions } from '../s3/conditions.ts'
import { quote } from '../s3/etag.ts'
import { incomingContent } from '../s3/incoming-content.ts'
import { checksumHeaders, recordFromHeaders } from '../s3/object-headers.ts'
import { taggingHeader } from '../s3/tagging.ts'
import { targetOf } from './address.ts'
import { operation } from './operation.ts'
import { done } from './replies.ts'

export const PutObject = operation({
  name: 'PutObject',
  route: { method: 'PUT', target: 'object' },
  pool: 'heavy',
  effect: 'write',
  summary: 'Stores an object, or with a final slash makes a folder; under If-None-Match: * or If-Match.',
  input(request, config) {
    const { headers } = request
    const { condition, ifAbsent } = writeConditions(headers)
    return {
      target: targetOf(request),
      content: incomingContent(request),
      object: {
        record: recordFromHeaders(headers, config.metadataMaxSize),
        tags: taggingHeader(headers['x-amz-tagging'], config.taggingRestrictions, config.metadataMaxSize),
        condition,
        ifAbsent,
        stageFirst: headers.expect !== undefined,
      },
    }
  },
  async run({ target, content, object }, { user, objects, uploads }) {
    const displace = () => uploads.displace(user, target)
    const { record } = await objects.write(user, target, content, { ...object, displace })
    return done({ ETag: quote(record.etag), ...checksumHeaders(record) })
  },
})
