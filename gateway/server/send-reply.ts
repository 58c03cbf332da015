import type { Config } from '../config/properties.ts'
import type { FileBody, Reply, ReplyBody } from '../s3/reply.ts'
import { corsHeaders } from './cors.ts'
import type { Exchange } from './exchange.ts'
import { closeInPeace } from './linger.ts'
import { isPositionRead, readRange } from './read-range.ts'
import type { ReadRate } from './read-rate.ts'
import { hostId } from './request-id.ts'
import { sendFile } from './send-file.ts'

/** An unread body of at most this is taken and thrown away, so that the connection can be used again. */
const smallRemainder = 256 * 1024

/**
 * Writes the answer; resolves when it is handed to the connection, or the connection is gone. Whatever the body holds is
 * closed in every case. Throws what reading the body threw: when `response.headersSent` is false, an error document can
 * still be sent.
 */
export function sendReply(exchange: Exchange, reply: Reply, config: Config, rate: ReadRate): void | Promise<void> {
  const { response } = exchange
  if (exchange.gone) return disposeReply(reply)
  const headless = exchange.method === 'HEAD' || reply.status === 204 || reply.status === 304
  if (headless) disposeReply(reply)
  const body = headless ? undefined : reply.body
  const unread = exchange.body.complete
    ? 0
    : (exchange.body.length ?? Number.POSITIVE_INFINITY) - exchange.body.received
  const short = body === undefined || typeof body === 'string' || (Buffer.isBuffer(body) && !rate.limited)
  const lingers = unread > 0 && (exchange.body.withheld || unread > smallRemainder || !short)
  if (lingers) exchange.lastOfConnection = true

  const writeHead = () => {
    exchange.headMs = performance.now()
    exchange.status = reply.status
    exchange.replyHeaders = reply.headers
    response.writeHead(reply.status, headOf(exchange, reply, headless ? undefined : lengthOf(body), config))
  }
  if (!short) return sendLong(exchange, body, writeHead, config, rate)
  writeHead()
  const bytes = body ?? ''
  exchange.bytesSent = lengthOf(bytes) ?? 0
  if (lingers) closeInPeace(exchange, bytes)
  else response.end(bytes)
  if (unread > 0 && !lingers) exchange.body.discard()
}

async function sendLong(
  exchange: Exchange,
  body: Exclude<ReplyBody, string>,
  writeHead: () => void,
  config: Config,
  rate: ReadRate,
): Promise<void> {
  if (Buffer.isBuffer(body)) await sendShaped(exchange, body, writeHead, rate)
  else if ('file' in body && isPositionRead(body.length, config)) {
    await sendRead(exchange, await readRange(body), writeHead, rate)
  } else if ('file' in body) await sendFile(exchange, body, writeHead, rate)
  else await sendPieces(exchange, body, writeHead)
}

/** Sends an object that is in memory at the speed the read-rate limits allow. */
async function sendShaped(exchange: Exchange, body: Buffer, writeHead: () => void, rate: ReadRate): Promise<void> {
  const transfer = rate.begin(exchange.socket)
  try {
    writeHead()
    for (let position = 0; position < body.length && !exchange.gone; ) {
      const chunk = body.subarray(position, position + transfer.chunkSize())
      await transfer.take(chunk.length)
      await written(exchange, chunk)
      position += chunk.length
    }
    exchange.response.end()
  } finally {
    transfer.end()
  }
}

/** Sends a range of a file that was read into memory; resolves when the connection has taken it. */
async function sendRead(exchange: Exchange, bytes: Buffer, writeHead: () => void, rate: ReadRate): Promise<void> {
  if (rate.limited) return sendShaped(exchange, bytes, writeHead, rate)
  if (exchange.gone) return
  writeHead()
  await written(exchange, bytes)
  exchange.response.end()
}

/** Sends what is still being made, HTTP-chunked: the keepalive whitespace of a completion, then its document. */
async function sendPieces(
  exchange: Exchange,
  body: AsyncIterable<string | Buffer>,
  writeHead: () => void,
): Promise<void> {
  writeHead()
  for await (const piece of body) {
    if (exchange.gone) return
    await written(exchange, Buffer.from(piece))
  }
  exchange.response.end()
}

/** Resolves when the connection has taken the bytes, or is gone. */
function written(exchange: Exchange, bytes: Buffer): Promise<void> {
  const { socket, response } = exchange
  return new Promise((resolve) => {
    const done = () => {
      exchange.sendingSinceMs = 0
      socket.off('close', done)
      resolve()
    }
    socket.on('close', done)
    exchange.sendingSinceMs = performance.now()
    exchange.bytesSent += bytes.length
    response.write(bytes, done)
  })
}

/** Bytes of a body, undefined while it is still being made. */
function lengthOf(body: ReplyBody | undefined): number | undefined {
  if (body === undefined) return 0
  if (typeof body === 'string') return Buffer.byteLength(body)
  if (Buffer.isBuffer(body)) return body.length
  return 'file' in body ? (body as FileBody).length : undefined
}

/** The head as Node's fastest form: names and values in one flat array. */
function headOf(exchange: Exchange, reply: Reply, length: number | undefined, config: Config): string[] {
  const head = ['x-amz-request-id', exchange.id, 'x-amz-id-2', hostId, 'Server', 'S3Proxy']
  for (const name in reply.headers) head.push(name, reply.headers[name] as string)
  if (length !== undefined && reply.status !== 204) head.push('Content-Length', String(length))
  if (exchange.lastOfConnection) head.push('Connection', 'close')
  if (config.corsOrigins !== '') {
    for (const [name, value] of Object.entries(corsHeaders(config.corsOrigins, exchange.headers.origin))) {
      if (reply.headers[name] === undefined) head.push(name, value)
    }
  }
  return head
}

/** Closes what a reply holds that will not be sent. */
export function disposeReply({ body }: Reply): void {
  if (body === undefined || typeof body === 'string' || Buffer.isBuffer(body)) return
  if ('file' in body) body.file.close()
  else void body[Symbol.asyncIterator]().return?.()
}
