import type { Config } from '../config/properties.ts'
import type { Queue } from '../jobs/jobs.ts'
import type { ErrorCode } from '../s3/errors.ts'
import type { Stores } from './stores.ts'
import type { CompletedUpload, Completion } from './uploads.ts'

/** A completion as a job: everything any process needs to run it. */
export interface CompletionJob {
  readonly upload: string
  /** Name of the acting user; null is the process user by default (spec §5.5). */
  readonly user: string | null
  /** The job's own name. Whose turn it is while the upload is being completed is decided by it. */
  readonly job: string
  readonly completion: Completion
}

/** A client's error is a result, not a failure of the job: repeating it would not help. */
export type CompletionOutcome =
  | { readonly completed: CompletedUpload }
  | {
      readonly refused: {
        readonly code: ErrorCode
        readonly message: string
        readonly details: Readonly<Record<string, string>>
      }
    }

/** The same shape without names: TypeScript takes an interface for JSON only in this form. */
type Plain<T> = { readonly [K in keyof T]: Plain<T[K]> }

export type CompletionPayload = Plain<CompletionJob>
export type CompletionResult = Plain<CompletionOutcome>
export type CompletionQueue = Queue<CompletionPayload, CompletionResult>
export type UploadQueue = Queue<{ readonly upload: string }, null>

export function completionQueue(config: Config): CompletionQueue {
  return {
    name: 'complete-multipart-upload',
    concurrency: config.completionPoolSize,
    attempts: 3,
    backoffMs: 1000,
    // Repeated requests are answered from the upload's record, for an hour (design §6); the part list need not stay.
    keepResultMs: 60_000,
  }
}

/** Aborts what is older than the cleaner's timeout, and ends aborts that were interrupted. */
export function cleanerQueue(config: Config): UploadQueue {
  return {
    name: 'clean-multipart-upload',
    concurrency: config.cleanerPoolSize,
    attempts: config.cleanerRetryCount + 1,
    backoffMs: config.cleanerRetryDelayMs,
    keepResultMs: 0,
  }
}

/** Has the cleaner look at an upload once it is old enough. */
export async function scheduleCleaning(stores: Stores, upload: { id: string; initiatedMs: number }): Promise<void> {
  if (!stores.config.cleanerEnabled) return
  const delayMs = Math.max(0, upload.initiatedMs + stores.config.cleanerTimeoutMs - Date.now())
  await stores.jobs.schedule(cleanerQueue(stores.config), upload.id, { upload: upload.id }, delayMs)
}

export async function cancelCleaning(stores: Stores, upload: string): Promise<void> {
  if (stores.config.cleanerEnabled) await stores.jobs.cancel(cleanerQueue(stores.config), upload)
}
