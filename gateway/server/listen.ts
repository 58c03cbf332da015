import { type AddressInfo, createServer, type Server } from 'node:net'

/**
 * Listens; resolves with the port, which is a free one when `port` is 0. Rejects with an Error that is a sentence.
 * With `shared` several processes listen on the port, each with a queue of its own that the kernel fills: a connection
 * belongs to one process from the start, so that the death of one resets its connections and no other. (node:cluster's
 * handing over of connections leaves those hanging for good that it was handing to a process as it died.)
 */
export function listen(
  server: Server,
  hostname: string,
  port: number,
  property: string,
  shared = false,
): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(new Error(sentence(error, hostname, port, property))))
    server.listen({ host: hostname, port, backlog: 4096, reusePort: shared, exclusive: true }, () => {
      server.removeAllListeners('error')
      resolve((server.address() as AddressInfo).port)
    })
  })
}

/**
 * Makes sure that nobody listens on a port that processes are about to share, for sharing would hide it; resolves with the
 * port, a free one for 0. Rejects as `listen`.
 */
export async function claimPort(hostname: string, port: number, property: string): Promise<number> {
  const server = createServer()
  const claimed = await listen(server, hostname, port, property)
  await new Promise((resolve) => server.close(resolve))
  return claimed
}

function sentence(error: NodeJS.ErrnoException, hostname: string, port: number, property: string): string {
  switch (error.code) {
    case 'EADDRINUSE':
      return `Port ${port} on ${hostname} is in use. Stop the program that uses it, or set ${property} to another port.`
    case 'EACCES':
      return `Port ${port} needs more rights than this process has. Set ${property} to a port above 1023.`
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return `${hostname} is no address of this machine. Set ${property.replace(/[^.]+$/, 'hostname')}.`
    default:
      return `Cannot listen on ${hostname}:${port} (${property}): ${error.message}.`
  }
}

/** Address to write into a URL for a listening address that may be a wildcard. */
export function reachable(hostname: string): string {
  if (hostname === '0.0.0.0' || hostname === '') return '127.0.0.1'
  if (hostname === '::') return '[::1]'
  return hostname.includes(':') ? `[${hostname}]` : hostname
}
