import { accessSync, constants, mkdirSync, realpathSync } from 'node:fs'
import { OpenStore } from './open-store.ts'
import { recover } from './recovery.ts'

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
  const store = open(place)
  stores.set(place, { store, users: 1 })
  store.catch(() => stores.delete(place))
  return store
}

async function open(place: string): Promise<OpenStore> {
  try {
    await recover(place)
    return new OpenStore(place, () => release(place))
  } catch (error) {
    throw new Error(
      `The metadata store in ${place} cannot be opened (${(error as Error).message}). ` +
        'Its directory must be on a local disk with some space left, and all in it belongs to the gateway alone.',
      { cause: error },
    )
  }
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
