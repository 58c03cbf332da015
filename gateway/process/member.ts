import type { Setting } from '../config/load.ts'
import type { Snapshot } from '../telemetry/recorder.ts'

/** One process that answers requests, seen from the one that supervises (which may be the same). */
export interface Member {
  readonly pid: number
  snapshot(): Promise<Snapshot>
  status(): Promise<MemberStatus>
  /** Applies changed live properties. */
  applyLive(changed: readonly LiveSetting[]): void
  /** Bytes a second of the global read-rate cap this process may use from now on. */
  shareReadRate(bytesPerSecond: number): void
  /** Finishes what runs, closes everything. Resolves when it is done, at the latest after the drain timeout. */
  drain(): Promise<void>
}

export type LiveSetting = Pick<Setting, 'key' | 'text'>

/** Detail of readiness. */
export interface MemberStatus {
  readonly pid: number
  readonly ready: boolean
  readonly draining: boolean
  /** The root of the namespace can be read. */
  readonly namespace: boolean
  /** Problems of the metadata store, in sentences. */
  readonly metadata: readonly string[]
  /** `enforced`: file-system work runs as the acting user; `process`: as the process user. */
  readonly identity: 'enforced' | 'process'
}

/** Where a process listens. */
export interface Ports {
  readonly port: number
  readonly rootPort: number | undefined
}
