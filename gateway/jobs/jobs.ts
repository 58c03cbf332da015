/**
 * Work that outlives its request: completing and cleaning multipart uploads. One interface, several drivers, one
 * contract suite (`jobs.contract.ts`). At least once: a job of a process that died is run again by another, so every
 * handler must be safe to repeat. Payloads and results are small JSON (ids and paths, no secrets).
 */
export interface Jobs {
  /** Declares what runs the jobs of a queue, in every process. Call once per queue, before anything else. */
  process<P extends Json, R extends Json>(
    queue: Queue<P, R>,
    handler: (payload: P, signal: AbortSignal) => Promise<R>,
  ): void
  /**
   * Runs the job named `id`, or joins the one of that name that is waiting, running or done (results are kept
   * `queue.keepResultMs`). Resolves with its result, whichever process ran it; rejects when its attempts are used up or
   * when `signal` fires (the job goes on).
   */
  run<P extends Json, R extends Json>(queue: Queue<P, R>, id: string, payload: P, signal?: AbortSignal): Promise<R>
  /** Puts the job named `id` off until `delayMs` from now; a job of that name that is there already stays as it is. */
  schedule<P extends Json, R extends Json>(queue: Queue<P, R>, id: string, payload: P, delayMs: number): Promise<void>
  /** Removes a job that has not begun; a running one goes on. */
  cancel(queue: Queue<unknown, unknown>, id: string): Promise<void>
  /** Numbers for metrics and `queue status`. */
  counts(queue: Queue<unknown, unknown>): Promise<JobCounts>
  /** Stops taking jobs, waits for running ones up to `deadlineMs`, hands the rest back. */
  close(deadlineMs: number): Promise<void>
}

export interface Queue<P, R> {
  readonly name: string
  /** Jobs at once in each process. */
  readonly concurrency: number
  /** Runs of a failing job in all (1: no retry). */
  readonly attempts: number
  /** Fixed pause between attempts. */
  readonly backoffMs: number
  readonly keepResultMs: number
  /** Phantom fields that carry the types. */
  readonly payload?: P
  readonly result?: R
}

export interface JobCounts {
  readonly waiting: number
  readonly delayed: number
  readonly running: number
  readonly failed: number
}

export type Json = string | number | boolean | null | readonly Json[] | { readonly [name: string]: Json | undefined }
