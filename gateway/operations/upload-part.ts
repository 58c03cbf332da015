import { quote } from '../s3/etag.ts'
import { incomingContent } from '../s3/incoming-content.ts'
import { checksumHeaders } from '../s3/object-headers.ts'
import { partNumber } from '../s3/part-number.ts'
import { targetOf } from './address.ts'
import { operation } from './operation.ts'
import { done } from './replies.ts'
import { uploadIdIn } from './upload-id.ts'

export const UploadPart = operation({
  name: 'UploadPart',
  route: { method: 'PUT', target: 'object', query: ['uploadId', 'partNumber'] },
  pool: 'heavy',
  effect: 'write',
  summary: 'Stores a part of a multipart upload, in place of one of the same number.',
  input: (request) => ({
    target: targetOf(request),
    id: uploadIdIn(request),
    part: partNumber(request.query.get('partNumber')),
    content: incomingContent(request),
    // Who asks before sending is answered before anything is sent.
    stageFirst: request.headers.expect !== undefined,
  }),
  async run({ target, id, part, content, stageFirst }, { user, uploads }) {
    const { record } = await uploads.storePart(user, target, id, part, content, { stageFirst })
    return done({ ETag: quote(record.etag), ...checksumHeaders({ checksums: record.checksums }) })
  },
})
