import { Worker } from 'node:worker_threads'
import { type ErrorCode, S3Error } from '../s3/errors.ts'
import { type Answer, type Call, stateWords, type ThreadData } from './thread-messages.ts'

/** A call and who waits for it. */
export interface Waiting {
  readonly step: Call[1]
  readonly as: Call[2]
  readonly arguments_: Call[3]
  /** Memory handed over to the thread. */
  readonly transfer?: readonly ArrayBuffer[] | undefined
  /** Once sent, the step cannot run on another thread: it needs what that one has kept, or memory it was given. */
  readonly isBound: boolean
  /** What it counts for when the least loaded thread is looked for. */
  readonly weight: number
  resolve(value: unknown): void
  reject(error: unknown): void
}

/** A thread needs little but the memory of listings, which is not on its heap. */
const resourceLimits = { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 8, stackSizeMb: 1 }
/** How long a thread may take to begin, on a machine with much to do, and to end (ms). */
const startTimeoutMs = 20_000
const leaveTimeoutMs = 2000
/** Of a pause between two questions whether a thread is stuck, this much counts (ms). */
const longestPauseMs = 2000
/** Seconds after which a client may try again what a hanging file system has not answered. */
const retryAfter = '5'
const lost = 'the thread of this step was given up or has ended'

/** One worker thread, seen from the event loop. */
export class NamespaceThread {
  /** Sum of the weights of what it has to do. */
  load = 0
  readonly #worker: Worker
  readonly #state = new Int32Array(new SharedArrayBuffer(stateWords.count * 4))
  /** What was sent to it, by the number of the call, in that order. */
  readonly #waiting = new Map<number, Waiting>()
  readonly #started: Promise<boolean>
  #failure: unknown
  #isReady = false
  #isOver = false
  #number = 0
  #unsent: Waiting[] = []
  /** Its signs of life when last asked, when that was, and for how long there have been no new ones (ms). */
  #beats = 0
  #askedAt = performance.now()
  #stillMs = 0

  /** `onEnd` is called when the thread has ended by itself or after it was abandoned. */
  constructor(data: Omit<ThreadData, 'state'>, onEnd: () => void) {
    const workerData: ThreadData = { ...data, state: this.#state }
    const url = new URL('./thread.ts', import.meta.url)
    this.#worker = new Worker(url, { workerData, resourceLimits, name: 'namespace' })
    this.#worker.on('message', (answers: readonly Answer[]) => this.#settle(answers))
    this.#started = new Promise((resolve) => {
      this.#worker.once('message', () => {
        this.#isReady = true
        resolve(true)
      })
      this.#worker.once('exit', () => resolve(false))
    })
    // Without a listener it would end the process: here the steps fail, and the next one starts another thread.
    this.#worker.on('error', (error) => {
      this.#failure = error
    })
    this.#worker.once('exit', () => {
      this.#isOver = true
      onEnd()
    })
  }

  /** Resolves with whether it is at work. */
  get started(): Promise<boolean> {
    return this.#started
  }

  /** Why it has ended, if it broke. */
  get failure(): unknown {
    return this.#failure
  }

  /** Whether it takes steps no more. */
  get isOver(): boolean {
    return this.#isOver
  }

  /** Steps that it has to do. */
  get waiting(): number {
    return this.#unsent.length + this.#waiting.size
  }

  /** Takes a step; `post` sends it. */
  add(waiting: Waiting): void {
    if (this.waiting === 0) this.#stillMs = 0
    this.#unsent.push(waiting)
    this.load += waiting.weight
  }

  /** Sends what it was given, one user after the other, because to switch between them costs as much as a look. */
  post(): void {
    if (this.#unsent.length === 0 || this.#isOver) return
    const unsent = this.#unsent
    this.#unsent = []
    if (unsent.length > 1) unsent.sort((a, b) => (a.as?.uid ?? -1) - (b.as?.uid ?? -1))
    const calls: Call[] = []
    const memory: ArrayBuffer[] = []
    for (const waiting of unsent) {
      this.#number = (this.#number + 1) & highestNumber
      this.#waiting.set(this.#number, waiting)
      calls.push([this.#number, waiting.step, waiting.as, waiting.arguments_])
      if (waiting.transfer !== undefined) memory.push(...waiting.transfer)
    }
    this.#worker.postMessage(calls, memory)
  }

  /**
   * Whether it has had something to do for so long without a sign of life. Time in which nobody asked counts little: the
   * whole process may have been stopped.
   */
  isStuck(timeoutMs: number): boolean {
    const beats = Atomics.load(this.#state, stateWords.beats)
    const now = performance.now()
    const passed = Math.min(now - this.#askedAt, longestPauseMs)
    this.#askedAt = now
    this.#stillMs = beats !== this.#beats || this.#waiting.size === 0 ? 0 : this.#stillMs + passed
    this.#beats = beats
    return this.#stillMs > (this.#isReady ? timeoutMs : Math.max(timeoutMs, startTimeoutMs))
  }

  /**
   * Expects nothing of it any more: what it has begun fails, and what can run on another thread is returned. Should it
   * ever go on, it ends itself before its next step.
   */
  abandon(): Waiting[] {
    this.#isOver = true
    Atomics.store(this.#state, stateWords.abandoned, 1)
    this.#worker.unref()
    // Read after `abandoned` was set: the thread writes this first and then looks there, so it begins nothing more.
    const begun = Atomics.load(this.#state, stateWords.begun)
    const others = this.#unsent.filter(({ isBound }) => !isBound)
    for (const waiting of this.#unsent) if (waiting.isBound) waiting.reject(unavailable())
    for (const [number, waiting] of this.#waiting) {
      if (!waiting.isBound && isLater(number, begun)) others.push(waiting)
      else waiting.reject(unavailable())
    }
    this.#waiting.clear()
    this.#unsent = []
    this.load = 0
    return others
  }

  /**
   * Ends it; what is under way fails. It ends itself, for terminating it would crash the process while it still loads
   * native code (koffi; seen), and would wait for ever for one that is stuck in the kernel: that one is left behind.
   */
  async close(): Promise<void> {
    const ended = new Promise((resolve) => this.#worker.once('exit', resolve))
    for (const waiting of this.abandon()) waiting.reject(unavailable())
    if (!(await this.#started)) return
    this.#worker.ref()
    this.#worker.postMessage([])
    let timer: NodeJS.Timeout | undefined
    const late = new Promise((resolve) => {
      timer = setTimeout(resolve, leaveTimeoutMs)
    })
    await Promise.race([ended, late])
    clearTimeout(timer)
    this.#worker.unref()
  }

  #settle(answers: readonly Answer[]): void {
    for (const answer of answers) {
      const waiting = this.#waiting.get(answer[0])
      if (waiting === undefined) continue
      this.#waiting.delete(answer[0])
      this.load -= waiting.weight
      if (answer[1]) waiting.reject(errorOf(answer))
      else waiting.resolve(answer[2])
    }
  }
}

/** Its stack would only show this file, and cost more than the step: nothing being there is an everyday answer. */
function errorOf([, , code, message, cause]: Answer & { readonly 1: true }): S3Error {
  const limit = Error.stackTraceLimit
  Error.stackTraceLimit = 0
  const error = new S3Error(code as ErrorCode, message === '' ? undefined : message, { cause })
  Error.stackTraceLimit = limit
  return error
}

/** Numbers begin again after the highest; never are so many waiting that this could be mistaken. */
const highestNumber = 0x3fffffff

function isLater(number: number, other: number): boolean {
  const distance = (number - other) & highestNumber
  return distance > 0 && distance <= highestNumber >>> 1
}

/** The answer to a step whose thread is not to be relied on. */
export function unavailable(): S3Error {
  return new S3Error('ServiceUnavailable', 'The file system does not answer. Please try again.', {
    cause: lost,
    headers: { 'Retry-After': retryAfter },
  })
}

/** Whether a step may still be running, or have run, although it failed. */
export function isLost(error: unknown): boolean {
  return error instanceof S3Error && error.cause === lost
}
