import { createDigest, type Digest } from '../s3/checksum.ts'
import { S3Error } from '../s3/errors.ts'
import { incomingContent } from '../s3/incoming-content.ts'
import type { S3Request } from '../s3/request.ts'

/**
 * The document in the body of a request, whole, with any framing taken off and its digests compared.
 * Throws MaxMessageLengthExceeded above `maxBytes`, and as `incomingContent`.
 */
export async function readDocument(request: S3Request, maxBytes: number): Promise<Buffer> {
  const content = incomingContent(request)
  if (content.length !== undefined && content.length > maxBytes) throw tooLong(maxBytes)
  const chunks: Buffer[] = []
  let size = 0
  for await (const bytes of content.bytes()) {
    size += bytes.length
    if (size > maxBytes) throw tooLong(maxBytes)
    chunks.push(bytes)
  }
  const document = Buffer.concat(chunks, size)
  content.verify(new Map(content.digests.map((digest) => [digest, digestOf(digest, document)])), size)
  return document
}

function digestOf(digest: Digest, bytes: Buffer): Buffer {
  const state = createDigest(digest)
  state.update(bytes)
  return state.digest()
}

function tooLong(maxBytes: number): S3Error {
  return new S3Error(
    'MaxMessageLengthExceeded',
    `Your request was too big. A document here has at most ${maxBytes} bytes.`,
  )
}
