import type { FileBody } from '../s3/reply.ts'
import { ChunkBuffers, largestChunk } from './chunk-buffers.ts'
import type { Exchange } from './exchange.ts'
import { FileTruncated } from './file-truncated.ts'
import { readAt } from './read-range.ts'
import type { ReadRate } from './read-rate.ts'
import { sendDirect } from './send-direct.ts'

const buffers = new ChunkBuffers()

/**
 * Streams a range of an open file as the body of an answer, from the descriptor by positional reads. `writeHead` is
 * called once the first bytes are there, so that a file that cannot be read is still an error document. Resolves when
 * the client's connection has taken all, or is gone; closes the file in every case. Throws FileTruncated and what
 * reading threw.
 */
export async function sendFile(
  exchange: Exchange,
  body: FileBody,
  writeHead: () => void,
  rate: ReadRate,
): Promise<void> {
  const { response, socket } = exchange
  const transfer = rate.limited ? rate.begin(socket) : undefined
  // The callback of a write may never come when the connection goes away: its end wakes us too.
  let wake = () => {}
  const onClose = () => wake()
  socket.on('close', onClose)
  const taken = async (write: (done: () => void) => void) => {
    exchange.sendingSinceMs = performance.now()
    await new Promise<void>((resolve) => {
      wake = resolve
      write(resolve)
    })
    exchange.sendingSinceMs = 0
  }
  try {
    const end = body.start + body.length
    const begun = transfer === undefined ? await sendDirect(exchange, body, writeHead, taken) : body.start
    for (let position = begun; position < end; ) {
      const wanted = Math.min(end - position, transfer?.chunkSize() ?? largestChunk)
      const buffer = buffers.take(wanted)
      try {
        const size = await readAt(body.file.fd, buffer, Math.min(wanted, buffer.length), position)
        if (size === 0) throw new FileTruncated(position, end)
        await transfer?.take(size)
        if (exchange.gone) return
        if (!exchange.response.headersSent) writeHead()
        position += size
        const chunk = size === buffer.length ? buffer : buffer.subarray(0, size)
        await taken((done) => {
          if (position < end) response.write(chunk, done)
          else response.end(chunk, done)
        })
        if (exchange.gone && position < end) return
        exchange.bytesSent += size
      } finally {
        // The kernel may still read from the buffer of a write that was cut off: leave that one to the collector.
        exchange.gone ? buffers.forget(buffer) : buffers.give(buffer)
      }
    }
    if (begun === end && !exchange.gone) {
      if (!response.headersSent) writeHead()
      response.end()
    }
  } finally {
    socket.off('close', onClose)
    transfer?.end()
    body.file.close()
  }
}
