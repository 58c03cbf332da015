import type { EmbeddedStore } from './embedded-store.ts'

const sweepEveryMs = 10_000
const keysPerSweep = 200
const pauseMs = 50

/**
 * Entries that go after a grace period: `x<due, 12 hex digits><key>`. Swept lazily in small steps, by whichever
 * process comes first; removing twice does no harm.
 */
export class EmbeddedExpiry {
  readonly #store: EmbeddedStore
  #timer: NodeJS.Timeout | undefined

  constructor(store: EmbeddedStore) {
    this.#store = store
    this.#sleep(sweepEveryMs)
  }

  /** To be called in a step: `key` goes at `dueMs`. */
  put(key: string, dueMs: number): void {
    this.#store.db.put(`x${stamp(dueMs)}${key}`, null)
  }

  /** Removes what is due, some keys at a time; resolves when nothing is due any more. */
  async sweep(nowMs = Date.now()): Promise<void> {
    while (await this.#sweepSome(nowMs)) await new Promise((resolve) => setTimeout(resolve, pauseMs).unref())
  }

  async #sweepSome(nowMs: number): Promise<boolean> {
    const { db } = this.#store
    this.#store.refresh()
    const due = [...db.getKeys({ start: 'x', end: `x${stamp(nowMs + 1)}`, limit: keysPerSweep })]
    if (due.length === 0) return false
    await this.#store.write(() => {
      for (const key of due) {
        db.remove(key)
        db.remove(key.slice(1 + stampDigits))
      }
    })
    return due.length === keysPerSweep
  }

  #sleep(ms: number): void {
    this.#timer = setTimeout(() => {
      this.sweep().then(
        () => this.#sleep(sweepEveryMs),
        // The store says so elsewhere; what is due stays due.
        () => this.#sleep(sweepEveryMs),
      )
    }, ms).unref()
  }

  close(): void {
    clearTimeout(this.#timer)
  }
}

const stampDigits = 12

function stamp(ms: number): string {
  return Math.trunc(ms).toString(16).padStart(stampDigits, '0')
}
