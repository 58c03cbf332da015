import { join } from 'node:path'
import { type Db, encodeChanges, openFile, usedBytes } from './file.ts'
import { Log, type LoggedChange, type LogPosition } from './log.ts'
import { Reader } from './reader.ts'
import { positionKey } from './recovery.ts'
import { Room } from './room.ts'
import { takeSnapshot } from './snapshot.ts'
import type { EmbeddedStore, Range } from './store.ts'
import { closedError, storeError } from './store-error.ts'
import { WriteQueue } from './write-queue.ts'

/** What nobody flushes is on stable storage after so long. */
const flushEveryMs = 2000
/** A log of this size is followed by a snapshot of the store; a large store, by one when the log is half as large. */
const leastLogBytes = 64 * 2 ** 20
/** lmdb's NO_SYNC_FLUSH and SYNCHRONOUS_COMMIT: the commit is done on return and does not wait for the disk. */
const commitFlags: number = 0x10002

/** The files of an embedded store, open in this process. */
export class OpenStore implements EmbeddedStore {
  readonly directory: string
  readonly #db: Db
  readonly #reader: Reader
  readonly #log: Log
  readonly #room: Room
  readonly #queue = new WriteQueue((steps, count, releasing) => this.#transact(steps, count, releasing))
  /** True when the last user of the store has closed it. */
  readonly #release: () => boolean
  #inTransaction = false
  #changes: LoggedChange[] = []
  #flushing: Promise<void> | undefined
  #nextFlush: Promise<void> | undefined
  #flushTimer: NodeJS.Timeout | undefined
  #snapshot: Promise<void> | undefined
  #closed = false

  constructor(directory: string, release: () => boolean) {
    const path = join(directory, 'store.mdb')
    this.directory = directory
    this.#release = release
    this.#db = openFile(path)
    this.#reader = new Reader(path)
    this.#room = new Room(path, this.#db)
    this.#log = new Log(directory)
  }

  // ---- reading -------------------------------------------------------------------------------------------------

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

  // ---- writing -------------------------------------------------------------------------------------------------

  write<T>(step: () => T): Promise<T> {
    return this.#queue.write(step)
  }

  writeLater(step: () => void, soon = false): void {
    this.#queue.writeLater(step, soon)
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

  #transact(steps: () => void, count: number, releasing: boolean): void {
    try {
      this.#db.transactionSync(() => {
        this.#inTransaction = true
        this.#changes = []
        steps()
        const bytes = this.#changes.length > 0 ? this.#logChanges() : 0
        this.#room.ensure(count + this.#changes.length, bytes, releasing)
      }, commitFlags)
    } finally {
      this.#inTransaction = false
    }
  }

  /** Returns the bytes of the changes. */
  #logChanges(): number {
    const payload = encodeChanges(this.#db, this.#changes)
    const next = this.#log.append(this.#db.get(positionKey) as LogPosition, payload)
    this.#db.put(positionKey, next)
    this.#flushTimer ??= setTimeout(() => this.#flushByAndBy(next), flushEveryMs).unref()
    return payload.length
  }

  // ---- durability ----------------------------------------------------------------------------------------------

  flush(): Promise<void> {
    this.#queue.drain()
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

  #flushByAndBy([log, bytes]: LogPosition): void {
    this.#flushTimer = undefined
    // A process that was killed while it read holds its snapshot until somebody looks.
    this.#db.readerCheck()
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

  async close(): Promise<void> {
    const isLast = this.#release()
    // What finds no room now is lost with the process: nothing that was acknowledged.
    await this.flush()
    if (!isLast) return
    this.#closed = true
    this.#queue.close()
    clearTimeout(this.#flushTimer)
    await this.#snapshot
    await this.#log.close()
    this.#room.close()
    await this.#reader.close()
    await this.#db.close()
  }
}
