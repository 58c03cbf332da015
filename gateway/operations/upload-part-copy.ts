import { bucketPath } from '../s3/bucket-name.ts'
import { copySourceConditions } from '../s3/conditions.ts'
import { copySource } from '../s3/copy-source.ts'
import { partNumber } from '../s3/part-number.ts'
import { copySourceRange } from '../s3/range.ts'
import { copyPartResult } from '../s3/xml/documents.ts'
import { targetOf } from './address.ts'
import { operation } from './operation.ts'
import { xml } from './replies.ts'
import { uploadIdIn } from './upload-id.ts'

export const UploadPartCopy = operation({
  name: 'UploadPartCopy',
  route: { method: 'PUT', target: 'object', query: ['uploadId', 'partNumber'], header: 'x-amz-copy-source' },
  pool: 'heavy',
  effect: 'write',
  summary: 'Stores an object, or a range of one, as a part of a multipart upload.',
  input(request) {
    const { headers } = request
    const source = copySource(headers)
    return {
      target: targetOf(request),
      id: uploadIdIn(request),
      part: partNumber(request.query.get('partNumber')),
      source: {
        target: { bucket: bucketPath(source.bucket), key: source.key },
        range: copySourceRange(headers['x-amz-copy-source-range']),
        condition: copySourceConditions(headers),
      },
    }
  },
  async run({ target, id, part, source }, { user, uploads }) {
    const { record, modifiedMs } = await uploads.copyPart(user, target, id, part, source)
    return xml(copyPartResult({ etag: record.etag, modifiedMs, checksums: record.checksums }))
  },
})
