import { parseTarget } from '../s3/address.ts'
import { S3Error } from '../s3/errors.ts'
import { withPresignedHeaders } from '../s3/presigned-headers.ts'
import type { Reply } from '../s3/reply.ts'
import { preflightReply } from './cors.ts'
import { asS3Error, errorReply } from './error-reply.ts'
import type { Exchange } from './exchange.ts'
import { FileTruncated } from './file-truncated.ts'
import { handle, type Services } from './handle.ts'
import type { ReadRate } from './read-rate.ts'
import { disposeReply, sendReply } from './send-reply.ts'

/** What a server needs to answer. */
export interface AnswerOptions {
  readonly services: Services
  /** `/api/v1/s3`, or `` for the alias at the root. */
  readonly basePath: string
  readonly rate: ReadRate
  /** The process is draining: answers are the last of their connection. */
  readonly draining: () => boolean
  /** Told of every exchange that has ended, for access log and metrics. */
  readonly ended: (exchange: Exchange) => void
  /** Told of every fault of ours. */
  readonly failed: (exchange: Exchange, error: unknown) => void
}

/** From request to answer. Never rejects: the one place that turns errors into error documents. */
export async function answer(exchange: Exchange, options: AnswerOptions, unknownExpectation: boolean): Promise<void> {
  const { services, rate } = options
  const { config } = services
  let reply: Reply
  try {
    address(exchange, options, unknownExpectation)
    if (exchange.method === 'OPTIONS') reply = preflight(exchange, config.corsOrigins)
    else reply = await handle(exchange, services)
  } catch (error) {
    reply = errored(exchange, error, options)
  }
  if (options.draining()) exchange.lastOfConnection = true
  try {
    await sendReply(exchange, reply, config, rate)
  } catch (error) {
    if (exchange.response.headersSent) {
      // The head promised what we cannot give: only the end of the connection tells the client.
      exchange.aborted = true
      exchange.socket.destroy()
      options.failed(exchange, error instanceof FileTruncated ? error.message : error)
    } else {
      disposeReply(reply)
      await sendReply(exchange, errored(exchange, error, options), config, rate)
    }
  }
  if (exchange.gone && !exchange.response.writableFinished) exchange.aborted = true
  exchange.endMs = performance.now()
  exchange.body.slot?.end()
  options.ended(exchange)
}

/** Finds out what the request is about. Throws InvalidURI, InvalidRequest and what `parseTarget` throws. */
function address(exchange: Exchange, { basePath }: AnswerOptions, unknownExpectation: boolean): void {
  const { message } = exchange
  if (unknownExpectation) throw new S3Error('InvalidRequest', 'Only 100-continue may be expected (header Expect).')
  if (message.headers.host === undefined && message.httpVersion === '1.1') {
    throw new S3Error('InvalidRequest', 'An HTTP/1.1 request must have a Host header.')
  }
  const target = parseTarget(message.url ?? '/', basePath)
  if (target === undefined) {
    throw new S3Error(
      'NoSuchBucket',
      `This is not below the S3 endpoint. Give clients the endpoint http://<host>:<port>${basePath}`,
    )
  }
  exchange.target = target.target
  exchange.resource = target.resource
  exchange.bucket = target.bucket
  exchange.key = target.key
  exchange.query = target.query
  exchange.headers = withPresignedHeaders(exchange.headers, target.query)
}

function preflight(exchange: Exchange, origins: string): Reply {
  const reply = preflightReply(origins, exchange.headers)
  if (reply) return reply
  throw new S3Error('AccessDenied', 'This CORS request is not allowed (svc.proxy.web.cors.origins).')
}

function errored(exchange: Exchange, error: unknown, options: AnswerOptions): Reply {
  const s3Error = asS3Error(error)
  exchange.errorCode = s3Error.code
  if (s3Error.status === 500) options.failed(exchange, s3Error.cause ?? s3Error)
  return errorReply(s3Error, exchange)
}
