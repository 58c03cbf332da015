import type { ActingUser } from '../acting-user.ts'
import type { Mount } from '../mount.ts'

/** What a step is given besides its arguments. */
export interface Scene {
  readonly mount: Mount
  /** Whom it runs as; undefined is the process user. The thread has been switched already. */
  readonly as: ActingUser | undefined
  /** Hands the memory of a result over instead of copying it. */
  transfer(memory: ArrayBuffer): void
}

/**
 * One visit to the file system, run to its end by a namespace thread as the acting user. Arguments and result are plain
 * values. A long step is a generator: at each `yield` others may run in between. Throws S3Error, or returns one where
 * that is an everyday answer, since a throw costs more than the look at the file system.
 */
// biome-ignore lint/suspicious/noExplicitAny: arguments differ from step to step; `Steps` in index.ts has their types
export type Step = (scene: Scene, ...args: any[]) => unknown
