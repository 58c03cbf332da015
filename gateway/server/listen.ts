import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Listens; resolves with the port, which is a free one when `port` is 0. Rejects with an Error that is a sentence. */
export function listen(server: Server, hostname: string, port: number, property: string): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(new Error(sentence(error, hostname, port, property))))
    server.listen({ host: hostname, port, backlog: 4096 }, () => {
      server.removeAllListeners('error')
      resolve((server.address() as AddressInfo).port)
    })
  })
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
