import type { Snapshot } from '../telemetry/recorder.ts'
import type { LiveSetting, MemberStatus, Ports } from './member.ts'

/** From the primary to a worker. */
export type ToWorker =
  | { readonly type: 'ask'; readonly id: number; readonly what: 'snapshot' | 'status' }
  | { readonly type: 'live'; readonly changed: readonly LiveSetting[] }
  | { readonly type: 'share'; readonly bytesPerSecond: number }
  | { readonly type: 'drain' }

/** From a worker to the primary. */
export type ToPrimary =
  | { readonly type: 'answer'; readonly id: number; readonly value: Snapshot | MemberStatus }
  | { readonly type: 'started'; readonly ports: Ports }
  /** It cannot start; the message is a sentence for people. */
  | { readonly type: 'failed'; readonly message: string }
  | { readonly type: 'demand'; readonly transfers: number }

/** Name of the environment variable that tells a worker its configuration (JSON of WorkerStart). */
export const workerVariable = 'S3PROXY_WORKER'

/** This process is a worker of a cluster. */
export const isWorker = process.env[workerVariable] !== undefined

export interface WorkerStart {
  /** Written values of all properties, so that all workers agree whatever happens to the file meanwhile. */
  readonly settings: readonly LiveSetting[]
}
