/** A clock and a timer; tests give false ones. */
export interface Clock {
  nowMs(): number
  /** Calls once after `ms`. */
  after(ms: number, call: () => void): void
}

const systemClock: Clock = {
  nowMs: () => performance.now(),
  after: (ms, call) => void setTimeout(call, ms),
}

interface Waiter {
  readonly size: number
  readonly go: () => void
}

/** Bytes that may pass at once after a pause, in milliseconds of the rate: small, so that shaping stays smooth. */
const burstMs = 50

/**
 * Shapes bytes to a rate. Whoever wants to pass bytes waits in one queue, first come, first served; as each waits with
 * one small chunk at a time, all get the same share. The rate is read at every turn, so that it may change at any time.
 */
export class RateLimit {
  readonly #rate: () => number | undefined
  readonly #clock: Clock
  readonly #waiters: Waiter[] = []
  /** Bytes that may pass now; below 0 after a chunk larger than it. */
  #tokens = 0
  #filledMs: number
  #armed = false

  /** `rate` in bytes a second; undefined is no limit, 0 lets nothing pass until `refresh`. */
  constructor(rate: () => number | undefined, clock: Clock = systemClock) {
    this.#rate = rate
    this.#clock = clock
    this.#filledMs = clock.nowMs()
  }

  get limited(): boolean {
    return this.#rate() !== undefined
  }

  get waiting(): number {
    return this.#waiters.length
  }

  /** Bytes to ask for at a time: some 60 ms worth, fewer when many wait, so that none waits for long. */
  chunkSize(): number {
    const share = (this.#rate() ?? Number.POSITIVE_INFINITY) / 16 / (this.#waiters.length + 1)
    return Math.max(4096, Math.min(262144, Math.floor(share / 4096) * 4096))
  }

  /** Resolves when `size` bytes may pass; undefined when they may at once. */
  take(size: number): Promise<void> | undefined {
    if (!this.limited && this.#waiters.length === 0) return undefined
    this.#fill()
    if (this.#waiters.length === 0 && this.#tokens > 0) {
      this.#tokens -= size
      return undefined
    }
    return new Promise((go) => {
      this.#waiters.push({ size, go })
      this.#arm()
    })
  }

  /** The rate has changed: looks again who may go. */
  refresh(): void {
    this.#serve()
  }

  #fill(): void {
    const now = this.#clock.nowMs()
    const rate = this.#rate() ?? 0
    this.#tokens = Math.min((rate * burstMs) / 1000, this.#tokens + ((now - this.#filledMs) * rate) / 1000)
    this.#filledMs = now
  }

  #serve(): void {
    this.#fill()
    while (this.#waiters.length > 0 && (this.#tokens > 0 || !this.limited)) {
      const waiter = this.#waiters.shift()
      if (!waiter) break
      if (this.limited) this.#tokens -= waiter.size
      waiter.go()
    }
    this.#arm()
  }

  #arm(): void {
    if (this.#armed || this.#waiters.length === 0) return
    this.#armed = true
    const rate = this.#rate()
    let untilMs = 0
    if (rate === 0) untilMs = 250
    else if (rate !== undefined) untilMs = Math.min(250, Math.max(1, (-this.#tokens * 1000) / rate))
    this.#clock.after(untilMs, () => {
      this.#armed = false
      this.#serve()
    })
  }
}
