/** A metric: declared once. `docs/metrics.md` is generated from the table. */
export interface Metric {
  /** As Prometheus shows it. */
  readonly name: string
  readonly kind: 'counter' | 'gauge' | 'histogram'
  readonly unit: string
  readonly labels: readonly string[]
  readonly doc: string
  /** All processes report the same thing, so their values are not summed. */
  readonly shared?: boolean
  /** Upper bounds of a histogram's buckets. */
  readonly buckets?: readonly number[]
}

const seconds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]

/** Every metric of the gateway. Values of all its processes are summed, but for the `shared` ones. */
export const metrics = {
  requests: {
    name: 's3proxy_requests_total',
    kind: 'counter',
    unit: 'requests',
    labels: ['op', 'code'],
    doc: 'Requests answered, by operation and HTTP status. `op` is Unknown where no operation was recognised.',
  },
  errors: {
    name: 's3proxy_errors_total',
    kind: 'counter',
    unit: 'requests',
    labels: ['op', 'error'],
    doc: 'Requests answered with an error, by operation and S3 error code.',
  },
  requestDuration: {
    name: 's3proxy_request_duration_seconds',
    kind: 'histogram',
    unit: 'seconds',
    labels: ['op'],
    doc: 'From the head of a request to the last byte of its answer.',
    buckets: seconds,
  },
  timeToFirstByte: {
    name: 's3proxy_ttfb_seconds',
    kind: 'histogram',
    unit: 'seconds',
    labels: ['op'],
    doc: 'From the head of a request to the head of its answer.',
    buckets: seconds,
  },
  bytes: {
    name: 's3proxy_bytes_total',
    kind: 'counter',
    unit: 'bytes',
    labels: ['direction'],
    doc: 'Bytes of request bodies (`in`) and answers (`out`), without heads.',
  },
  inFlight: {
    name: 's3proxy_inflight',
    kind: 'gauge',
    unit: 'requests',
    labels: ['pool'],
    doc: 'Requests in flight, by pool; with async processing only those whose operation is at work.',
  },
  poolQueue: {
    name: 's3proxy_pool_queue_depth',
    kind: 'gauge',
    unit: 'requests',
    labels: ['pool'],
    doc: 'Requests that wait for a slot of their pool (async processing only).',
  },
  connections: {
    name: 's3proxy_connections',
    kind: 'gauge',
    unit: 'connections',
    labels: [],
    doc: 'Open client connections.',
  },
  rateLimitWaiting: {
    name: 's3proxy_read_rate_limit_waiting',
    kind: 'gauge',
    unit: 'transfers',
    labels: [],
    doc: 'Answers that wait for the global read-rate limit.',
  },
  accessLogDropped: {
    name: 's3proxy_log_dropped_lines_total',
    kind: 'counter',
    unit: 'lines',
    labels: [],
    doc: 'Log lines dropped because whoever reads standard output is too slow.',
  },
  jobs: {
    name: 's3proxy_jobs',
    kind: 'gauge',
    unit: 'jobs',
    labels: ['queue', 'state'],
    doc: 'Jobs by queue and state (waiting, delayed, running, failed).',
    shared: true,
  },
  openUploads: {
    name: 's3proxy_uploads_open',
    kind: 'gauge',
    unit: 'uploads',
    labels: [],
    doc: 'Multipart uploads that are open; 1000 stands for that many or more.',
    shared: true,
  },
  oldestUpload: {
    name: 's3proxy_upload_oldest_seconds',
    kind: 'gauge',
    unit: 'seconds',
    labels: [],
    doc: 'Age of the oldest of the open multipart uploads that were counted; 0 when there is none.',
    shared: true,
  },
  processMemory: {
    name: 's3proxy_process_resident_memory_bytes',
    kind: 'gauge',
    unit: 'bytes',
    labels: ['process'],
    doc: 'Resident memory of each process.',
  },
  processCpu: {
    name: 's3proxy_process_cpu_seconds_total',
    kind: 'counter',
    unit: 'seconds',
    labels: ['process'],
    doc: 'CPU time of each process.',
  },
  eventLoop: {
    name: 's3proxy_event_loop_utilization',
    kind: 'gauge',
    unit: 'ratio',
    labels: ['process'],
    doc: 'Share of time since the last collection in which the event loop of a process was busy.',
  },
  processRestarts: {
    name: 's3proxy_process_restarts_total',
    kind: 'counter',
    unit: 'processes',
    labels: [],
    doc: 'Processes that died and were started again.',
  },
} as const satisfies Record<string, Metric>

export type MetricKey = keyof typeof metrics
