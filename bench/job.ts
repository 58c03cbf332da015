/** What the load generator (`load/job.go`) takes and gives. */
export interface Job {
  readonly host: string
  readonly port: number
  readonly access: string
  readonly secret: string
  readonly region: string
  readonly connections: number
  /** Exactly so many operations; without it as many as begin within `seconds`, `minimum` at least. */
  readonly operations?: number
  readonly minimum?: number
  readonly seconds?: number
  readonly warmup?: number
  /** Processes of the server, whose CPU time is measured. */
  readonly pids: readonly number[]
  readonly requests?: readonly Template[]
  readonly multipart?: {
    readonly path: string
    readonly from: number
    readonly parts: number
    readonly partSize: number
  }
  readonly background?: Template
  readonly perSecond?: number
}

/** `count` requests: `{n}` in path and query stands for `from`, `from + 1`, … */
export interface Template {
  readonly method: string
  /** Percent-encoded, with a leading slash. */
  readonly path: string
  /** In canonical order, without the question mark. */
  readonly query?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly from?: number
  readonly count?: number
  /** Bytes of the pattern to send. */
  readonly body?: number
  readonly expect: Expect
}

export interface Expect {
  readonly status: number
  /** Of the body; -1: any. */
  readonly bytes: number
  /** Where in the pattern the body begins; -1: not compared. */
  readonly offset: number
  /** How many of each a listing holds; -1: not counted. */
  readonly keys: number
  readonly prefixes: number
}

/** Times in seconds. */
export interface Result {
  readonly operations: number
  readonly errors: number
  readonly firstError?: string
  readonly bytes: number
  readonly seconds: number
  readonly p50: number
  readonly p99: number
  readonly longest: number
  readonly serverCpu: number
  readonly loadCpu: number
  /** Of everything else on the machine: the noise. */
  readonly otherCpu: number
  readonly background: number
}

/** An expectation of which only some fields matter. */
export function expecting(status: number, rest: Partial<Expect> = {}): Expect {
  return { status, bytes: -1, offset: -1, keys: -1, prefixes: -1, ...rest }
}
