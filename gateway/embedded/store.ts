import { accessSync, constants, mkdirSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { S3Error } from '../s3/errors.ts'
import { type Db, encodeChanges, openFile, usedBytes } from './file.ts'
import { Log, type LoggedChange, type LogPosition } from './log.ts'
import { Reader } from './reader.ts'
import { positionKey, recover } from './recovery.ts'
import { Room } from './room.ts'
import { takeSnapshot } from './snapshot.ts'

/**
 * Where the embedded drivers (metadata and jobs) keep their state: an LMDB environment that every process of the host may
 * open at once. All work on it is synchronous and short:
 *
 * - Reads cost about a microsecond and see what any process has committed before.
 * - Writes of one turn of the event loop go into one transaction on the main thread (some ten microseconds, however many
 *   they are). lmdb's own asynchronous writes were measured against this: they wait for an fsync in every batch, which
 *   costs 3.6 ms a write at concurrency 8, and block libuv's threads meanwhile (docs/decisions).
 * - A commit survives the kill of every process at once. `flush` makes it survive the loss of the machine too; without,
 *   that takes some seconds. What survives is always what was committed up to some moment, never a mixture.
 */
export interface EmbeddedStore {
  readonly directory: string
  /** Reads see the newest commit of any process; in a step also what was changed in its transaction before. */
  get(key: string): unknown
  has(key: string): boolean
  /** Keys from `start` to before `end`, in the order of their UTF-8 bytes. */
  keys(range: Range): string[]
  entries(range: Range): { readonly key: string; readonly value: unknown }[]
  count(range: Range): number
  /**
   * Runs `step` in the next transaction and resolves with its result once that is committed. A step must do all its
   * checks before its first change: when it throws, only its own promise fails and the others are committed. It may be
   * run more than once until then, so it must not touch anything but the store.
   */
  write<T>(step: () => T): Promise<T>
  /**
   * Like `write`, but nobody waits: it goes with the next transaction, at the latest after a few milliseconds (with
   * `soon`, at the end of this turn). While the disk is full it is kept and tried again.
   */
  writeLater(step: () => void, soon?: boolean): void
  /** Changes, in a step. */
  put(key: string, value: unknown): void
  remove(key: string): void
  /** Changes, in a step, that mean nothing once the machine is lost: they need not be logged. */
  putVolatile(key: string, value: unknown): void
  removeVolatile(key: string): void
  /** Resolves when everything committed so far is on stable storage; calls that come together share the work. */
  flush(): Promise<void>
  /** Commits what is queued and lets go; the last one to close in this process closes the file. */
  close(): Promise<void>
}

export interface Range {
  readonly start: string
  readonly end: string
  readonly limit?: number
}

/** Longest key in bytes; lmdb's own limit is 1,978. */
export const maxKeyBytes = 1900

/** How long a write that nobody waits for may stay in memory. */
const laterMs = 4
/** Pause before such writes are tried again when the store could not be written. */
const retryMs = 1000
/** What nobody flushes is on stable storage after so long. */
const flushEveryMs = 2000
/** A log of this size is followed by a snapshot of the store; a large store, by one when the log is half as large. */
const leastLogBytes = 64 * 2 ** 20
/** Steps of one transaction, so that others are not kept waiting for the lock. */
const mostSteps = 500
/** lmdb's NO_SYNC_FLUSH and SYNCHRONOUS_COMMIT: the commit is done on return and does not wait for the disk. */
const commitFlags: number = 0x10002

/** Stores open in this process, by directory. */
const stores = new Map<string, { store: Promise<OpenStore>; users: number }>()

/**
 * Opens the store in `directory` (made when missing); opening it again in the same process shares it.
 * Throws an Error with a sentence for the operator when the directory cannot be used.
 */
export async function openEmbeddedStore(directory: string): Promise<EmbeddedStore> {
  const place = prepareDirectory(directory)
  const known = stores.get(place)
  if (known) {
    known.users++
    return known.store
  }
  const store = recover(place).then(() => new OpenStore(place, () => release(place)))
  stores.set(place, { store, users: 1 })
  store.catch(() => stores.delete(place))
  return store
}

/** True when the last user has gone. */
function release(place: string): boolean {
  const known = stores.get(place)
  if (!known || --known.users > 0) return false
  stores.delete(place)
  return true
}

function prepareDirectory(directory: string): string {
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 })
    accessSync(directory, constants.R_OK | constants.W_OK | constants.X_OK)
    return realpathSync(directory)
  } catch (error) {
    throw new Error(
      `The metadata directory ${directory} cannot be used (${(error as Error).message}). ` +
        'Make it writable for the process user, or name another one in svc.proxy.metadata.directory.',
      { cause: error },
    )
  }
}

interface Pending {
  readonly step: () => unknown
  readonly resolve: ((value: unknown) => void) | undefined
  readonly reject: ((error: unknown) => void) | undefined
  outcome: { readonly value: unknown } | { readonly error: unknown } | undefined
}

class OpenStore implements EmbeddedStore {
  readonly directory: string
  readonly #db: Db
  readonly #reader: Reader
  readonly #release: () => boolean
  readonly #log: Log
  readonly #room: Room
  #inTransaction = false
  #changes: LoggedChange[] = []
  #queue: Pending[] = []
  #immediate: NodeJS.Immediate | undefined
  #timer: NodeJS.Timeout | undefined
  #flushing: Promise<void> | undefined
  #nextFlush: Promise<void> | undefined
  #flushTimer: NodeJS.Timeout | undefined
  #snapshot: Promise<void> | undefined
  #closed = false

  constructor(directory: string, release: () => boolean) {
    this.directory = directory
    this.#release = release
    const path = join(directory, 'store.mdb')
    this.#db = openFile(path)
    this.#reader = new Reader(path)
    this.#room = new Room(path, this.#db)
    this.#log = new Log(directory)
  }

  get(key: string): unknown {
    if (this.#closed) throw closedError()
    return this.#inTransaction ? this.#db.get(key) : this.#reader.get(key)
  }

  has(key: string): boolean {
    if (this.#closed) throw closedError()
    return this.#inTransaction ? this.#db.doesExist(key) : this.#reader.has(key)
  }

  keys(range: Range): string[] {
    this.#refresh()
    return [...this.#db.getKeys(range)]
  }

  entries(range: Range): { readonly key: string; readonly value: unknown }[] {
    this.#refresh()
    return [...this.#db.getRange(range)]
  }

  count(range: Range): number {
    this.#refresh()
    return this.#db.getKeysCount(range)
  }

  /** Ranges are read in lmdb's own read transaction, which would stay where it was for a while. */
  #refresh(): void {
    if (this.#closed) throw closedError()
    if (!this.#inTransaction) this.#db.resetReadTxn()
  }

  write<T>(step: () => T): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      if (this.#closed) return reject(closedError())
      this.#queue.push({ step, resolve: resolve as (value: unknown) => void, reject, outcome: undefined })
      this.#immediate ??= setImmediate(this.#commit)
    })
  }

  writeLater(step: () => void, soon = false): void {
    this.#queue.push({ step, resolve: undefined, reject: undefined, outcome: undefined })
    if (this.#closed) this.#queue = []
    else if (soon) this.#immediate ??= setImmediate(this.#commit)
    else if (!this.#immediate) this.#timer ??= setTimeout(this.#commit, laterMs).unref()
  }

  put(key: string, value: unknown): void {
    this.#db.put(key, value)
    this.#changes.push([key, value])
  }

  remove(key: string): void {
    this.#db.remove(key)
    this.#changes.push([key])
  }

  putVolatile(key: string, value: unknown): void {
    this.#db.put(key, value)
  }

  removeVolatile(key: string): void {
    this.#db.remove(key)
  }

  readonly #commit = (): void => {
    clearImmediate(this.#immediate)
    clearTimeout(this.#timer)
    this.#immediate = undefined
    this.#timer = undefined
    const batch = this.#queue.splice(0, mostSteps)
    if (batch.length === 0) return
    const isReleasing = batch.every(({ reject }) => !reject)
    let culprit: Pending | undefined
    try {
      this.#db.transactionSync(() => {
        this.#inTransaction = true
        this.#changes = []
        for (const pending of batch) {
          culprit = pending
          pending.outcome = attempt(pending.step)
        }
        culprit = undefined
        const bytes = this.#changes.length > 0 ? this.#logChanges() : 0
        this.#room.ensure(batch.length + this.#changes.length, bytes, isReleasing)
      }, commitFlags)
      this.#inTransaction = false
    } catch (error) {
      this.#inTransaction = false
      const failure = storeError(error)
      if (!culprit || isStoreFailure(error)) {
        for (const { reject } of batch) reject?.(failure)
        // Those who wait for others are tried at once, they may need less room; the rest goes to the end, for later.
        if (this.#queue.some(({ reject }) => reject)) this.#immediate = setImmediate(this.#commit)
        this.#queue.push(...batch.filter(({ reject }) => !reject))
        if (this.#queue.length > 0) this.#timer = setTimeout(this.#commit, isReleasing ? retryMs : laterMs).unref()
        return
      }
      // Nothing of the transaction was kept. Whoever broke it is told; the others are innocent and run again.
      culprit.reject?.(failure)
      this.#queue = [...batch.filter((pending) => pending !== culprit), ...this.#queue]
      this.#commit()
      return
    }
    if (this.#queue.length > 0) this.#immediate ??= setImmediate(this.#commit)
    for (const { outcome, resolve, reject } of batch) {
      if (outcome && 'error' in outcome) reject?.(outcome.error)
      else resolve?.(outcome?.value)
    }
  }

  /** Returns the bytes of the changes. */
  #logChanges(): number {
    const position = this.#db.get(positionKey) as LogPosition
    const payload = encodeChanges(this.#db, this.#changes)
    const next = this.#log.append(position, payload)
    this.#db.put(positionKey, next)
    this.#flushTimer ??= setTimeout(() => this.#flushByAndBy(next), flushEveryMs).unref()
    return payload.length
  }

  #flushByAndBy([log, bytes]: LogPosition): void {
    this.#flushTimer = undefined
    // Failures are told to those who wait for safety; the next commit tries again.
    this.flush().catch(() => {})
    if (bytes > leastLogBytes && bytes > usedBytes(this.#db) / 2) this.#snapshot ??= this.#rotate(log)
  }

  /** Begins a new log, unless another process did, and replaces the old ones by a snapshot. */
  async #rotate(log: number): Promise<void> {
    try {
      await this.flush()
      const next = await this.write(() => {
        const position = this.#db.get(positionKey) as LogPosition
        if (position[0] !== log) return undefined
        const begun = this.#log.rotate(position)
        this.#db.put(positionKey, begun)
        return begun[0]
      })
      if (next !== undefined) await takeSnapshot(this.directory, this.#db, next)
    } catch {
      // No room, most likely: the logs stay, and the next attempt follows when this one has grown again.
    } finally {
      this.#snapshot = undefined
    }
  }

  flush(): Promise<void> {
    this.#commit()
    if (!this.#flushing) return this.#startFlush()
    // The running one may have begun before the newest commit; all who come meanwhile share the next.
    this.#nextFlush ??= this.#flushing.then(
      () => this.#startFlush(),
      () => this.#startFlush(),
    )
    return this.#nextFlush
  }

  #startFlush(): Promise<void> {
    this.#nextFlush = undefined
    this.#flushing = this.#log
      .sync()
      .catch((error) => {
        throw storeError(error)
      })
      .finally(() => {
        this.#flushing = undefined
      })
    return this.#flushing
  }

  async close(): Promise<void> {
    const isLast = this.#release()
    // What finds no room now is lost with the process: nothing that was acknowledged.
    for (let left = this.#queue.length; left > mostSteps; left -= mostSteps) this.#commit()
    await this.flush()
    if (!isLast) return
    this.#closed = true
    clearTimeout(this.#timer)
    clearTimeout(this.#flushTimer)
    await this.#snapshot
    await this.#log.close()
    this.#room.close()
    await this.#reader.close()
    await this.#db.close()
  }
}

function closedError(): S3Error {
  return storeError(new Error('it is closed'))
}

/** A step's own refusal stays its own; trouble with the store ends the whole transaction. */
function attempt(step: () => unknown): Pending['outcome'] {
  try {
    return { value: step() }
  } catch (error) {
    if (error instanceof S3Error) return { error }
    throw error
  }
}

/** Errors of lmdb and the file system have a number; a bad key or value has none and is its step's own fault. */
function isStoreFailure(error: unknown): boolean {
  return typeof (error as { code?: unknown }).code === 'number'
}

/** No space, quota or largest file size used up; -30792 is lmdb's MDB_MAP_FULL. */
const fullCodes: ReadonlySet<unknown> = new Set([28, 122, 27, 'ENOSPC', 'EDQUOT', 'EFBIG', -30792])

/** What the client is told when the store fails: nothing was written, and the store stays usable. */
function storeError(error: unknown): S3Error {
  const { code, message } = error as { code?: number | string; message: string }
  const full = fullCodes.has(code)
  return full
    ? new S3Error('InsufficientStorage', 'There is no space left for the metadata store. Free some, then try again.', {
        cause: error,
      })
    : new S3Error('ServiceUnavailable', 'The metadata store cannot be written at the moment. Please try again.', {
        cause: new Error(`metadata store: ${message}`, { cause: error }),
        headers: { 'Retry-After': '1' },
      })
}
