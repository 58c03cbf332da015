import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import type { Identity } from '../identity/identity.ts'
import { S3Error } from '../s3/errors.ts'
import type { S3Request } from '../s3/request.ts'
import type { RoutedRequest } from '../s3/router.ts'
import type { AccessEntry } from '../telemetry/access-log.ts'
import { IncomingBody } from './incoming-body.ts'
import { hostId, newRequestId } from './request-id.ts'

const noQuery: ReadonlyMap<string, string> = new Map()

/** One request and its answer: what operations see as the request, and what is written about it in logs and metrics. */
export class Exchange implements S3Request, AccessEntry {
  readonly id = newRequestId()
  readonly startedMs = performance.now()
  readonly message: IncomingMessage
  readonly response: ServerResponse
  readonly socket: Socket
  readonly body: IncomingBody

  // Set when the address is understood.
  target: RoutedRequest['target'] = 'service'
  resource: string
  bucket: string | undefined
  key: string | undefined
  query: ReadonlyMap<string, string> = noQuery
  /** Those of the message, and what a presigned URL adds to them. */
  headers: Readonly<Record<string, string | undefined>>

  // Set on the way.
  operation: string | undefined
  identity: Identity | undefined
  status = 0
  errorCode: string | undefined
  bytesSent = 0
  /** Headers of the operation's reply. */
  replyHeaders: Readonly<Record<string, string>> = {}
  headMs = 0
  endMs = 0
  aborted = false
  /** The connection must not be used again. */
  lastOfConnection = false
  /** When the present wait for the client to take bytes began; 0 while there is none. */
  sendingSinceMs = 0

  constructor(message: IncomingMessage, response: ServerResponse, expectsContinue: boolean) {
    this.message = message
    this.response = response
    this.socket = message.socket
    this.resource = message.url ?? '/'
    const { headers } = message
    this.headers = headers as Record<string, string | undefined>
    const length = headers['transfer-encoding'] !== undefined ? undefined : Number(headers['content-length'] ?? 0)
    this.body = new IncomingBody(message, response, length, expectsContinue && length !== 0)
  }

  get method(): string {
    return this.message.method ?? 'GET'
  }

  /** Whether the head says how much body follows, be it none. */
  get announcesBody(): boolean {
    const { headers } = this.message
    return headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined
  }

  /** Nobody is there any more to take the answer. */
  get gone(): boolean {
    return this.socket.destroyed
  }

  /** The connection went away. */
  close(): void {
    this.body.fail(new S3Error('IncompleteBody', 'The connection was closed before the whole body had arrived.'))
  }

  // ---- for the access log --------------------------------------------------------------------------------------
  get startedAt(): Date {
    return new Date(performance.timeOrigin + this.startedMs)
  }
  get requestId(): string {
    return this.id
  }
  get hostId(): string {
    return hostId
  }
  get remoteAddress(): string {
    return this.socket.remoteAddress ?? ''
  }
  get remotePort(): number {
    return this.socket.remotePort ?? 0
  }
  get uri(): string {
    return this.message.url ?? ''
  }
  get httpVersion(): string {
    return this.message.httpVersion
  }
  get user(): string | undefined {
    return this.identity?.name
  }
  get group(): string | undefined {
    return this.identity === undefined ? undefined : String(this.identity.gid)
  }
  get authenticated(): boolean {
    return this.identity?.authenticated ?? false
  }
  get bytesReceived(): number {
    return this.body.received
  }
  get objectSize(): number | undefined {
    if (this.status >= 300) return undefined
    const reply = this.replyHeaders
    switch (this.operation) {
      case 'GetObject':
        return Number(reply['Content-Range']?.split('/')[1] ?? this.bytesSent)
      case 'HeadObject':
        return Number(reply['Content-Range']?.split('/')[1] ?? reply['Content-Length'])
      case 'PutObject':
      case 'UploadPart':
        return Number(this.headers['x-amz-decoded-content-length'] ?? this.body.received)
      default:
        return undefined
    }
  }
  get totalMs(): number {
    return this.endMs - this.startedMs
  }
  get turnAroundMs(): number {
    return (this.headMs || this.endMs) - this.startedMs
  }
  get tls(): { version: string; cipher: string } | undefined {
    const socket = this.socket as TLSSocket
    if (!socket.encrypted) return undefined
    return { version: socket.getProtocol() ?? '-', cipher: socket.getCipher().standardName }
  }
}
