import { S3Error } from '../s3/errors.ts'
import type { ActingUser } from './acting-user.ts'
import { NamespaceThread, unavailable, type Waiting } from './namespace-thread.ts'
import type { StepArguments, StepName, StepResult } from './steps/index.ts'
import type { ThreadData } from './thread-messages.ts'

export interface ThreadPoolOptions {
  readonly threads: number
  /** A thread that makes no progress for so long is given up: its step is answered 503. */
  readonly stepTimeoutMs: number
  /**
   * Calls that one thread may have before another is woken; 1 when not given. Where steps are short, to wake a thread
   * costs more than to wait for one that is at work.
   */
  readonly gather?: number
  readonly data: Omit<ThreadData, 'state'>
}

export interface RunOptions {
  /** Steps of the same number run on the same thread while there is one: it may remember something. */
  readonly affinity?: number
  /** The one thread it can run on. */
  readonly on?: NamespaceThread
  /** Memory handed over to the thread. */
  readonly transfer?: readonly ArrayBuffer[]
}

/** Calls that may be under way or wait in a thread; beyond that: SlowDown. */
const mostCalls = 8192
/** Threads that hang in the kernel and were replaced; with more of them, those that are left must do. */
const mostAbandoned = 8
/** What a long step counts for when the least loaded thread is looked for. */
const weights: Partial<Record<StepName, number>> = { list: 32, listBuckets: 32 }

/**
 * Threads that run the steps of the namespace. Calls made in one turn of the event loop travel in one message, and so do
 * their answers: at 64 requests at a time that makes a step three times as cheap. A thread stuck in the kernel (a dead
 * NFS server) is given up and replaced, and what waited behind it runs on another.
 */
export class ThreadPool {
  readonly #options: ThreadPoolOptions
  readonly #threads: NamespaceThread[] = []
  readonly #watch: NodeJS.Timeout
  #abandoned = 0
  #next = 0
  #isScheduled = false
  #isClosed = false

  constructor(options: ThreadPoolOptions) {
    this.#options = options
    this.#fill()
    this.#watch = setInterval(() => this.#replaceStuck(), Math.min(Math.max(options.stepTimeoutMs / 4, 10), 1000))
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
      const waiting: Waiting = {
        step,
        as,
        arguments_,
        transfer: options?.transfer,
        // Memory that was handed over is gone.
        isBound: options?.on !== undefined || options?.transfer !== undefined,
        weight: weights[step] ?? 1,
        resolve: resolve as (value: unknown) => void,
        reject,
      }
      this.#dispatch(options?.on ?? this.#choose(options?.affinity), waiting)
    })
  }

  /** A thread for steps that belong together; they fail when it is lost. */
  bind(): NamespaceThread | undefined {
    this.#next += 1
    return this.#choose(this.#next)
  }

  /** Resolves when all threads are at work. Throws when one cannot start. */
  async ready(): Promise<void> {
    const threads = [...this.#threads]
    const started = await Promise.all(threads.map((thread) => thread.started))
    const broken = threads.find((_, index) => !started[index])
    if (broken !== undefined) {
      throw new Error(`A thread for file-system work cannot start: ${broken.failure}`, { cause: broken.failure })
    }
  }

  /** Ends the threads; what is under way is answered ServiceUnavailable. */
  async close(): Promise<void> {
    this.#isClosed = true
    clearInterval(this.#watch)
    await Promise.all(this.#threads.splice(0).map((thread) => thread.close()))
  }

  #dispatch(thread: NamespaceThread | undefined, waiting: Waiting): void {
    if (thread === undefined || thread.isOver) waiting.reject(unavailable())
    else if (thread.waiting >= mostCalls) waiting.reject(new S3Error('SlowDown'))
    else {
      thread.add(waiting)
      this.#schedule()
    }
  }

  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(() => {
      this.#isScheduled = false
      for (const thread of this.#threads) thread.post()
    })
  }

  #choose(affinity?: number): NamespaceThread | undefined {
    if (this.#threads.length === 0) this.#fill()
    if (affinity !== undefined) return this.#threads[affinity % this.#threads.length]
    const { gather = 1 } = this.#options
    for (const thread of this.#threads) if (thread.load < gather) return thread
    let least = this.#threads[0]
    for (const thread of this.#threads) if (least !== undefined && thread.load < least.load) least = thread
    return least
  }

  #fill(): void {
    while (!this.#isClosed && this.#threads.length < this.#options.threads && this.#abandoned < mostAbandoned) {
      const thread = new NamespaceThread(this.#options.data, () => this.#end(thread))
      this.#threads.push(thread)
    }
  }

  #replaceStuck(): void {
    for (const thread of [...this.#threads]) {
      if (!thread.isStuck(this.#options.stepTimeoutMs)) continue
      this.#abandoned += 1
      this.#remove(thread)
    }
  }

  #remove(thread: NamespaceThread): void {
    this.#threads.splice(this.#threads.indexOf(thread), 1)
    const others = thread.abandon()
    this.#fill()
    for (const waiting of others) this.#dispatch(this.#choose(), waiting)
  }

  /** A thread that cannot start, or breaks, is replaced when the next step needs one, not over and over. */
  #end(thread: NamespaceThread): void {
    if (this.#isClosed) return
    const place = this.#threads.indexOf(thread)
    if (place < 0) {
      this.#abandoned -= 1
      this.#fill()
      return
    }
    this.#threads.splice(place, 1)
    for (const waiting of thread.abandon()) waiting.reject(unavailable())
  }
}
