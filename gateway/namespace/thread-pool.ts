import { Worker } from 'node:worker_threads'
import { type ErrorCode, S3Error } from '../s3/errors.ts'
import type { ActingUser } from './acting-user.ts'
import type { StepArguments, StepName, StepResult } from './steps/index.ts'
import { type Answer, type Call, stateWords, type ThreadData } from './thread-messages.ts'

export interface ThreadPoolOptions {
  readonly threads: number
  /** A thread that makes no progress for so long is given up: its step is answered 503. */
  readonly stepTimeoutMs: number
  readonly data: Omit<ThreadData, 'state'>
}

export interface RunOptions {
  /** Steps of the same number run on the same thread, as long as it lives. */
  readonly affinity?: number
  /** Memory handed over to the thread. */
  readonly transfer?: readonly ArrayBuffer[]
}

/** Calls that may be under way or wait; beyond that: SlowDown. */
const mostCalls = 16_384
/** Threads that hang in the kernel and were replaced; with more of them, those that are left must do. */
const mostAbandoned = 8
/** Seconds after which a client may try again what a hanging file system has not answered. */
const retryAfter = '5'
/** A thread needs little but the memory of listings, which is not on its heap. */
const resourceLimits = { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 8, stackSizeMb: 1 }
/** What a long step counts for when the least loaded thread is looked for. */
const weights: Partial<Record<StepName, number>> = { list: 4, listBuckets: 4, copySlice: 4, copyDigested: 4 }

interface Waiting {
  readonly call: Call
  readonly options: RunOptions | undefined
  readonly weight: number
  resolve(value: unknown): void
  reject(error: unknown): void
}

interface Thread {
  readonly worker: Worker
  readonly state: Int32Array<SharedArrayBuffer>
  readonly waiting: Map<number, Waiting>
  calls: Call[]
  memory: ArrayBuffer[]
  load: number
  /** Its count of beats when last looked at, and when that had changed or it had begun to work (ms). */
  beats: number
  beatsChanged: number
}

/**
 * Threads that run the steps of the namespace. Calls made in one turn of the event loop travel in one message, and so do
 * their answers: at 64 requests at a time that makes a step three times as cheap. A thread stuck in the kernel (a dead
 * NFS server) is given up and replaced, and what waited behind it runs on another.
 */
export class ThreadPool {
  readonly #options: ThreadPoolOptions
  readonly #threads: Thread[] = []
  readonly #abandoned = new Set<Worker>()
  readonly #watch: NodeJS.Timeout
  #waiting = 0
  #number = 0
  #isScheduled = false
  #isClosed = false

  constructor(options: ThreadPoolOptions) {
    this.#options = options
    while (this.#threads.length < options.threads) this.#threads.push(this.#start())
    this.#watch = setInterval(() => this.#giveUpStuck(), Math.min(Math.max(options.stepTimeoutMs / 4, 10), 1000))
    this.#watch.unref()
  }

  /** Runs a step on a thread. Throws its S3Error, SlowDown, or ServiceUnavailable when the file system hangs. */
  run<N extends StepName>(
    step: N,
    as: ActingUser | undefined,
    arguments_: StepArguments<N>,
    options?: RunOptions,
  ): Promise<StepResult<N>> {
    return new Promise((resolve, reject) => {
      this.#dispatch({
        call: [0, step, as, arguments_],
        options,
        weight: weights[step] ?? 1,
        resolve: resolve as (value: unknown) => void,
        reject,
      })
    })
  }

  /** Ends the threads; what is under way is answered ServiceUnavailable. */
  async close(): Promise<void> {
    this.#isClosed = true
    clearInterval(this.#watch)
    const threads = this.#threads.splice(0)
    for (const thread of threads) for (const waiting of thread.waiting.values()) waiting.reject(unavailable())
    await Promise.all(threads.map(({ worker }) => worker.terminate()))
  }

  #dispatch(waiting: Waiting): void {
    const thread = this.#threadFor(waiting)
    if (thread === undefined || this.#waiting >= mostCalls) {
      waiting.reject(thread === undefined ? unavailable() : new S3Error('SlowDown'))
      return
    }
    this.#number = (this.#number + 1) & 0x3fffffff
    const [, step, as, arguments_] = waiting.call
    const call: Call = [this.#number, step, as, arguments_]
    if (thread.waiting.size === 0) thread.beatsChanged = performance.now()
    thread.waiting.set(this.#number, waiting)
    thread.load += waiting.weight
    this.#waiting += 1
    thread.calls.push(call)
    if (waiting.options?.transfer !== undefined) thread.memory.push(...waiting.options.transfer)
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(() => this.#post())
  }

  #threadFor({ options }: Waiting): Thread | undefined {
    if (options?.affinity !== undefined) return this.#threads[options.affinity % this.#threads.length]
    let least = this.#threads[0]
    for (const thread of this.#threads) if (least !== undefined && thread.load < least.load) least = thread
    return least
  }

  #post(): void {
    this.#isScheduled = false
    for (const thread of this.#threads) {
      if (thread.calls.length === 0) continue
      thread.worker.postMessage(thread.calls, thread.memory)
      thread.calls = []
      thread.memory = []
    }
  }

  #start(): Thread {
    const state = new Int32Array(new SharedArrayBuffer(stateWords.count * 4))
    const workerData: ThreadData = { ...this.#options.data, state }
    const worker = new Worker(new URL('./thread.ts', import.meta.url), {
      workerData,
      resourceLimits,
      name: 'namespace',
    })
    const thread: Thread = {
      worker,
      state,
      waiting: new Map(),
      calls: [],
      memory: [],
      load: 0,
      beats: 0,
      beatsChanged: performance.now(),
    }
    worker.on('message', (answers: readonly Answer[]) => this.#settle(thread, answers))
    worker.on('error', () => this.#end(thread))
    worker.on('exit', () => this.#end(thread))
    return thread
  }

  #settle(thread: Thread, answers: readonly Answer[]): void {
    for (const answer of answers) {
      const waiting = thread.waiting.get(answer[0])
      if (waiting === undefined) continue
      thread.waiting.delete(answer[0])
      thread.load -= waiting.weight
      this.#waiting -= 1
      if (answer[1]) {
        const [, , code, message, cause] = answer
        waiting.reject(new S3Error(code as ErrorCode, message === '' ? undefined : message, { cause }))
      } else waiting.resolve(answer[2])
    }
  }

  /** A thread that stands still has its step in the kernel: what it has begun fails, the rest runs elsewhere. */
  #giveUpStuck(): void {
    const now = performance.now()
    for (const thread of [...this.#threads]) {
      const beats = Atomics.load(thread.state, stateWords.beats)
      if (beats !== thread.beats || thread.waiting.size === 0) {
        thread.beats = beats
        thread.beatsChanged = now
      } else if (now - thread.beatsChanged > this.#options.stepTimeoutMs) {
        Atomics.store(thread.state, stateWords.abandoned, 1)
        thread.worker.unref()
        this.#abandoned.add(thread.worker)
        this.#replace(thread, unavailable())
      }
    }
  }

  #end(thread: Thread): void {
    if (this.#isClosed) return
    if (this.#abandoned.delete(thread.worker)) {
      if (this.#threads.length < this.#options.threads) this.#threads.push(this.#start())
    } else if (this.#threads.includes(thread)) {
      this.#replace(thread, new S3Error('InternalError', undefined, { cause: lost }))
    }
  }

  #replace(thread: Thread, failure: S3Error): void {
    const place = this.#threads.indexOf(thread)
    if (this.#abandoned.size < mostAbandoned) this.#threads[place] = this.#start()
    else this.#threads.splice(place, 1)
    // Read after `abandoned` was set: the thread writes this first and then looks there, so it begins nothing more.
    const begun = Atomics.load(thread.state, stateWords.begun)
    const unsent = new Set(thread.calls.map(([number]) => number))
    this.#waiting -= thread.waiting.size
    for (const [number, waiting] of thread.waiting) {
      const isBegun = !unsent.has(number) && !isLater(number, begun)
      if (isBegun || waiting.options !== undefined) waiting.reject(failure)
      else this.#dispatch(waiting)
    }
    thread.waiting.clear()
  }
}

/** Numbers start again after 2^30. */
function isLater(number: number, begun: number): boolean {
  return ((number - begun) & 0x3fffffff) < 0x20000000 && number !== begun
}

const lost = 'the thread of this step was given up or has ended'

function unavailable(): S3Error {
  return new S3Error('ServiceUnavailable', 'The file system does not answer. Please try again.', {
    cause: lost,
    headers: { 'Retry-After': retryAfter },
  })
}

/** Whether a step may still be running, or have run, although it failed. */
export function isLost(error: unknown): boolean {
  return error instanceof S3Error && error.cause === lost
}
