import type { IncomingMessage, Server, ServerOptions, ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { Socket } from 'node:net'
import type { Config } from '../config/properties.ts'
import { S3Error } from '../s3/errors.ts'
import { type AnswerOptions, answer } from './answer.ts'
import { Exchange } from './exchange.ts'
import { createServer } from './node-http.ts'
import { refuse } from './refuse.ts'

/** The exchange a connection is busy with: the latest when requests are pipelined. */
const current = Symbol('exchange of the connection')
type S3Socket = Socket & { [current]?: Exchange }

const connections = new WeakMap<Server, Set<S3Socket>>()

/** Largest head of a request. S3 takes 8 KB; metadata may be allowed to be larger here. */
const maxHeaderSize = 64 * 1024

export interface S3ServerOptions extends AnswerOptions {
  readonly tls: { readonly cert: string | Buffer; readonly key: string | Buffer } | undefined
}

/** A server of the S3 API, not yet listening. The only place that meets node:http's events. */
export function createS3Server(options: S3ServerOptions): Server {
  const { config } = options.services
  const settings: ServerOptions = {
    maxHeaderSize,
    // Bodies may take as long as they like while bytes come; heads may not.
    requestTimeout: 0,
    headersTimeout: config.idleTimeoutMs,
    connectionsCheckingInterval: Math.min(5000, Math.max(100, config.idleTimeoutMs / 4)),
    keepAliveTimeout: config.keepAliveTimeoutMs,
    noDelay: true,
    // Answered as XML by `answer`, not by Node's bare 400.
    requireHostHeader: false,
    optimizeEmptyRequests: true,
  }
  const server = options.tls ? createTlsServer({ ...settings, ...options.tls }) : createServer(settings)
  server.maxConnections = config.maxConnections
  server.timeout = config.idleTimeoutMs
  // A client that has sent its request and closed its half still gets its answer.
  ;(server as Server & { httpAllowHalfOpen: boolean }).httpAllowHalfOpen = true

  const begin = (message: IncomingMessage, response: ServerResponse, expects: 'nothing' | 'continue' | 'other') => {
    const exchange = new Exchange(message, response, expects === 'continue')
    const socket = message.socket as S3Socket
    if (socket[current] === undefined) socket.once('close', () => socket[current]?.close())
    socket[current] = exchange
    void answer(exchange, options, expects === 'other')
  }
  const open = new Set<S3Socket>()
  connections.set(server, open)
  server.on(options.tls ? 'secureConnection' : 'connection', (socket: S3Socket) => {
    open.add(socket)
    socket.once('close', () => open.delete(socket))
  })
  server.on('request', (message, response) => begin(message, response, 'nothing'))
  server.on('checkContinue', (message, response) => {
    const isEmpty = message.headers['content-length'] === '0'
    // Nobody will pull, and Node closes a connection on which 100 was expected and never sent.
    if (isEmpty) response.writeContinue()
    begin(message, response, isEmpty ? 'nothing' : 'continue')
  })
  server.on('checkExpectation', (message, response) => begin(message, response, 'other'))
  server.on('timeout', (socket: S3Socket) => onIdle(socket, config))
  server.on('clientError', (error: NodeJS.ErrnoException, socket: S3Socket) => onClientError(error, socket))
  server.on('tlsClientError', (_error, socket) => socket.destroy())
  return server
}

/**
 * Closes the connections on which no request is unanswered, for a server that takes no more of them: those that sent
 * half a head too, which node:http's closeIdleConnections takes for busy.
 */
export function closeQuietConnections(server: Server): void {
  for (const socket of connections.get(server) ?? []) closeWhenQuiet(socket)
}

function closeWhenQuiet(socket: S3Socket): void {
  const exchange = socket[current]
  if (exchange === undefined) {
    socket.destroy()
  } else if (exchange.endMs > 0 && exchange.message.complete) {
    // One whose body still comes is about to be closed in peace.
    if (exchange.response.writableFinished) socket.destroy()
    else exchange.response.once('finish', () => closeWhenQuiet(socket))
  }
}

/** Nothing moved on a connection for the idle timeout: whose fault is it? */
function onIdle(socket: S3Socket, config: Config): void {
  const exchange = socket[current]
  if (exchange === undefined || exchange.endMs > 0) {
    socket.destroy()
    return
  }
  const sendingMs = exchange.sendingSinceMs === 0 ? 0 : performance.now() - exchange.sendingSinceMs
  const waitedMs = Math.max(exchange.body.waitedMs, sendingMs)
  if (waitedMs < config.idleTimeoutMs * 0.9) {
    // We are at work ourselves, or the wait began later than the timer: look again.
    socket.setTimeout(Math.max(10, config.idleTimeoutMs - waitedMs))
    return
  }
  if (sendingMs > 0) socket.destroy()
  else {
    exchange.lastOfConnection = true
    exchange.body.fail(new S3Error('RequestTimeout'))
    socket.setTimeout(config.idleTimeoutMs)
  }
}

/** What came over a connection is not HTTP, or ended too early. */
function onClientError(error: NodeJS.ErrnoException, socket: S3Socket): void {
  const exchange = socket[current]
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy()
  } else if (exchange === undefined || exchange.endMs > 0) {
    refuse(error, socket)
  } else {
    // The request at work is answered; nothing after it can be understood.
    exchange.lastOfConnection = true
    if (!exchange.message.complete) exchange.body.fail(bodyError(error))
    if (exchange.response.headersSent) exchange.response.once('finish', () => socket.destroySoon())
  }
}

function bodyError(error: NodeJS.ErrnoException): S3Error {
  if (error.code === 'HPE_INVALID_EOF_STATE') return new S3Error('IncompleteBody')
  return new S3Error('InvalidRequest', 'The body is not framed as its headers say. Check Transfer-Encoding and chunks.')
}
