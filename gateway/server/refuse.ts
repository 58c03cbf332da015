import type { Socket } from 'node:net'
import { S3Error } from '../s3/errors.ts'
import { errorReply } from './error-reply.ts'
import { hostId, newRequestId } from './request-id.ts'

/** Answers bytes that are no HTTP request with an error document and closes the connection. */
export function refuse(error: NodeJS.ErrnoException, socket: Socket): void {
  const id = newRequestId()
  const { status, headers, body } = errorReply(errorOf(error), { id, resource: '/' })
  const document = String(body)
  const head = [
    `HTTP/1.1 ${status} ${status === 431 ? 'Request Header Fields Too Large' : 'Bad Request'}`,
    `x-amz-request-id: ${id}`,
    `x-amz-id-2: ${hostId}`,
    'Server: S3Proxy',
    `Date: ${new Date().toUTCString()}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    `Content-Length: ${Buffer.byteLength(document)}`,
    'Connection: close',
  ]
  socket.end(`${head.join('\r\n')}\r\n\r\n${document}`)
  // What still comes is taken for a moment, so that the answer is not lost to a reset.
  socket.resume()
  setTimeout(() => socket.destroy(), 2000).unref()
}

function errorOf(error: NodeJS.ErrnoException): S3Error {
  switch (error.code) {
    case 'HPE_HEADER_OVERFLOW':
      return new S3Error('RequestHeaderSectionTooLarge')
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new S3Error('RequestTimeout', 'The head of the request did not arrive in time.')
    default:
      return new S3Error('InvalidRequest', 'This is not a well-formed HTTP/1.1 request.')
  }
}
