import type { Config } from '../config/properties.ts'
import { type ChecksumType, checksumNames } from '../s3/checksum.ts'
import { completionMaxBytes, readCompletion } from '../s3/completion.ts'
import { writeConditions } from '../s3/conditions.ts'
import { S3Error } from '../s3/errors.ts'
import type { Reply } from '../s3/reply.ts'
import type { S3Request } from '../s3/request.ts'
import { completeMultipartUploadResult } from '../s3/xml/documents.ts'
import type { CompletedUpload } from '../uploads/uploads.ts'
import { targetOf } from './address.ts'
import { errorIn } from './error-in.ts'
import { keepalive } from './keepalive.ts'
import { operation } from './operation.ts'
import { readDocument } from './read-document.ts'
import { xml } from './replies.ts'
import { uploadIdIn } from './upload-id.ts'

export const CompleteMultipartUpload = operation({
  name: 'CompleteMultipartUpload',
  route: { method: 'POST', target: 'object', query: ['uploadId'] },
  pool: 'heavy',
  effect: 'write',
  summary: 'Makes the listed parts one object.',
  input(request) {
    const { ifMatch, ifNoneMatch } = writeConditions(request.headers)
    return {
      target: targetOf(request),
      bucket: request.bucket ?? '',
      id: uploadIdIn(request),
      expected: { ifMatch, ifNoneMatch, objectSize: objectSize(request), ...checksums(request) },
    }
  },
  async run({ target, bucket, id, expected }, { request, user, uploads, config }) {
    const { parts } = readCompletion(await readDocument(documentOnly(request), completionMaxBytes))
    const { done } = await uploads.complete(user, target, id, { parts, ...expected })
    const document = done.then((completed) => resultDocument(bucket, target.key, completed))
    if (!config.keepaliveEnabled) return xml(await document)
    return answerWithKeepalive(document, request, config)
  },
})

/**
 * The whitespace goes out from the first second on (spec §8); a completion that is done before is answered at once. The
 * specification has no error returned then (§7.3): the answer ends without a document, and uploads logs the failure.
 * With `keepalive.errors` an error is an ordinary answer as long as nothing has been sent, and a document after that.
 */
async function answerWithKeepalive(document: Promise<string>, request: S3Request, config: Config): Promise<Reply> {
  const reported = config.keepaliveErrors ? document : document.catch(() => '')
  const body = await keepalive(reported, config.keepaliveIntervalMs, (error) => errorIn(error, request))
  return { status: 200, headers: { 'Content-Type': 'application/xml' }, body }
}

function resultDocument(bucket: string, key: string, completed: CompletedUpload): string {
  return completeMultipartUploadResult({ bucket, key, ...completed })
}

function objectSize({ headers }: S3Request): number | undefined {
  const text = headers['x-amz-mp-object-size']
  if (text === undefined) return undefined
  if (/^\d{1,15}$/.test(text)) return Number(text)
  throw new S3Error('InvalidArgument', 'x-amz-mp-object-size must be a whole number of bytes.')
}

/** Its checksum headers are about the object, not about the document that is sent with them. */
function documentOnly({ id, method, resource, bucket, key, query, headers, body }: S3Request): S3Request {
  const own = Object.entries(headers).filter(([name]) => !/^x-amz-(sdk-)?checksum-/.test(name))
  return { id, method, resource, bucket, key, query, headers: Object.fromEntries(own), body }
}

/** The checksum that the finished object is to have. */
function checksums({ headers }: S3Request): { checksums?: Record<string, string>; checksumType?: ChecksumType } {
  const given = checksumNames.flatMap((name) => {
    const value = headers[`x-amz-checksum-${name}`]
    return value === undefined ? [] : [[name, value.trim()] as const]
  })
  const type = headers['x-amz-checksum-type']
  if (type !== undefined && type !== 'FULL_OBJECT' && type !== 'COMPOSITE') {
    throw new S3Error('InvalidRequest', 'Value for x-amz-checksum-type header is invalid.')
  }
  return {
    ...(given.length > 0 && { checksums: Object.fromEntries(given) }),
    ...(type !== undefined && { checksumType: type }),
  }
}
