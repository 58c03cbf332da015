import { S3Error } from '../s3/errors.ts'
import { closedError, isStoreFailure, storeError } from './store-error.ts'

/** How long a write that nobody waits for may stay in memory. */
const laterMs = 4
/** Pause before such writes are tried again when the store could not be written. */
const retryMs = 1000
/** Steps of one transaction, so that others are not kept waiting for the lock. */
const mostSteps = 500

interface Pending {
  readonly step: () => unknown
  /** Absent when nobody waits. */
  readonly waiting: { resolve(value: unknown): void; reject(error: unknown): void } | undefined
  outcome: { readonly value: unknown } | { readonly error: unknown } | undefined
}

/**
 * Runs `steps` in one transaction. `releasing` when they only let go of something, so that they may use what is kept
 * in reserve. Throws when nothing was kept of it.
 */
type Transact = (steps: () => void, count: number, releasing: boolean) => void

/** Gathers the steps of one turn of the event loop into one transaction. See EmbeddedStore for what a step is. */
export class WriteQueue {
  readonly #transact: Transact
  #queue: Pending[] = []
  #immediate: NodeJS.Immediate | undefined
  #timer: NodeJS.Timeout | undefined
  #closed = false

  constructor(transact: Transact) {
    this.#transact = transact
  }

  write<T>(step: () => T): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      if (this.#closed) return reject(closedError())
      const waiting = { resolve: resolve as (value: unknown) => void, reject }
      this.#queue.push({ step, waiting, outcome: undefined })
      this.#immediate ??= setImmediate(this.#commit)
    })
  }

  writeLater(step: () => void, soon: boolean): void {
    if (this.#closed) return
    this.#queue.push({ step, waiting: undefined, outcome: undefined })
    if (soon) this.#immediate ??= setImmediate(this.#commit)
    else if (!this.#immediate) this.#timer ??= setTimeout(this.#commit, laterMs).unref()
  }

  /** Commits what is queued now, as far as it finds room. */
  drain(): void {
    for (let left = this.#queue.length; left > 0; left -= mostSteps) this.#commit()
  }

  close(): void {
    this.#closed = true
    clearImmediate(this.#immediate)
    clearTimeout(this.#timer)
  }

  readonly #commit = (): void => {
    clearImmediate(this.#immediate)
    clearTimeout(this.#timer)
    this.#immediate = undefined
    this.#timer = undefined
    const batch = this.#queue.splice(0, mostSteps)
    if (batch.length === 0) return
    const releasing = batch.every(({ waiting }) => !waiting)
    let culprit: Pending | undefined
    try {
      this.#transact(
        () => {
          for (const pending of batch) {
            culprit = pending
            pending.outcome = attempt(pending.step)
          }
          culprit = undefined
        },
        batch.length,
        releasing,
      )
    } catch (error) {
      if (culprit && !isStoreFailure(error)) this.#exclude(culprit, batch, error)
      else this.#postpone(batch, releasing, error)
      return
    }
    if (this.#queue.length > 0) this.#immediate ??= setImmediate(this.#commit)
    for (const { outcome, waiting } of batch) {
      if (outcome && 'error' in outcome) waiting?.reject(outcome.error)
      else waiting?.resolve(outcome?.value)
    }
  }

  /** Whoever broke the transaction is told; the others are innocent and run again. */
  #exclude(culprit: Pending, batch: Pending[], error: unknown): void {
    culprit.waiting?.reject(storeError(error))
    this.#queue = [...batch.filter((pending) => pending !== culprit), ...this.#queue]
    this.#commit()
  }

  /** The store cannot be written: those who wait are told, what nobody waits for is tried again. */
  #postpone(batch: Pending[], releasing: boolean, error: unknown): void {
    const failure = storeError(error)
    for (const { waiting } of batch) waiting?.reject(failure)
    // The next ones may need less room; what is kept goes to the end, so as not to be in their way.
    if (this.#queue.some(({ waiting }) => waiting)) this.#immediate = setImmediate(this.#commit)
    this.#queue.push(...batch.filter(({ waiting }) => !waiting))
    if (this.#queue.length > 0) this.#timer = setTimeout(this.#commit, releasing ? retryMs : laterMs).unref()
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
