/**
 * The admission rule of a thread-pool executor, without threads: up to `core` run at once, then `queue` wait, then up to
 * `maximum` run, beyond that the pool refuses. A slot whose owner waits for its client is given up with `leave` and
 * taken again with `resume`, which goes before the queue and is never refused.
 */
export class SlotPool {
  readonly #core: number
  readonly #maximum: number
  readonly #queueSize: number
  readonly #queue: (() => void)[] = []
  /** First waiting entry of `#queue`: shifting a long array for each would cost more than the work. */
  #head = 0
  readonly #resuming: (() => void)[] = []
  #running = 0

  constructor(core: number, maximum: number, queueSize: number) {
    this.#core = core
    this.#maximum = maximum
    this.#queueSize = queueSize
  }

  get running(): number {
    return this.#running
  }

  get waiting(): number {
    return this.#queue.length - this.#head + this.#resuming.length
  }

  /** `running`, `refused`, or a promise of one's turn. */
  enter(): 'running' | 'refused' | Promise<void> {
    const waiting = this.#queue.length - this.#head
    const roomInCore = this.#running < this.#core && waiting === 0 && this.#resuming.length === 0
    // An executor whose core is 0 starts one thread for what it queues.
    const first = this.#running === 0 && waiting === 0 && this.#resuming.length === 0
    if (roomInCore || first) {
      this.#running++
      return 'running'
    }
    if (waiting < this.#queueSize) return new Promise((resolve) => this.#queue.push(resolve))
    if (this.#running < this.#maximum) {
      this.#running++
      return 'running'
    }
    return 'refused'
  }

  /** Gives a slot to whoever waits, those that had one before first. */
  leave(): void {
    const next = this.#resuming.shift() ?? this.#dequeue()
    if (next) next()
    else this.#running--
  }

  resume(): Promise<void> | undefined {
    const full = this.#queue.length - this.#head >= this.#queueSize
    if (this.#running < (full ? this.#maximum : Math.max(1, this.#core))) {
      this.#running++
      return undefined
    }
    return new Promise((resolve) => this.#resuming.push(resolve))
  }

  #dequeue(): (() => void) | undefined {
    const next = this.#queue[this.#head]
    if (next === undefined) return undefined
    this.#head++
    if (this.#head > 1024 && this.#head * 2 > this.#queue.length) {
      this.#queue.splice(0, this.#head)
      this.#head = 0
    }
    return next
  }
}
