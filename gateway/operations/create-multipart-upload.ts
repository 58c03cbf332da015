import { recordFromHeaders } from '../s3/object-headers.ts'
import { taggingHeader } from '../s3/tagging.ts'
import { refuseUnsupportedHeaders } from '../s3/unsupported.ts'
import { uploadChecksum } from '../s3/upload-checksum.ts'
import { initiateMultipartUploadResult } from '../s3/xml/documents.ts'
import { bucketOf, targetOf } from './address.ts'
import { operation } from './operation.ts'
import { xml } from './replies.ts'

export const CreateMultipartUpload = operation({
  name: 'CreateMultipartUpload',
  route: { method: 'POST', target: 'object', query: ['uploads'] },
  pool: 'light',
  effect: 'write',
  summary: 'Opens a multipart upload; its headers and tags are those of the object to be.',
  input(request, config) {
    const { headers } = request
    refuseUnsupportedHeaders(headers)
    const { algorithm, type } = uploadChecksum(headers)
    return {
      target: targetOf(request),
      bucket: bucketOf(request).name,
      upload: {
        record: recordFromHeaders(headers, config.metadataMaxSize),
        tags: taggingHeader(headers['x-amz-tagging'], config.taggingRestrictions, config.metadataMaxSize),
        checksumAlgorithm: algorithm,
        checksumType: type,
      },
    }
  },
  async run({ target, bucket, upload }, { user, uploads }) {
    const { id, checksumAlgorithm, checksumType } = await uploads.create(user, target, bucket, upload)
    const reply = xml(initiateMultipartUploadResult({ bucket, key: target.key, uploadId: id }))
    if (checksumAlgorithm === undefined || checksumType === undefined) return reply
    const checksum = { 'x-amz-checksum-algorithm': checksumAlgorithm, 'x-amz-checksum-type': checksumType }
    return { ...reply, headers: { ...reply.headers, ...checksum } }
  },
})
