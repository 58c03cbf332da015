import { createHash } from 'node:crypto'
import type { Session, Sessions } from '../embedded/sessions.ts'
import type { EmbeddedStore } from '../embedded/store.ts'
import { S3Error } from '../s3/errors.ts'

/** One announced change, as it lies in the store. */
export interface StoredIntent {
  readonly name: string
  readonly id: string
  readonly path: string
  readonly temp: string | undefined
  readonly sinceMs: number
}

/** [temp, since, path]: the path is in the key already, unless that is a hash. */
type IntentValue = readonly [temp: string | null, sinceMs: number, path?: string]
/** The holder of a path's exclusive intent. */
type LockValue = readonly [id: string, temp: string | null, sinceMs: number, path?: string]

/** Longer paths are kept by their hash. */
const maxPathBytes = 700
const firstPollMs = 2
const lastPollMs = 50

/**
 * Readers-writer locks on paths, in the store: shared intents are `i<path>\0<session>.<number>`, the exclusive one of
 * a path is `l<path>`. An exclusive intent first takes `l`, which holds off newcomers, then waits until the shared
 * ones are gone: so it cannot starve. Only waiting costs more than a key in a transaction that is made anyway.
 */
export class EmbeddedIntents {
  readonly #store: EmbeddedStore
  readonly #sessions: Sessions
  readonly #waiting = new Map<string, Set<() => void>>()
  #count = 0

  constructor(store: EmbeddedStore, sessions: Sessions) {
    this.#store = store
    this.#sessions = sessions
  }

  /**
   * Resolves with the key of the intent; `alongside` is written in the same transaction as the intent itself.
   * Throws OperationAborted when the path stays taken for `waitMs`.
   */
  async begin(
    path: string,
    exclusive: boolean,
    temp: string | undefined,
    waitMs: number,
    alongside: () => void,
  ): Promise<string> {
    const name = pathName(path)
    const id = `${this.#sessions.own}.${(this.#count++).toString(36)}`
    const step = () => this.#take(name, id, exclusive, temp ?? null, path, alongside)
    const key = await this.#store.write(step)
    if (key && !exclusive) return key
    return this.#wait(name, id, key, step, Date.now() + waitMs, path)
  }

  /**
   * To be called in a step: the intent, unless somebody else has the lock of the path. An exclusive one is that lock; shared
   * ones may still be there then.
   */
  #take(
    name: string,
    id: string,
    exclusive: boolean,
    temp: string | null,
    path: string,
    alongside: () => void,
  ): string | undefined {
    const lockKey = `l${name}`
    const lock = this.#store.get(lockKey) as LockValue | undefined
    if (lock) {
      if (this.#holds(lock)) return undefined
      this.#disown(name, lock)
    }
    const value = intentValue(temp, name, path)
    const key = exclusive ? lockKey : `i${name}\0${id}`
    this.#put(key, exclusive ? ([id, ...value] satisfies LockValue) : value, temp)
    alongside()
    return key
  }

  /** Waits for whatever is in the way: the lock of another, then (holding the lock oneself) shared intents. */
  async #wait(
    name: string,
    id: string,
    lockKey: string | undefined,
    step: () => string | undefined,
    deadlineMs: number,
    path: string,
  ): Promise<string> {
    let key = lockKey
    let pauseMs = firstPollMs
    for (;;) {
      if (key?.startsWith('i')) return key
      if (key && !this.#sharedInTheWay(name)) return key
      const leftMs = deadlineMs - Date.now()
      if (leftMs <= 0) break
      await this.#pause(name, Math.min(pauseMs, leftMs))
      pauseMs = Math.min(pauseMs * 2, lastPollMs)
      if (key) continue
      if (this.#lockInTheWay(name)) continue
      key = await this.#store.write(step)
    }
    if (key) await this.#giveUp(key, id)
    throw new S3Error(
      'OperationAborted',
      'Another conditional write, or a long upload, of this key is in progress. Try again.',
      { details: { Key: path } },
    )
  }

  #lockInTheWay(name: string): boolean {
    const lock = this.#store.get(`l${name}`) as LockValue | undefined
    return lock !== undefined && this.#holds(lock)
  }

  #sharedInTheWay(name: string): boolean {
    for (const key of this.#store.keys({ start: `i${name}\0`, end: `i${name}\x01` })) {
      if (this.#sessions.isAlive(sessionOf(key.slice(key.lastIndexOf('\0') + 1)))) return true
    }
    return false
  }

  #holds(lock: LockValue): boolean {
    return this.#sessions.isAlive(sessionOf(lock[0]))
  }

  /** Keeps what a dead holder announced where `abandoned` finds it, so that the lock can be taken over. */
  #disown(name: string, [id, ...value]: LockValue): void {
    this.#put(`i${name}\0${id}`, value, value[0])
    this.#remove(`l${name}`, value[0])
  }

  /** Locks end with the machine; only what names a temporary file must be found afterwards. */
  #put(key: string, value: IntentValue | LockValue, temp: string | null): void {
    if (temp === null) this.#store.putVolatile(key, value)
    else this.#store.put(key, value)
  }

  #remove(key: string, temp: string | null): void {
    if (temp === null) this.#store.removeVolatile(key)
    else this.#store.remove(key)
  }

  /** Until the path is released in this process, or the time is over (another process may have released it). */
  #pause(name: string, ms: number): Promise<void> {
    return new Promise((resolve) => {
      const waiting = this.#waiting.get(name) ?? new Set()
      this.#waiting.set(name, waiting)
      const wake = () => {
        clearTimeout(timer)
        waiting.delete(wake)
        if (waiting.size === 0) this.#waiting.delete(name)
        resolve()
      }
      const timer = setTimeout(wake, ms)
      waiting.add(wake)
    })
  }

  /** Ends an intent of this session, soon; the lock of a path, or what somebody here waits for, at once. */
  settle(key: string, temp: string | undefined): void {
    const name = nameOf(key)
    this.#store.writeLater(() => {
      this.#remove(key, temp ?? null)
      if (this.#waiting.has(name)) queueMicrotask(() => this.#wake(name))
    }, key.startsWith('l') || this.#waiting.has(name))
  }

  #wake(name: string): void {
    for (const wake of [...(this.#waiting.get(name) ?? [])]) wake()
  }

  async #giveUp(key: string, id: string): Promise<void> {
    await this.#store.write(() => {
      const lock = this.#store.get(key) as LockValue | undefined
      if (lock?.[0] === id) this.#remove(key, lock[1])
    })
    this.#wake(nameOf(key))
  }

  /** Intents of sessions that are gone, oldest first. */
  abandoned(): StoredIntent[] {
    const found: StoredIntent[] = []
    const inUse = new Set<Session>()
    const look = (name: string, id: string, [temp, sinceMs, path]: IntentValue) => {
      const session = sessionOf(id)
      inUse.add(session)
      if (!this.#sessions.isAlive(session))
        found.push({ name, id, sinceMs, temp: temp ?? undefined, path: path ?? name })
    }
    for (const { key, value } of this.#store.entries({ start: 'i', end: 'j' })) {
      look(nameOf(key), key.slice(key.lastIndexOf('\0') + 1), value as IntentValue)
    }
    for (const { key, value } of this.#store.entries({ start: 'l', end: 'm' })) {
      const [id, ...intent] = value as LockValue
      look(nameOf(key), id, intent)
    }
    this.#sessions.tidy(inUse)
    return found.sort((a, b) => a.sinceMs - b.sinceMs)
  }

  /** Removes an abandoned intent, wherever it is by now: the lock of a dead holder may have been taken over. */
  async settleAbandoned({ name, id, temp }: StoredIntent): Promise<void> {
    await this.#store.write(() => {
      const lock = this.#store.get(`l${name}`) as LockValue | undefined
      if (lock?.[0] === id) this.#remove(`l${name}`, temp ?? null)
      this.#remove(`i${name}\0${id}`, temp ?? null)
    })
  }
}

function pathName(path: string): string {
  if (Buffer.byteLength(path) <= maxPathBytes) return path
  return `#${createHash('sha256').update(path).digest('base64url')}`
}

function nameOf(key: string): string {
  return key.startsWith('l') ? key.slice(1) : key.slice(1, key.lastIndexOf('\0'))
}

function sessionOf(id: string): Session {
  return id.slice(0, id.indexOf('.'))
}

function intentValue(temp: string | null, name: string, path: string): IntentValue {
  return name === path ? [temp, Date.now()] : [temp, Date.now(), path]
}
