import type { Socket } from 'node:net'
import type { Config } from '../config/properties.ts'
import { RateLimit } from '../flow/rate-limit.ts'

/** Shapes what clients read: the cap of each connection and the one over all of them hold together (spec §8). */
export interface ReadRate {
  /** Whether any limit is set now. */
  readonly limited: boolean
  /** A transfer to `socket` begins; `end` it. */
  begin(socket: Socket): Transfer
}

export interface Transfer {
  /** How many bytes to ask for at a time. */
  chunkSize(): number
  /** Resolves when `size` bytes may be sent. */
  take(size: number): Promise<void>
  end(): void
}

/** Megabytes are 2^20 here, as the reference counts them (facts §14). */
const megabyte = 2 ** 20
const connectionLimit = Symbol('read-rate limit of the connection')
type LimitedSocket = Socket & { [connectionLimit]?: RateLimit }

export class ReadRateLimits implements ReadRate {
  readonly #config: Config
  /** The part of the global cap this process may use. */
  readonly global: RateLimit
  readonly #demandChanged: (transfers: number) => void
  #transfers = 0

  /**
   * `globalShare` is the bytes a second this process may send, undefined without a cap. `demandChanged` hears how many
   * transfers are going on, so that processes can divide the cap by need.
   */
  constructor(config: Config, globalShare: () => number | undefined, demandChanged: (transfers: number) => void) {
    this.#config = config
    this.global = new RateLimit(globalShare)
    this.#demandChanged = demandChanged
  }

  get limited(): boolean {
    return this.#config.globalReadRateLimitMb > 0 || this.#config.connectionReadRateLimitMb > 0
  }

  begin(socket: LimitedSocket): Transfer {
    socket[connectionLimit] ??= new RateLimit(() =>
      this.#config.connectionReadRateLimitMb > 0 ? this.#config.connectionReadRateLimitMb * megabyte : undefined,
    )
    const own = socket[connectionLimit]
    this.#demandChanged(++this.#transfers)
    return {
      chunkSize: () => Math.min(own.chunkSize(), this.global.chunkSize()),
      take: async (size) => {
        await own.take(size)
        await this.global.take(size)
      },
      end: () => this.#demandChanged(--this.#transfers),
    }
  }
}
