import type { EmbeddedStore } from '../embedded/store.ts'

const sweepEveryMs = 10_000
const pauseMs = 50
/** Lists per sweeping transaction. */
const listsPerStep = 4
/** So many entries make one list, or what came together in so long. */
const listLength = 64
const collectMs = 200

/**
 * Entries that go after a grace period, as lists of their keys under `x<due, 12 hex digits><list>`. Swept lazily in
 * small steps by whichever process comes first; removing twice does no harm.
 */
export class EmbeddedExpiry {
  readonly #store: EmbeddedStore
  readonly #graceMs: number
  readonly #name = Math.random().toString(36).slice(2, 10)
  #count = 0
  #collected: string[] = []
  #collecting: NodeJS.Timeout | undefined
  #sweeping: NodeJS.Timeout | undefined

  constructor(store: EmbeddedStore, graceMs: number) {
    this.#store = store
    this.#graceMs = graceMs
    this.#sweepIn(sweepEveryMs)
  }

  /** To be called in a step: `keys` go at `dueMs`. */
  put(keys: readonly string[], dueMs: number): void {
    for (let at = 0; at < keys.length; at += listLength) {
      const list = `x${stamp(dueMs)}${this.#name}.${(this.#count++).toString(36)}`
      this.#store.put(list, keys.slice(at, at + listLength))
    }
  }

  /**
   * The same after the grace period, cheaply, for every replaced and removed object: many share one list, written soon.
   * A process that is killed meanwhile leaves some records behind that nobody reads.
   */
  collect(keys: readonly string[]): void {
    this.#collected.push(...keys)
    if (this.#collected.length >= listLength) this.#writeCollected()
    else this.#collecting ??= setTimeout(() => this.#writeCollected(), collectMs).unref()
  }

  #writeCollected(): void {
    clearTimeout(this.#collecting)
    this.#collecting = undefined
    const keys = this.#collected
    this.#collected = []
    if (keys.length > 0) this.#store.writeLater(() => this.put(keys, Date.now() + this.#graceMs))
  }

  /** Removes what is due, some at a time; resolves when nothing is due any more. */
  async sweep(nowMs = Date.now()): Promise<void> {
    while (await this.#sweepSome(nowMs)) await new Promise((resolve) => setTimeout(resolve, pauseMs).unref())
  }

  async #sweepSome(nowMs: number): Promise<boolean> {
    const due = this.#store.entries({ start: 'x', end: `x${stamp(nowMs + 1)}`, limit: listsPerStep })
    if (due.length === 0) return false
    await this.#store.write(() => {
      for (const { key, value } of due) {
        this.#store.remove(key)
        for (const expired of value as string[]) this.#store.remove(expired)
      }
    })
    return due.length === listsPerStep
  }

  #sweepIn(ms: number): void {
    this.#sweeping = setTimeout(() => {
      const again = () => this.#sweepIn(sweepEveryMs)
      // When the store cannot be written, what is due stays due.
      this.sweep().then(again, again)
    }, ms).unref()
  }

  close(): void {
    clearTimeout(this.#sweeping)
    this.#writeCollected()
  }
}

const stampDigits = 12

function stamp(ms: number): string {
  return Math.trunc(ms).toString(16).padStart(stampDigits, '0')
}
