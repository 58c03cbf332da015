import { ownProcessId, type ProcessId } from '../embedded/process-identity.ts'
import { Sessions } from '../embedded/sessions.ts'
import { type EmbeddedStore, openEmbeddedStore } from '../embedded/store.ts'
import { S3Error } from '../s3/errors.ts'
import { type AnyQueue, type Job, JobTable, leaseMs } from './embedded-table.ts'
import type { JobCounts, Jobs, Json, Queue } from './jobs.ts'

/** How often a process looks for jobs of others: soon after there was one, seldom when there is nothing. */
const shortestPollMs = 250
const longestPollMs = 1000
/** How often one looks whether a job that runs elsewhere is done. */
const joinPollMs = 25
/** After the deadline of `close`, handlers have so long to heed their signal. */
const abortGraceMs = 500
/** Pause before the outcome of a run is written again, when the store could not be written. */
const retryMs = 500

/**
 * Jobs in the embedded store (design §6), next to the metadata. Any process that has declared a queue's handler may run
 * its jobs; a job begins at once in the process that asked for it when that has a place free.
 */
export async function openEmbeddedJobs(options: { directory: string; processId?: ProcessId }): Promise<Jobs> {
  const store = await openEmbeddedStore(options.directory)
  const sessions = new Sessions(store)
  await sessions.open(options.processId ?? ownProcessId)
  return new EmbeddedJobs(store, sessions)
}

interface Worker {
  readonly queue: AnyQueue
  readonly handler: (payload: Json, signal: AbortSignal) => Promise<Json>
  readonly running: Set<Run>
  /** Places kept for jobs that are being claimed. */
  reserved: number
  /** Jobs are known to wait for a place here. */
  backlog: boolean
}

interface Run {
  readonly job: Job
  readonly abort: AbortController
  readonly ended: Promise<Outcome>
}

/** How a run ended; undefined when there is another to come. */
type Outcome = { readonly result: Json } | { readonly error: string } | undefined

class EmbeddedJobs implements Jobs {
  readonly #store: EmbeddedStore
  readonly #sessions: Sessions
  readonly #table: JobTable
  readonly #workers = new Map<string, Worker>()
  /** Who waits in this process, by queue and id: called when a run of the job ended here. */
  readonly #joined = new Map<string, Set<() => void>>()
  readonly #leases: NodeJS.Timeout
  #poll: NodeJS.Timeout | undefined
  #pollAtMs = 0
  #pollMs = shortestPollMs
  #closing = false
  #closed = false

  constructor(store: EmbeddedStore, sessions: Sessions) {
    this.#store = store
    this.#sessions = sessions
    this.#table = new JobTable(store, sessions)
    this.#leases = setInterval(() => this.#renewLeases(), leaseMs / 4).unref()
    this.#pollIn(0)
  }

  process<P extends Json, R extends Json>(
    queue: Queue<P, R>,
    handler: (payload: P, signal: AbortSignal) => Promise<R>,
  ): void {
    this.#workers.set(queue.name, {
      queue,
      handler: handler as unknown as Worker['handler'],
      running: new Set(),
      reserved: 0,
      backlog: true,
    })
    this.#pollIn(0)
  }

  async run<P extends Json, R extends Json>(
    queue: Queue<P, R>,
    id: string,
    payload: P,
    signal?: AbortSignal,
  ): Promise<R> {
    signal?.throwIfAborted()
    const worker = this.#workers.get(queue.name)
    const places = worker ? this.#reserve(worker, 1) : 0
    let entered: { job: Job; isNew: boolean }
    try {
      entered = await this.#store.write(() => {
        const found = this.#table.enter(queue, id, payload, Date.now(), places > 0)
        if (!found.isNew) this.#table.hurry(queue.name, found.job)
        return found
      })
    } finally {
      if (worker) worker.reserved -= places
    }
    const { job, isNew } = entered
    if (worker && isNew && job.state === 'running') {
      const outcome = await unlessAborted(this.#execute(worker, job).ended, signal)
      if (outcome) return take(outcome) as R
    } else if (worker) worker.backlog = true
    return (await this.#outcome(queue, job, signal)) as R
  }

  async schedule<P extends Json, R extends Json>(
    queue: Queue<P, R>,
    id: string,
    payload: P,
    delayMs: number,
  ): Promise<void> {
    const dueMs = Date.now() + Math.max(0, delayMs)
    await this.#store.write(() => this.#table.enter(queue, id, payload, dueMs, false))
    this.#pollIn(Math.max(0, delayMs))
  }

  cancel(queue: Queue<unknown, unknown>, id: string): Promise<void> {
    return this.#store.write(() => this.#table.cancel(queue.name, id))
  }

  async counts(queue: Queue<unknown, unknown>): Promise<JobCounts> {
    return this.#table.counts(queue.name)
  }

  // ---- waiting for a result ------------------------------------------------------------------------------------

  async #outcome(queue: AnyQueue, { id }: Job, signal: AbortSignal | undefined): Promise<Json> {
    for (;;) {
      const job = this.#table.find(queue.name, id)
      if (job?.state === 'done') return job.result ?? null
      if (job?.state === 'failed') throw new Error(job.error)
      if (!job) throw new Error(`The job ${id} of ${queue.name} was cancelled.`)
      if (this.#closing) throw closingError()
      await this.#nextEnd(`${queue.name}\0${id}`, joinPollMs, signal)
    }
  }

  /** Resolves when a run of the job ended here, or after `ms`, since it may have ended elsewhere. */
  #nextEnd(name: string, ms: number, signal: AbortSignal | undefined): Promise<void> {
    const joined = this.#joined.get(name) ?? new Set()
    this.#joined.set(name, joined)
    let wake = () => {}
    const ended = new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms)
      wake = () => {
        clearTimeout(timer)
        resolve()
      }
      joined.add(wake)
    })
    return unlessAborted(ended, signal).finally(() => {
      wake()
      joined.delete(wake)
      if (joined.size === 0 && this.#joined.get(name) === joined) this.#joined.delete(name)
    })
  }

  #wake(name: string): void {
    for (const wake of [...(this.#joined.get(name) ?? [])]) wake()
  }

  // ---- running -------------------------------------------------------------------------------------------------

  /** Keeps up to `most` places free for jobs about to be claimed; to be given back when they run or there are none. */
  #reserve(worker: Worker, most: number): number {
    const free = this.#closing ? 0 : worker.queue.concurrency - worker.running.size - worker.reserved
    const places = Math.max(0, Math.min(most, free))
    worker.reserved += places
    return places
  }

  #execute(worker: Worker, job: Job): Run {
    const abort = new AbortController()
    const run: Run = { job, abort, ended: this.#runToEnd(worker, job, abort.signal) }
    worker.running.add(run)
    run.ended.then((outcome) => {
      worker.running.delete(run)
      this.#wake(`${worker.queue.name}\0${job.id}`)
      if (worker.backlog) this.#pollIn(0)
      else if (!outcome) this.#pollIn(worker.queue.backoffMs)
    })
    return run
  }

  async #runToEnd({ queue, handler }: Worker, job: Job, signal: AbortSignal): Promise<Outcome> {
    let outcome: Outcome
    let step: () => void
    try {
      const result = await handler(job.payload, signal)
      outcome = { result }
      step = () => this.#table.complete(queue, job, result)
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error)
      if (!signal.aborted && job.attempts + 1 >= queue.attempts) outcome = { error: message }
      step = signal.aborted ? () => this.#table.handBack(queue.name, job) : () => this.#table.fail(queue, job, message)
    }
    while (!(await this.#written(step)) && !this.#closed) await new Promise((resolve) => setTimeout(resolve, retryMs))
    return outcome
  }

  async #written(step: () => void): Promise<boolean> {
    try {
      await this.#store.write(step)
      return true
    } catch {
      // Without its outcome the job would look as if it were running for ever: try until the disk has room again.
      return false
    }
  }

  // ---- looking for jobs ----------------------------------------------------------------------------------------

  /** Sees to it that the next look is at most `ms` away. */
  #pollIn(ms: number): void {
    const atMs = Date.now() + ms
    if (this.#closing || (this.#poll && this.#pollAtMs <= atMs)) return
    clearTimeout(this.#poll)
    this.#pollAtMs = atMs
    this.#poll = setTimeout(() => this.#look(), Math.min(ms, longestPollMs)).unref()
  }

  async #look(): Promise<void> {
    this.#poll = undefined
    try {
      const found = await this.#claimAll()
      this.#pollMs = found ? shortestPollMs : Math.min(this.#pollMs * 2, longestPollMs)
      if (this.#table.hasExpired()) await this.#store.write(() => this.#table.sweep())
      this.#pollIn(this.#untilNext())
    } catch {
      // The store cannot be written: what is due stays due.
      this.#pollIn(longestPollMs)
    }
  }

  async #claimAll(): Promise<boolean> {
    let found = false
    for (const worker of this.#workers.values()) {
      if (!this.#table.hasWork(worker.queue.name)) worker.backlog = false
      else if (await this.#claim(worker)) found = true
    }
    return found
  }

  async #claim(worker: Worker): Promise<boolean> {
    const places = this.#reserve(worker, worker.queue.concurrency)
    worker.backlog = true
    if (places === 0) return false
    let jobs: Job[]
    try {
      jobs = await this.#store.write(() => this.#table.claim(worker.queue, places))
    } finally {
      worker.reserved -= places
    }
    for (const job of jobs) this.#execute(worker, job)
    return jobs.length > 0
  }

  /** Until the next job is due, as far as one is waiting for its time and not for a place. */
  #untilNext(): number {
    let ms = this.#pollMs
    for (const { queue, backlog } of this.#workers.values()) {
      const dueMs = backlog ? undefined : this.#table.nextDueMs(queue.name)
      if (dueMs !== undefined) ms = Math.min(ms, Math.max(1, dueMs - Date.now()))
    }
    return ms
  }

  #renewLeases(): void {
    for (const { queue, running } of this.#workers.values()) {
      for (const { job, abort } of running.values()) {
        this.#store.writeLater(() => {
          if (!this.#table.renew(queue.name, job)) abort.abort(new Error('The job has been taken over.'))
        })
      }
    }
  }

  // ---- life ----------------------------------------------------------------------------------------------------

  async close(deadlineMs: number): Promise<void> {
    this.#closing = true
    clearTimeout(this.#poll)
    clearInterval(this.#leases)
    const runs = [...this.#workers.values()].flatMap(({ queue, running }) =>
      [...running].map((run) => ({ queue, ...run })),
    )
    const ended = Promise.allSettled(runs.map((run) => run.ended))
    if (!(await endsWithin(ended, deadlineMs))) {
      for (const { abort } of runs) abort.abort(closingError())
      if (!(await endsWithin(ended, abortGraceMs))) {
        await this.#written(() => {
          for (const { queue, job } of runs) this.#table.handBack(queue.name, job)
        })
      }
    }
    this.#closed = true
    for (const name of [...this.#joined.keys()]) this.#wake(name)
    this.#sessions.close()
    await this.#store.close()
  }
}

function take(outcome: { readonly result: Json } | { readonly error: string }): Json {
  if ('error' in outcome) throw new Error(outcome.error)
  return outcome.result
}

function unlessAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return work
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason)
    if (signal.aborted) return abort()
    signal.addEventListener('abort', abort, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}

async function endsWithin(work: Promise<unknown>, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(resolve, ms, false)
  })
  const inTime = await Promise.race([work.then(() => true), late])
  clearTimeout(timer)
  return inTime
}

function closingError(): S3Error {
  return new S3Error('ServiceUnavailable', 'The gateway is shutting down. Please try again.', {
    headers: { 'Retry-After': '1' },
  })
}
