import cluster, { type Worker } from 'node:cluster'
import type { Setting } from '../config/load.ts'
import type { Snapshot } from '../telemetry/recorder.ts'
import type { LiveSetting, Member, MemberStatus, Ports } from './member.ts'
import { type ToPrimary, type ToWorker, type WorkerStart, workerVariable } from './messages.ts'

const answerTimeoutMs = 5000
const firstBackoffMs = 100
const longestBackoffMs = 10_000
/** A process that lived so long is no crash loop. */
const healthyMs = 60_000

export interface WorkersOptions {
  readonly count: number
  readonly settings: readonly Setting[]
  /** A process ended by itself; it is started again after `backoffMs`. */
  readonly died: (pid: number, reason: string, backoffMs: number, last: Snapshot | undefined) => void
  /** A process that died is replaced; `members` is as it was before again. */
  readonly replaced: () => void
  readonly demandChanged: (pid: number, transfers: number) => void
}

/** The worker processes of a cluster: started, watched, started again. */
export class Workers {
  readonly #options: WorkersOptions
  readonly #members = new Map<number, WorkerMember>()
  #settings: LiveSetting[]
  #backoffMs = firstBackoffMs
  #stopping = false

  constructor(options: WorkersOptions) {
    this.#options = options
    this.#settings = options.settings.map(({ key, text }) => ({ key, text }))
  }

  get members(): readonly Member[] {
    return [...this.#members.values()]
  }

  /** Starts all; resolves with where they listen. Rejects with the sentence of the first that cannot start. */
  async start(): Promise<Ports> {
    // The first alone: it makes what all share, and tells of a mistake once.
    const ports = await this.#fork()
    await Promise.all(Array.from({ length: this.#options.count - 1 }, () => this.#fork()))
    return ports
  }

  /** Live properties of running and of later processes. */
  applyLive(changed: readonly LiveSetting[]): void {
    const texts = new Map(changed.map(({ key, text }) => [key, text]))
    this.#settings = this.#settings.map(({ key, text }) => ({ key, text: texts.get(key) ?? text }))
    for (const member of this.#members.values()) member.applyLive(changed)
  }

  async drain(): Promise<void> {
    this.#stopping = true
    await Promise.all(this.members.map((member) => member.drain()))
  }

  #fork(): Promise<Ports> {
    const start: WorkerStart = { settings: this.#settings }
    const worker = cluster.fork({ [workerVariable]: JSON.stringify(start) })
    const member = new WorkerMember(worker)
    const startedMs = performance.now()
    return new Promise((resolve, reject) => {
      let started = false
      worker.on('message', (message: ToPrimary) => {
        if (message.type === 'started') {
          started = true
          this.#members.set(member.pid, member)
          resolve(message.ports)
        } else if (message.type === 'failed') reject(new Error(message.message))
        else if (message.type === 'demand') this.#options.demandChanged(member.pid, message.transfers)
      })
      worker.on('exit', (code, signal) => {
        this.#members.delete(member.pid)
        const reason = signal ?? `exit code ${code}`
        reject(new Error(`A process of the gateway ended while it started (${reason}).`))
        if (started && !this.#stopping) this.#respawn(member, reason, performance.now() - startedMs)
      })
    })
  }

  #respawn(member: WorkerMember, reason: string, livedMs: number): void {
    if (livedMs > healthyMs) this.#backoffMs = firstBackoffMs
    const backoffMs = this.#backoffMs
    this.#backoffMs = Math.min(longestBackoffMs, backoffMs * 2)
    this.#options.died(member.pid, reason, backoffMs, member.lastSnapshot)
    const again = () => {
      if (this.#stopping) return
      this.#fork().then(this.#options.replaced, (error: Error) => {
        const nextMs = this.#backoffMs
        this.#backoffMs = Math.min(longestBackoffMs, nextMs * 2)
        this.#options.died(member.pid, error.message, nextMs, undefined)
        setTimeout(again, nextMs)
      })
    }
    setTimeout(again, backoffMs)
  }
}

/** A worker process, asked over its IPC channel. */
class WorkerMember implements Member {
  readonly pid: number
  lastSnapshot: Snapshot | undefined
  readonly #worker: Worker
  readonly #asked = new Map<number, (value: Snapshot | MemberStatus) => void>()
  #nextId = 0

  constructor(worker: Worker) {
    this.#worker = worker
    this.pid = worker.process.pid ?? 0
    worker.on('message', (message: ToPrimary) => {
      if (message.type !== 'answer') return
      this.#asked.get(message.id)?.(message.value)
      this.#asked.delete(message.id)
    })
  }

  async snapshot(): Promise<Snapshot> {
    this.lastSnapshot = (await this.#ask('snapshot')) as Snapshot
    return this.lastSnapshot
  }

  async status(): Promise<MemberStatus> {
    return (await this.#ask('status')) as MemberStatus
  }

  applyLive(changed: readonly LiveSetting[]): void {
    this.#tell({ type: 'live', changed })
  }

  shareReadRate(bytesPerSecond: number): void {
    this.#tell({ type: 'share', bytesPerSecond })
  }

  drain(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#worker.isDead()) return resolve()
      this.#worker.once('exit', () => resolve())
      this.#tell({ type: 'drain' })
    })
  }

  #tell(message: ToWorker): void {
    if (this.#worker.isConnected()) this.#worker.send(message)
  }

  #ask(what: 'snapshot' | 'status'): Promise<Snapshot | MemberStatus> {
    const id = this.#nextId++
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#asked.delete(id)
        reject(new Error(`process ${this.pid} does not answer`))
      }, answerTimeoutMs)
      this.#asked.set(id, (value) => {
        clearTimeout(timer)
        resolve(value)
      })
      this.#tell({ type: 'ask', id, what })
    })
  }
}
