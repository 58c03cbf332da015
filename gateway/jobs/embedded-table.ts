import type { Session, Sessions } from '../embedded/sessions.ts'
import type { EmbeddedStore } from '../embedded/store.ts'
import type { JobCounts, Json, Queue } from './jobs.ts'

/** A job as it lies in the store, under `jb<queue>\0<id>`. */
export interface Job {
  readonly id: string
  /** Told apart from an earlier or later job of the same name. */
  readonly token: string
  readonly payload: Json
  readonly state: 'waiting' | 'running' | 'done' | 'failed'
  /** Waiting: when it may begin. */
  readonly dueMs: number
  /** Runs that ended by themselves (with an error), and runs that ended with their process. */
  readonly attempts: number
  readonly losses: number
  /** Running: whose it is. `run` changes with each claim, so that one who lost a job cannot end it. */
  readonly session?: Session
  readonly run?: number
  readonly leaseMs?: number
  readonly result?: Json
  readonly error?: string
  /** Done: until when others may still take the result for theirs. */
  readonly keptMs?: number
}

export type AnyQueue = Queue<Json, Json>

/** A process that is stopped or unreachable loses its jobs after so long; one that is gone, at once. */
export const leaseMs = 60_000
/** Failed jobs can be inspected for a week. */
const keepFailedMs = 7 * 86_400_000
/** Who joined a job must still find its result, even when nobody else may. */
const keepForJoinersMs = 10_000
/** A job that was lost with its process this often is taken to be the cause. */
const mostLosses = 25

/**
 * The table of jobs and its indexes in the store. Methods marked "step" belong in a transaction of the store.
 * Indexes: `jd<queue>\0<due><id>` waiting, `jr<queue>\0<id>` running, `jf<queue>\0<id>` failed, `jx<until><key>` the
 * end of what is only kept.
 */
export class JobTable {
  readonly #store: EmbeddedStore
  readonly #sessions: Sessions

  constructor(store: EmbeddedStore, sessions: Sessions) {
    this.#store = store
    this.#sessions = sessions
  }

  find(queue: string, id: string): Job | undefined {
    return this.#store.get(jobKey(queue, id)) as Job | undefined
  }

  /** Step: the job of that name if it counts, else a new one (`begin`: running at once in this session). */
  enter(queue: AnyQueue, id: string, payload: Json, dueMs: number, begin: boolean): { job: Job; isNew: boolean } {
    const there = this.find(queue.name, id)
    if (there && (there.state !== 'done' || (there.keptMs ?? 0) > Date.now()) && there.state !== 'failed') {
      return { job: there, isNew: false }
    }
    if (there) this.#unlist(queue.name, there)
    const job: Job = { id, token: newToken(), payload, state: 'waiting', dueMs, attempts: 0, losses: 0 }
    return { job: begin ? this.#start(queue.name, job) : this.#wait(queue.name, job), isNew: true }
  }

  /** Step: a delayed job that has not been tried may begin now. */
  hurry(queue: string, job: Job): void {
    if (job.state !== 'waiting' || job.attempts > 0 || job.dueMs <= Date.now()) return
    this.#unlist(queue, job)
    this.#wait(queue, { ...job, dueMs: Date.now() })
  }

  /** Whether `claim` would find something. Read only, so that polling costs next to nothing. */
  hasWork(queue: string): boolean {
    const due = this.#store.keys({ start: `jd${queue}\0`, end: `jd${queue}\0${stamp(Date.now() + 1)}`, limit: 1 })
    return due.length > 0 || this.#lost(queue).length > 0
  }

  /** Step: takes up to `most` jobs that are due, or were lost by others. */
  claim(queue: AnyQueue, most: number): Job[] {
    for (const job of this.#lost(queue.name)) this.#recover(queue.name, job)
    const end = `jd${queue.name}\0${stamp(Date.now() + 1)}`
    const keys = this.#store.keys({ start: `jd${queue.name}\0`, end, limit: most })
    const claimed: Job[] = []
    for (const key of keys) {
      const job = this.find(queue.name, key.slice(queue.name.length + 3 + stampDigits))
      this.#store.remove(key)
      if (job?.state === 'waiting') claimed.push(this.#start(queue.name, job))
    }
    return claimed
  }

  /** When the next waiting job is due; undefined when none is waiting. */
  nextDueMs(queue: string): number | undefined {
    const [key] = this.#store.keys({ start: `jd${queue}\0`, end: `jd${queue}\x01`, limit: 1 })
    return key === undefined
      ? undefined
      : Number.parseInt(key.slice(queue.length + 3, queue.length + 3 + stampDigits), 16)
  }

  /** Step: prolongs the lease of a job; false when it has been lost. */
  renew(queue: string, job: Job): boolean {
    if (!this.#isOwn(queue, job)) return false
    this.#store.put(jobKey(queue, job.id), { ...job, leaseMs: Date.now() + leaseMs })
    return true
  }

  /** Step: the result of a run. */
  complete(queue: AnyQueue, job: Job, result: Json): void {
    if (!this.#isOwn(queue.name, job)) return
    const { session: _, leaseMs: __, ...rest } = job
    const keptMs = Date.now() + queue.keepResultMs
    this.#unlist(queue.name, job)
    this.#keep(queue.name, { ...rest, state: 'done', result, keptMs }, Math.max(queue.keepResultMs, keepForJoinersMs))
  }

  /** Step: the error of a run; another attempt later, if there is one left. */
  fail(queue: AnyQueue, job: Job, error: string): void {
    if (!this.#isOwn(queue.name, job)) return
    this.#unlist(queue.name, job)
    const { session: _, leaseMs: __, ...rest } = job
    const attempts = job.attempts + 1
    if (attempts < queue.attempts) {
      this.#wait(queue.name, { ...rest, state: 'waiting', attempts, error, dueMs: Date.now() + queue.backoffMs })
    } else this.#bury(queue.name, { ...rest, attempts, error, state: 'failed' })
  }

  /** Step: gives a running job back unfinished, as if it had not begun. */
  handBack(queue: string, job: Job): void {
    if (!this.#isOwn(queue, job)) return
    this.#unlist(queue, job)
    this.#wait(queue, { ...job, state: 'waiting', dueMs: Date.now() })
  }

  /** Step: removes a waiting job. */
  cancel(queue: string, id: string): void {
    const job = this.find(queue, id)
    if (job?.state !== 'waiting') return
    this.#unlist(queue, job)
    this.#store.remove(jobKey(queue, id))
  }

  counts(queue: string): JobCounts {
    const now = `jd${queue}\0${stamp(Date.now() + 1)}`
    return {
      waiting: this.#store.count({ start: `jd${queue}\0`, end: now }),
      delayed: this.#store.count({ start: now, end: `jd${queue}\x01` }),
      running: this.#store.count({ start: `jr${queue}\0`, end: `jr${queue}\x01` }),
      failed: this.#store.count({ start: `jf${queue}\0`, end: `jf${queue}\x01` }),
    }
  }

  /** Whether `sweep` would find something; read only. */
  hasExpired(): boolean {
    return this.#store.keys({ start: 'jx', end: `jx${stamp(Date.now())}`, limit: 1 }).length > 0
  }

  /** Step: forgets some of the results and failures that have been kept long enough. */
  sweep(): void {
    for (const { key, value } of this.#store.entries({ start: 'jx', end: `jx${stamp(Date.now())}`, limit: 100 })) {
      const [queue, token] = value as [string, string]
      const job = this.find(queue, key.slice(2 + stampDigits))
      this.#store.remove(key)
      if (job?.token !== token) continue
      this.#unlist(queue, job)
      this.#store.remove(jobKey(queue, job.id))
    }
  }

  #lost(queue: string): Job[] {
    const lost: Job[] = []
    for (const key of this.#store.keys({ start: `jr${queue}\0`, end: `jr${queue}\x01` })) {
      const job = this.find(queue, key.slice(queue.length + 3))
      if (job?.state !== 'running') continue
      if (!this.#sessions.isAlive(job.session ?? '') || (job.leaseMs ?? 0) < Date.now()) lost.push(job)
    }
    return lost
  }

  #recover(queue: string, job: Job): void {
    this.#unlist(queue, job)
    const losses = job.losses + 1
    if (losses < mostLosses) this.#wait(queue, { ...job, state: 'waiting', losses, dueMs: Date.now() })
    else this.#bury(queue, { ...job, state: 'failed', losses, error: `Its process died ${losses} times.` })
  }

  #isOwn(queue: string, job: Job): boolean {
    const now = this.find(queue, job.id)
    return now?.state === 'running' && now.token === job.token && now.run === job.run
  }

  #start(queue: string, job: Job): Job {
    const running: Job = {
      ...job,
      state: 'running',
      session: this.#sessions.own,
      run: (job.run ?? 0) + 1,
      leaseMs: Date.now() + leaseMs,
    }
    this.#store.put(jobKey(queue, job.id), running)
    this.#store.put(`jr${queue}\0${job.id}`, null)
    return running
  }

  #wait(queue: string, job: Job): Job {
    this.#store.put(jobKey(queue, job.id), job)
    this.#store.put(dueKey(queue, job), null)
    return job
  }

  #bury(queue: string, job: Job): void {
    this.#store.put(`jf${queue}\0${job.id}`, null)
    this.#keep(queue, job, keepFailedMs)
  }

  #keep(queue: string, job: Job, ms: number): void {
    this.#store.put(jobKey(queue, job.id), job)
    this.#store.put(`jx${stamp(Date.now() + ms)}${job.id}`, [queue, job.token])
  }

  #unlist(queue: string, job: Job): void {
    if (job.state === 'waiting') this.#store.remove(dueKey(queue, job))
    if (job.state === 'running') this.#store.remove(`jr${queue}\0${job.id}`)
    if (job.state === 'failed') this.#store.remove(`jf${queue}\0${job.id}`)
  }
}

const stampDigits = 12

function stamp(ms: number): string {
  return Math.trunc(ms).toString(16).padStart(stampDigits, '0')
}

function jobKey(queue: string, id: string): string {
  return `jb${queue}\0${id}`
}

function dueKey(queue: string, job: Job): string {
  return `jd${queue}\0${stamp(job.dueMs)}${job.id}`
}

function newToken(): string {
  return Math.random().toString(36).slice(2)
}
