import type { Config } from '../config/properties.ts'
import type { Users } from '../identity/identity.ts'
import type { Jobs } from '../jobs/jobs.ts'
import type { Metadata } from '../metadata/metadata.ts'
import type { Namespace } from '../namespace/namespace.ts'
import type { Objects } from '../objects/objects.ts'

/** What the functions of this folder work with. */
export interface Stores {
  readonly config: Config
  readonly namespace: Namespace
  readonly metadata: Metadata
  readonly objects: Objects
  readonly jobs: Jobs
  readonly users: Users
  /** Tells the operator of work that failed where no client hears of it. */
  readonly report: (message: string, error: unknown) => void
}

/** Whether what is acknowledged must survive the loss of the machine, not only of the process (design §8). */
export function isDurable(config: Config): boolean {
  return config.writeType !== 'MUST_CACHE'
}
