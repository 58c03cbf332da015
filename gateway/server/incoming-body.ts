import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Slot } from '../flow/admission.ts'
import { S3Error } from '../s3/errors.ts'
import type { RequestBody } from '../s3/request.ts'

/** Bytes that may wait here for the operation before the connection is told to pause. */
const highWater = 256 * 1024
const lowWater = 64 * 1024

/** The body of one request. The connection is not asked for a byte of it before the operation pulls. */
export class IncomingBody implements RequestBody, AsyncIterableIterator<Buffer> {
  readonly length: number | undefined
  /** Bytes that came so far. */
  received = 0
  /** Given by the admission; parked while the client makes us wait. */
  slot: Slot | undefined
  readonly #message: IncomingMessage
  readonly #response: ServerResponse
  #queue: Buffer[] = []
  #queued = 0
  #started = false
  #paused = false
  #ended: boolean
  #error: S3Error | undefined
  #discarding = false
  #wake: (() => void) | undefined
  /** When the present wait for the client began; 0 while there is none. */
  #waitingSinceMs = 0
  /** The client waits for `100 Continue` before it sends. */
  #expectsContinue: boolean

  constructor(
    message: IncomingMessage,
    response: ServerResponse,
    length: number | undefined,
    expectsContinue: boolean,
  ) {
    this.#message = message
    this.#response = response
    this.length = length
    this.#expectsContinue = expectsContinue
    this.#ended = length === 0
  }

  /** Whether all of it has arrived (or was never to come). */
  get complete(): boolean {
    return this.#ended
  }

  /** Whether the client still holds the body back because it was not told to send it. */
  get withheld(): boolean {
    return this.#expectsContinue
  }

  /** Milliseconds for which the operation has been waiting for the client. */
  get waitedMs(): number {
    return this.#waitingSinceMs === 0 ? 0 : performance.now() - this.#waitingSinceMs
  }

  stream(): AsyncIterable<Buffer> {
    return this
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  async next(): Promise<IteratorResult<Buffer>> {
    if (!this.#started) this.#start()
    if (this.#queue.length === 0 && !this.#ended && this.#error === undefined) await this.#arrival()
    const chunk = this.#queue.shift()
    if (chunk !== undefined) {
      this.#queued -= chunk.length
      if (this.#paused && this.#queued <= lowWater) {
        this.#paused = false
        this.#message.resume()
      }
      return { value: chunk, done: false }
    }
    if (this.#error !== undefined) throw this.#error
    return { value: undefined, done: true }
  }

  async return(): Promise<IteratorResult<Buffer>> {
    return { value: undefined, done: true }
  }

  async read(maxBytes: number): Promise<Buffer> {
    if (this.length !== undefined && this.length > maxBytes) throw tooLarge(maxBytes)
    const chunks: Buffer[] = []
    let size = 0
    for (let step = await this.next(); !step.done; step = await this.next()) {
      size += step.value.length
      if (size > maxBytes) throw tooLarge(maxBytes)
      // Nothing more can follow: the answer need not wait for the message's end event.
      if (size === this.length && chunks.length === 0) return step.value
      chunks.push(step.value)
    }
    return Buffer.concat(chunks, size)
  }

  /** Ends the body with an error, for whoever reads it now or later. */
  fail(error: S3Error): void {
    if (this.#ended || this.#error !== undefined) return
    this.#error = error
    this.#wakeUp()
  }

  /** Takes what still comes and throws it away, so that the connection can be used again or be closed in peace. */
  discard(): void {
    this.#discarding = true
    this.#queue = []
    this.#queued = 0
    if (this.#started) this.#message.resume()
    else this.#listen()
  }

  #start(): void {
    this.#started = true
    if (this.#ended || this.#error !== undefined) return
    if (this.#expectsContinue) {
      this.#expectsContinue = false
      this.#response.writeContinue()
    }
    this.#listen()
  }

  #listen(): void {
    this.#started = true
    this.#message.on('data', (chunk: Buffer) => this.#take(chunk))
    this.#message.on('end', () => {
      this.#ended = true
      this.#wakeUp()
    })
  }

  #take(chunk: Buffer): void {
    this.received += chunk.length
    if (this.#discarding) return
    this.#queue.push(chunk)
    this.#queued += chunk.length
    if (this.#queued >= highWater && !this.#paused) {
      this.#paused = true
      this.#message.pause()
    }
    this.#wakeUp()
  }

  async #arrival(): Promise<void> {
    this.slot?.park()
    this.#waitingSinceMs = performance.now()
    await new Promise<void>((resolve) => {
      this.#wake = resolve
    })
    this.#waitingSinceMs = 0
    await this.slot?.unpark()
  }

  #wakeUp(): void {
    const wake = this.#wake
    this.#wake = undefined
    wake?.()
  }
}

function tooLarge(maxBytes: number): S3Error {
  return new S3Error('EntityTooLarge', `The request body may not be larger than ${maxBytes} bytes.`)
}
