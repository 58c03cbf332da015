import type { Server, ServerResponse } from 'node:http'
import { createServer } from './node-http.ts'

export interface AdminOptions {
  /** False when no process answers. */
  readonly alive: () => Promise<boolean>
  readonly readiness: () => Promise<{ readonly ready: boolean }>
  /** Prometheus' text format. */
  readonly metrics: () => Promise<string>
}

/** Serves `/livez`, `/readyz` and `/metrics`; never data. */
export function createAdminServer(options: AdminOptions): Server {
  const pages: Record<string, (response: ServerResponse) => Promise<void>> = {
    '/livez': async (response) => {
      const alive = await options.alive()
      send(response, alive ? 200 : 503, 'application/json', JSON.stringify({ alive }))
    },
    '/readyz': async (response) => {
      const state = await options.readiness()
      send(response, state.ready ? 200 : 503, 'application/json', `${JSON.stringify(state, null, 2)}\n`)
    },
    '/metrics': async (response) => {
      send(response, 200, 'text/plain; version=0.0.4; charset=utf-8', await options.metrics())
    },
  }
  return createServer({ requestTimeout: 10_000 }, (request, response) => {
    const page = pages[(request.url ?? '/').replace(/\/?(\?.*)?$/, '')]
    if (page === undefined) {
      send(response, 404, 'text/plain', `Not found. There are ${Object.keys(pages).join(', ')}.\n`)
    } else if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.setHeader('Allow', 'GET, HEAD')
      send(response, 405, 'text/plain', 'Only GET and HEAD.\n')
    } else {
      page(response).catch((error) => send(response, 500, 'text/plain', `${error}\n`))
    }
  })
}

function send(response: ServerResponse, status: number, type: string, body: string): void {
  response.writeHead(status, { 'Content-Type': type, 'Content-Length': Buffer.byteLength(body) })
  response.end(body)
}
