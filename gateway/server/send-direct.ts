import { readSync } from 'node:fs'
import type { Socket } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import type { DirectSend } from '../namespace/namespace.ts'
import type { FileBody } from '../s3/reply.ts'
import type { Exchange } from './exchange.ts'
import { FileTruncated } from './file-truncated.ts'

/** Bytes handed over in one call, and in one turn of the event loop: others wait for so long at most. */
const piece = 2 ** 20
const mostPerTurn = 2 * piece
/** Copied and written in the ordinary way when the socket is full, to be told when it is not any more. */
const blockSize = 16 * 1024

/**
 * Sends the body of an answer from memory within the kernel, as far as the file is there (sendfile: a third of the CPU
 * of reading and writing). Neither disk nor client is waited for on the event loop. `writeHead` is called before the
 * first byte; `taken` resolves when the client has taken what it writes, or is gone. Returns the position up to which the body is sent; the rest, all of it with TLS, is to be streamed.
 * Throws FileTruncated.
 */
export function sendDirect(
  exchange: Exchange,
  body: FileBody,
  writeHead: () => void,
  taken: Taken,
): number | Promise<number> {
  const { direct } = body.file
  const isPossible =
    direct !== undefined &&
    body.length > 0 &&
    !('encrypted' in exchange.socket) &&
    direct.isCached(body.start, Math.min(body.length, piece))
  if (!isPossible) return body.start
  writeHead()
  exchange.response.flushHeaders()
  return send(exchange, body, direct, taken)
}

type Taken = (write: (done: () => void) => void) => Promise<void>

async function send(exchange: Exchange, body: FileBody, direct: DirectSend, taken: Taken): Promise<number> {
  const end = body.start + body.length
  let position = body.start
  let sentInTurn = 0
  while (position < end && !exchange.gone) {
    const length = Math.min(end - position, piece)
    // Once a part is not there, the rest comes from the disk, read ahead of us: not to be waited for here.
    if (!direct.isCached(position, length)) return position
    const fd = idleDescriptor(exchange)
    const sent = fd === undefined ? 0 : direct.sendTo(fd, position, length)
    if (sent > 0) {
      position += sent
      exchange.bytesSent += sent
      sentInTurn += sent
      if (sentInTurn < mostPerTurn) continue
      await turn()
    } else {
      const block = Buffer.allocUnsafe(Math.min(length, blockSize))
      const size = readSync(body.file.fd, block, 0, block.length, position)
      if (size === 0) throw new FileTruncated(position, end)
      await taken((done) => exchange.response.write(size === block.length ? block : block.subarray(0, size), done))
      position += size
      exchange.bytesSent += size
    }
    sentInTurn = 0
  }
  return position
}

type Handled = Socket & { readonly _handle?: { readonly fd?: number } | null }

/**
 * Descriptor of the connection while it is this answer's turn (not so with an earlier request of a pipeline unanswered)
 * and Node holds nothing back that must go first.
 */
function idleDescriptor({ response, socket }: Exchange): number | undefined {
  if (response.socket !== socket || socket.writableLength > 0 || response.writableLength > 0) return undefined
  const fd = (socket as Handled)._handle?.fd
  return fd !== undefined && fd >= 0 ? fd : undefined
}
