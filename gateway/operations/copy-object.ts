import { bucketPath } from '../s3/bucket-name.ts'
import { copySourceConditions, writeConditions } from '../s3/conditions.ts'
import { copySource } from '../s3/copy-source.ts'
import { S3Error } from '../s3/errors.ts'
import { recordFromHeaders } from '../s3/object-headers.ts'
import { copySourceRange } from '../s3/range.ts'
import { taggingHeader } from '../s3/tagging.ts'
import { refuseUnsupportedHeaders } from '../s3/unsupported.ts'
import { wantedAlgorithm } from '../s3/upload-checksum.ts'
import { copyObjectResult } from '../s3/xml/documents.ts'
import { targetOf } from './address.ts'
import { errorIn } from './error-in.ts'
import { keepalive } from './keepalive.ts'
import { operation } from './operation.ts'

export const CopyObject = operation({
  name: 'CopyObject',
  route: { method: 'PUT', target: 'object', header: 'x-amz-copy-source' },
  pool: 'heavy',
  effect: 'write',
  summary: 'Stores a copy of an object, or gives an object new metadata.',
  input(request, config) {
    const { headers } = request
    refuseUnsupportedHeaders(headers)
    const { condition, ifAbsent } = writeConditions(headers)
    const { bucket, key } = copySource(headers)
    const { metadataMaxSize, taggingRestrictions } = config
    return {
      target: targetOf(request),
      source: {
        target: { bucket: bucketPath(bucket), key },
        range: copySourceRange(headers['x-amz-copy-source-range']),
        condition: copySourceConditions(headers),
      },
      object: {
        record: replaces(headers['x-amz-metadata-directive'], 'x-amz-metadata-directive')
          ? recordFromHeaders(headers, metadataMaxSize)
          : undefined,
        tags: replaces(headers['x-amz-tagging-directive'], 'x-amz-tagging-directive')
          ? taggingHeader(headers['x-amz-tagging'], taggingRestrictions, metadataMaxSize)
          : undefined,
        condition,
        ifAbsent,
        checksumAlgorithm: wantedAlgorithm(headers),
      },
    }
  },
  async run({ target, source, object }, { request, user, objects, uploads }) {
    const displace = () => uploads.displace(user, target)
    const copied = objects.copy(user, source, target, { ...object, displace })
    const document = copied.then(({ record, modifiedMs }) => copyObjectResult({ ...record, modifiedMs }))
    const body = await keepalive(document, longestPauseMs, (error) => errorIn(error, request), patienceMs)
    return { status: 200, headers: { 'Content-Type': 'application/xml' }, body }
  },
})

/**
 * A copy that takes longer than this is answered 200 with whitespace until it is done, and errors are in the document
 * from then on, as on S3: else clients and proxies give up on copies of very large objects.
 */
const patienceMs = 10_000
const longestPauseMs = 20_000

/** COPY is the default. */
function replaces(directive: string | undefined, name: string): boolean {
  if (directive === undefined || directive === 'COPY') return false
  if (directive === 'REPLACE') return true
  throw new S3Error('InvalidArgument', `The value of ${name} must be COPY or REPLACE.`, {
    details: { ArgumentName: name, ArgumentValue: directive },
  })
}
