import { openSync } from 'node:fs'
import type { Server } from 'node:http'
import type { Operation } from '../operations/operation.ts'
import type { Reply } from '../s3/reply.ts'
import type { S3Request } from '../s3/request.ts'
import type { Exchange } from './exchange.ts'
import { configWith, fakeServices } from './fake-services.fixture.ts'
import { listen } from './listen.ts'
import { RawClient } from './raw-client.fixture.ts'
import { ReadRateLimits } from './read-rate.ts'
import { createS3Server } from './s3-server.ts'

export interface RunningServer {
  readonly port: number
  readonly server: Server
  /** Exchanges that have ended, in order. */
  readonly ended: Exchange[]
  /** Faults that were reported. */
  readonly failures: unknown[]
  client(): RawClient
  /** The next exchange that ends from now on. */
  nextEnd(): Promise<Exchange>
  close(): Promise<void>
}

type Run = (request: S3Request) => Promise<Reply>

/** An operation of the fake table: its route and what it does. */
export function fake(route: Operation<unknown>['route'], name: string, run: Run): Operation<unknown> {
  return {
    name,
    route,
    pool: 'light',
    effect: route.method === 'GET' || route.method === 'HEAD' ? 'read' : 'write',
    summary: '',
    input: (request) => request,
    run: (input) => run(input as S3Request),
  }
}

/** A server with a table of fake operations: nothing below it but what a test makes up. */
export async function startFakeServer(
  operations: readonly Operation<unknown>[],
  properties: Readonly<Record<string, string | number | boolean>> = {},
): Promise<RunningServer> {
  const config = configWith(properties)
  const ended: Exchange[] = []
  const failures: unknown[] = []
  const clients: RawClient[] = []
  let told = (_exchange: Exchange) => {}
  const megabytes = () => (config.globalReadRateLimitMb > 0 ? config.globalReadRateLimitMb * 2 ** 20 : undefined)
  const server = createS3Server({
    services: fakeServices(config, operations),
    tls: undefined,
    basePath: '/api/v1/s3',
    rate: new ReadRateLimits(config, megabytes, () => {}),
    draining: () => false,
    ended(exchange) {
      ended.push(exchange)
      told(exchange)
    },
    failed: (_exchange, error) => failures.push(error),
  })
  const port = await listen(server, '127.0.0.1', 0, 'svc.proxy.web.port')
  return {
    port,
    server,
    ended,
    failures,
    client() {
      const client = new RawClient(port)
      clients.push(client)
      return client
    },
    nextEnd: () =>
      new Promise((resolve) => {
        told = resolve
      }),
    async close() {
      for (const { socket } of clients) socket.destroy()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** An open file for a reply, and whether it was closed. */
export function openFile(path: string, size: number) {
  const file = {
    fd: openSync(path, 'r'),
    size,
    closed: false,
    close() {
      file.closed = true
    },
  }
  return file
}
