import type { Config } from '../config/properties.ts'
import type { Metadata } from '../metadata/metadata.ts'
import type { Namespace, Target } from '../namespace/namespace.ts'

/** What the functions of this folder work with. */
export interface Stores {
  readonly config: Config
  readonly namespace: Namespace
  readonly metadata: Metadata
}

/** Name of a target's intents: one for each file, whichever way a bucket is spelled (`a:b` with `k`, `a` with `b/k`). */
export function pathOf(target: Target): string {
  return `${target.bucket}/${target.key}`
}

/** A key with a final slash names a folder. */
export function isFolder(target: Target): boolean {
  return target.key.endsWith('/')
}

/**
 * Whether a write is acknowledged only when it would survive the loss of the machine. On a single tier MUST_CACHE means
 * "in the file system", the other write types mean "fsynced" (design §8).
 */
export function isDurable(config: Config): boolean {
  return config.writeType !== 'MUST_CACHE'
}
