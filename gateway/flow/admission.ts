import type { Config } from '../config/properties.ts'
import { S3Error } from '../s3/errors.ts'
import { SlotPool } from './slot-pool.ts'

/** Leave to work for one request; `leave` and then `end` are called exactly once. */
export interface Slot {
  /** The client makes us wait for bytes: others may use the slot meanwhile. */
  park(): void
  /** Bytes have come: resolves when there is a slot to go on with. Never refused. */
  unpark(): Promise<void> | undefined
  /**
   * Waits for the operation's reply. Rejects with ServiceUnavailable when the context timeout passes first; the clock
   * starts again whenever bytes come from the client. `late` then gets the reply nobody waits for.
   */
  reply<T>(work: Promise<T>, late: (reply: T) => void): Promise<T>
  /** The operation has its reply or has failed. */
  leave(): void
  /** The answer is sent. */
  end(): void
}

/** Which requests may work now, which wait, which are told to slow down. One for each process. */
export interface Admission {
  /** Throws SlowDown. `unbounded` work (a completion that runs as a job) has no context timeout. */
  enter(pool: 'heavy' | 'light', unbounded: boolean): Slot | Promise<Slot>
  /** Numbers for metrics. */
  counts(pool: 'heavy' | 'light'): { readonly running: number; readonly waiting: number }
}

/** The pools of spec §8 when async processing of the v2 service is on, otherwise one bound on requests in flight. */
export function createAdmission(config: Config): Admission {
  return config.version2 && config.asyncProcessing ? pooledAdmission(config) : boundedAdmission(config)
}

function boundedAdmission(config: Config): Admission {
  const running = { heavy: 0, light: 0 }
  const slotOf = (pool: 'heavy' | 'light'): Slot => ({
    park() {},
    unpark: () => undefined,
    reply: (work) => work,
    leave() {},
    end() {
      running[pool]--
    },
  })
  // The slots have no state of their own, so all requests of a pool share one.
  const slots = { heavy: slotOf('heavy'), light: slotOf('light') }
  return {
    enter(pool) {
      if (running.heavy + running.light >= config.maxRequests) throw slowDown()
      running[pool]++
      return slots[pool]
    },
    counts: (pool) => ({ running: running[pool], waiting: 0 }),
  }
}

function pooledAdmission(config: Config): Admission {
  const pools = {
    heavy: new SlotPool(config.heavyPoolCore, config.heavyPoolMaximum, config.heavyPoolQueue),
    light: new SlotPool(config.lightPoolCore, config.lightPoolMaximum, config.lightPoolQueue),
  }
  return {
    enter(name, unbounded) {
      const pool = pools[name]
      const slot = new PooledSlot(pool, unbounded ? 0 : config.asyncContextTimeoutMs)
      const turn = pool.enter()
      if (turn === 'refused') throw slowDown()
      return turn === 'running'
        ? slot
        : slot.reply(
            turn.then(() => slot),
            () => slot.leave(),
          )
    },
    counts: (name) => ({ running: pools[name].running, waiting: pools[name].waiting }),
  }
}

class PooledSlot implements Slot {
  readonly #pool: SlotPool
  readonly #timeoutMs: number
  #progressMs = performance.now()
  #parked = false
  #left = false

  constructor(pool: SlotPool, timeoutMs: number) {
    this.#pool = pool
    this.#timeoutMs = timeoutMs
  }

  park(): void {
    this.#parked = true
    this.#pool.leave()
  }

  async unpark(): Promise<void> {
    await this.#pool.resume()
    this.#parked = false
    if (this.#left) this.#pool.leave()
    this.#progressMs = performance.now()
  }

  reply<T>(work: Promise<T>, late: (reply: T) => void): Promise<T> {
    if (this.#timeoutMs <= 0) return work
    return new Promise<T>((resolve, reject) => {
      let timer: NodeJS.Timeout
      let over = false
      const check = () => {
        const leftMs = this.#parked ? this.#timeoutMs : this.#progressMs + this.#timeoutMs - performance.now()
        if (leftMs > 0) {
          timer = setTimeout(check, leftMs)
          return
        }
        over = true
        reject(new S3Error('ServiceUnavailable', timeoutMessage, { headers: { 'Retry-After': '1' } }))
      }
      timer = setTimeout(check, this.#timeoutMs)
      work
        .then(
          (reply) => (over ? late(reply) : resolve(reply)),
          (error) => reject(error),
        )
        .finally(() => clearTimeout(timer))
    })
  }

  leave(): void {
    this.#left = true
    if (!this.#parked) this.#pool.leave()
  }

  /** Bytes on their way to a client hold no slot. */
  end(): void {}
}

const timeoutMessage = 'The request was not done within svc.proxy.s3.v2.async.context.timeout.ms. Please try again.'

function slowDown(): S3Error {
  return new S3Error('SlowDown', undefined, { headers: { 'Retry-After': '1' } })
}
