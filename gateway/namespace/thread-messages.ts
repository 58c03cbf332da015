import type { ActingUser } from './acting-user.ts'
import type { MountOptions } from './mount.ts'
import type { StepName } from './steps/index.ts'

/** What a namespace thread is started with. */
export interface ThreadData {
  readonly mount: MountOptions
  /** Smallest difference of modification times that the file system keeps, in ns. */
  readonly granularity: bigint
  /** Shared words, see `stateWords`. */
  readonly state: Int32Array<SharedArrayBuffer>
}

/** `abandoned`: 1 once the thread is given up; `begun`: number of the last call begun; `beats`: signs of life. */
export const stateWords = { abandoned: 0, begun: 1, beats: 2, count: 3 } as const

export type Call = readonly [number: number, step: StepName, as: ActingUser | undefined, arguments_: readonly unknown[]]

export type Answer =
  | readonly [number: number, failed: false, value: unknown]
  | readonly [number: number, failed: true, code: string, message: string, cause: string | undefined]
