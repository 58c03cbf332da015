import { isAlive, type ProcessId } from './process-identity.ts'
import type { EmbeddedStore } from './store.ts'

/** One opening of the store by one process. What it left behind is known by this name. */
export type Session = string

/** How long an answer "is alive" may be used again; "is dead" holds for ever. */
const trustAliveMs = 250

/** Who has the store open: `s<session>` → process. A session without an entry has been closed, so it is dead too. */
export class Sessions {
  readonly own: Session = Math.random().toString(36).slice(2, 10).padEnd(8, '0')
  readonly #store: EmbeddedStore
  readonly #known = new Map<Session, { alive: boolean; askedMs: number }>()

  constructor(store: EmbeddedStore) {
    this.#store = store
  }

  async open(process: ProcessId): Promise<void> {
    await this.#store.write(() => {
      this.#store.putVolatile(`s${this.own}`, process)
    })
  }

  /** Goes with the last transaction of the store; a process that has ended needs no entry to be known as dead. */
  close(): void {
    this.#store.writeLater(() => this.#store.removeVolatile(`s${this.own}`), true)
  }

  isAlive(session: Session): boolean {
    const now = Date.now()
    const known = this.#known.get(session)
    if (known && (!known.alive || now - known.askedMs < trustAliveMs)) return known.alive
    const process = this.#store.get(`s${session}`) as ProcessId | undefined
    const alive = process !== undefined && isAlive(process)
    this.#known.set(session, { alive, askedMs: now })
    return alive
  }

  /** Forgets dead sessions of which nothing is left (`inUse` says what is). */
  tidy(inUse: ReadonlySet<Session>): void {
    for (const key of this.#store.keys({ start: 's', end: 't' })) {
      const session = key.slice(1)
      if (inUse.has(session) || this.isAlive(session)) continue
      this.#store.writeLater(() => this.#store.removeVolatile(key))
      this.#known.delete(session)
    }
  }
}
