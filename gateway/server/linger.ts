import type { Exchange } from './exchange.ts'

/** How long a client that is still sending may go on until the connection is cut, in all and without a byte. */
const longestMs = 10_000
const idleMs = 2_000

/**
 * Sends the last answer of a connection whose request body was not read, then waits for the client to notice: closing at
 * once while it still sends would reset the connection, and a reset destroys the answer before it is read.
 */
export function closeInPeace(exchange: Exchange, body: string | Buffer): void {
  const { response, message, socket } = exchange
  const cut = () => socket.destroy()
  const deadline = setTimeout(cut, longestMs)
  const idle = setTimeout(cut, idleMs)
  socket.once('close', () => {
    clearTimeout(deadline)
    clearTimeout(idle)
  })
  // The head announces the length, so for the client the answer is complete; `end` would close the connection.
  if (body.length > 0) response.write(body, () => socket.end())
  else response.flushHeaders()
  message.removeAllListeners('data')
  message.on('data', () => idle.refresh())
  message.on('end', () => response.end())
  message.resume()
}
