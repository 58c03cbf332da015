import { accessSync, closeSync, constants, fdatasync, mkdirSync, openSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { open, type RootDatabase, type RootDatabaseOptionsWithPath } from 'lmdb'
import { S3Error } from '../s3/errors.ts'

/**
 * The one file in which the embedded drivers (metadata and jobs) keep their state: an LMDB environment that every
 * process of the host may open at once. All work on it is synchronous and short:
 *
 * - Reads cost about a microsecond and see what any process has committed before.
 * - Writes of one turn of the event loop go into one transaction on the main thread (10–60 µs, however many they are).
 *   lmdb's own asynchronous writes were measured against this: they wait for an fsync in every batch, which costs
 *   3.6 ms a write at concurrency 8, and block libuv's threads meanwhile.
 * - A commit survives the kill of every process at once; `flush` makes it survive the loss of the machine.
 */
export interface EmbeddedStore {
  readonly directory: string
  /** Reads, and inside a step of `write` also writes. Keys are strings, compared by their UTF-8 bytes. */
  readonly db: Db
  /** Makes the reads that follow see the newest commit of any process, not the one of the turn's first read. */
  refresh(): void
  /**
   * Runs `step` in the next transaction and resolves with its result once that is committed. A step must do all its
   * checks before its first write: when it throws, only its own promise fails and the others are committed.
   */
  write<T>(step: () => T): Promise<T>
  /**
   * Like `write`, but nobody waits: it goes with the next transaction, at the latest after a few milliseconds (with
   * `soon`, at the end of this turn). While the disk is full it is kept and tried again.
   */
  writeLater(step: () => void, soon?: boolean): void
  /** Resolves when everything committed so far is on stable storage; calls that come together share the work. */
  flush(): Promise<void>
  /** Commits what is queued and lets go; the last one to close in this process closes the file. */
  close(): Promise<void>
}

export type Db = RootDatabase<unknown, string>

/** Longest key in bytes; lmdb's own limit is 1,978. */
export const maxKeyBytes = 1900

/** Only address space: the file grows as needed. */
const mapBytes = 64 * 2 ** 30
/** How long a write that nobody waits for may stay in memory. */
const laterMs = 4
/** Pause before such writes are tried again when the store could not be written. */
const retryMs = 1000
/** lmdb's NO_SYNC_FLUSH and SYNCHRONOUS_COMMIT: the commit is done on return and does not wait for the disk. */
const commitFlags: number = 0x10002

const stores = new Map<string, { store: OpenStore; users: number }>()

/**
 * Opens the store in `directory` (made when missing); opening it again in the same process shares it.
 * Throws an Error with a sentence for the operator when the directory cannot be used.
 */
export function openEmbeddedStore(directory: string): EmbeddedStore {
  const place = prepareDirectory(directory)
  const known = stores.get(place)
  if (known) {
    known.users++
    return known.store
  }
  const store = new OpenStore(place, () => release(place))
  stores.set(place, { store, users: 1 })
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
  readonly db: Db
  readonly #release: () => boolean
  /** The data file once more, for fdatasync off the event loop. */
  readonly #file: number
  #queue: Pending[] = []
  #immediate: NodeJS.Immediate | undefined
  #timer: NodeJS.Timeout | undefined
  #flushing: Promise<void> | undefined
  #nextFlush: Promise<void> | undefined
  #closed = false

  constructor(directory: string, release: () => boolean) {
    this.directory = directory
    this.#release = release
    const path = join(directory, 'store.mdb')
    const options: RootDatabaseOptionsWithPath & { permissionsMode: number } = {
      path,
      encoding: 'msgpack',
      keyEncoder,
      mapSize: mapBytes,
      maxReaders: 1024,
      noSync: true,
      overlappingSync: false,
      noMemInit: true,
      permissionsMode: 0o600,
    }
    this.db = open<unknown, string>(options)
    this.#file = openSync(path, 'r+')
  }

  refresh(): void {
    this.db.resetReadTxn()
  }

  write<T>(step: () => T): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      if (this.#closed) return reject(storeError(new Error('it is closed')))
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

  readonly #commit = (): void => {
    clearImmediate(this.#immediate)
    clearTimeout(this.#timer)
    this.#immediate = undefined
    this.#timer = undefined
    const batch = this.#queue
    if (batch.length === 0) return
    this.#queue = []
    let culprit: Pending | undefined
    try {
      this.db.transactionSync(() => {
        for (const pending of batch) {
          culprit = pending
          pending.outcome = attempt(pending.step)
        }
        culprit = undefined
      }, commitFlags)
    } catch (error) {
      const failure = storeError(error)
      if (!culprit || isStoreFailure(error)) {
        for (const { reject } of batch) reject?.(failure)
        this.#queue = [...batch.filter(({ reject }) => !reject), ...this.#queue]
        if (this.#queue.length > 0) this.#timer = setTimeout(this.#commit, retryMs).unref()
        return
      }
      // Nothing of the transaction was kept. Whoever broke it is told; the others are innocent and run again.
      culprit.reject?.(failure)
      this.#queue = [...batch.filter((pending) => pending !== culprit), ...this.#queue]
      this.#commit()
      return
    }
    for (const { outcome, resolve, reject } of batch) {
      if (outcome && 'error' in outcome) reject?.(outcome.error)
      else resolve?.(outcome?.value)
    }
  }

  flush(): Promise<void> {
    if (!this.#flushing) return this.#startFlush()
    // What was committed after the running one began needs another; all who come meanwhile share that.
    this.#nextFlush ??= this.#flushing.then(
      () => this.#startFlush(),
      () => this.#startFlush(),
    )
    return this.#nextFlush
  }

  #startFlush(): Promise<void> {
    this.#nextFlush = undefined
    this.#commit()
    this.#flushing = new Promise<void>((resolve, reject) => {
      fdatasync(this.#file, (error) => {
        this.#flushing = undefined
        if (error) reject(storeError(error))
        else resolve()
      })
    })
    return this.#flushing
  }

  async close(): Promise<void> {
    this.#commit()
    await this.flush()
    if (!this.#release()) return
    this.#closed = true
    await this.db.close()
    closeSync(this.#file)
  }
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

/** What the client is told when the store fails: nothing was written, and the store stays usable. */
function storeError(error: unknown): S3Error {
  const { code, message } = error as { code?: number | string; message: string }
  const full = code === 28 || code === 122 || code === 'ENOSPC' || code === 'EDQUOT' || code === -30792
  return full
    ? new S3Error('InsufficientStorage', 'There is no space left for the metadata store. Free some, then try again.', {
        cause: error,
      })
    : new S3Error('ServiceUnavailable', 'The metadata store cannot be written at the moment. Please try again.', {
        cause: new Error(`metadata store: ${message}`, { cause: error }),
        headers: { 'Retry-After': '1' },
      })
}

/** Strings go straight into lmdb's key buffer, without a Buffer of their own. */
const keyEncoder = {
  writeKey: (key: string, target: Buffer, start: number): number => start + target.write(key, start, 'utf8'),
  readKey: (source: Buffer, start: number, end: number): string =>
    Buffer.from(source.buffer, source.byteOffset + start, end - start).toString('utf8'),
}
