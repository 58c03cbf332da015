import { bytes, count, duration, flag, oneOf, type Property, text } from './property.ts'

/**
 * Every property of the gateway. Those of the specification (§8) keep its names and defaults; the rest are ours.
 * `docs/configuration.md`, the CRD schema and the Helm values are generated from this table.
 */
export const properties = {
  // ---- spec §8 -------------------------------------------------------------------------------------------------
  bucketNamingRestrictions: flag(
    'svc.proxy.s3.bucket.naming.restrictions.enabled',
    'false',
    "Enforce S3's bucket naming rules when a bucket is created.",
    { live: true },
  ),
  bucketPathCacheTimeoutMs: duration(
    'svc.proxy.s3.bucketpathcache.timeout',
    '0min',
    'How long a bucket that was found is believed to be there without asking the file system; 0min disables. A bucket removed meanwhile answers like an empty one until then.',
    { live: true },
  ),
  keepaliveEnabled: flag(
    'svc.proxy.s3.complete.multipart.upload.keepalive.enabled',
    'false',
    'Send whitespace while CompleteMultipartUpload runs, so that proxies and clients do not give up. The status is 200 then; errors are only logged (but see keepalive.errors).',
    { live: true },
  ),
  keepaliveIntervalMs: duration(
    'svc.proxy.s3.complete.multipart.upload.keepalive.time.interval',
    '30sec',
    'Longest pause between two keepalive characters; the first comes after 1 second, then the pause doubles.',
    { live: true },
  ),
  keepaliveErrors: flag(
    'svc.proxy.s3.complete.multipart.upload.keepalive.errors',
    'false',
    "With keepalive, write S3's Error document into the 200 answer instead of only logging it. SDKs understand it.",
    { live: true },
  ),
  minPartSize: bytes(
    'svc.proxy.s3.complete.multipart.upload.min.part.size',
    '5MB',
    'Smallest size of a part other than the last; 0 disables the check.',
    { live: true },
  ),
  completionPoolSize: count(
    'svc.proxy.s3.complete.multipart.upload.pool.size',
    '20',
    'Multipart completions at work at once in each process.',
    { min: 1, max: 1024 },
  ),
  deleteType: oneOf(
    'svc.proxy.s3.deletetype',
    ['ALLUXIO_AND_UFS', 'ALLUXIO_ONLY'],
    'ALLUXIO_AND_UFS',
    'Delete in the namespace and the backing store, or in the namespace only. Without a backing store both delete the file.',
  ),
  writeType: oneOf(
    'svc.proxy.s3.writetype',
    ['CACHE_THROUGH', 'MUST_CACHE', 'ASYNC_THROUGH', 'THROUGH'],
    'CACHE_THROUGH',
    'When a write is acknowledged. Without a backing store: MUST_CACHE when it is in the file system (survives the process), the others when it is fsynced (survives the machine).',
  ),
  globalReadRateLimitMb: count(
    'svc.proxy.s3.global.read.rate.limit.mb',
    '0',
    'Megabytes (2^20) a second that all connections together may read; 0 or less is no limit.',
    { min: -(2 ** 31), live: true },
  ),
  connectionReadRateLimitMb: count(
    'svc.proxy.s3.single.connection.read.rate.limit.mb',
    '0',
    'Megabytes (2^20) a second that one connection may read; 0 or less is no limit.',
    { min: -(2 ** 31), live: true },
  ),
  metadataMaxSize: bytes(
    'svc.proxy.s3.header.metadata.max.size',
    '2KB',
    'Largest total size of user metadata headers (names and values), and of the x-amz-tagging header; 0 disables.',
    { live: true },
  ),
  cleanerEnabled: flag(
    'svc.proxy.s3.multipart.upload.cleaner.enabled',
    'false',
    'Abort multipart uploads that stay open for long.',
  ),
  cleanerPoolSize: count(
    'svc.proxy.s3.multipart.upload.cleaner.pool.size',
    '1',
    'Uploads cleaned at once in each process.',
    { min: 1, max: 1024 },
  ),
  cleanerRetryCount: count(
    'svc.proxy.s3.multipart.upload.cleaner.retry.count',
    '3',
    'How often a failed abort is tried again.',
    { max: 1000 },
  ),
  cleanerRetryDelayMs: duration(
    'svc.proxy.s3.multipart.upload.cleaner.retry.delay',
    '10sec',
    'Pause before a failed abort is tried again.',
  ),
  cleanerTimeoutMs: duration(
    'svc.proxy.s3.multipart.upload.cleaner.timeout',
    '10min',
    'Age after which an open upload is aborted.',
  ),
  taggingRestrictions: flag(
    'svc.proxy.s3.tagging.restrictions.enabled',
    'true',
    'At most 10 tags, keys of 128 and values of 256 characters.',
    { live: true },
  ),
  positionReadSize: bytes(
    'svc.proxy.s3.use.position.read.range.size',
    '0',
    'Reads shorter than this are made in one positional read into memory instead of a stream; 0 or less disables; more than 4MB counts as 4MB.',
    { live: true },
  ),
  asyncContextTimeoutMs: count(
    'svc.proxy.s3.v2.async.context.timeout.ms',
    '30000',
    'With async processing: milliseconds after which a request that has sent nothing yet is answered 503; 0 or less means none. A completion that runs as a job is not cut.',
    { min: -(2 ** 31) },
  ),
  heavyPoolCore: count(
    'svc.proxy.s3.v2.async.heavy.pool.core.thread.number',
    '8',
    'Heavy operations that run at once before others queue.',
    { min: 0, max: 65536 },
  ),
  heavyPoolMaximum: count(
    'svc.proxy.s3.v2.async.heavy.pool.maximum.thread.number',
    '64',
    'Heavy operations that run at once when the queue is full; beyond that: 503 SlowDown.',
    { min: 1, max: 65536 },
  ),
  heavyPoolQueue: count('svc.proxy.s3.v2.async.heavy.pool.queue.size', '65536', 'Heavy operations that may wait.'),
  lightPoolCore: count(
    'svc.proxy.s3.v2.async.light.pool.core.thread.number',
    '8',
    'Light operations that run at once before others queue.',
    { min: 0, max: 65536 },
  ),
  lightPoolMaximum: count(
    'svc.proxy.s3.v2.async.light.pool.maximum.thread.number',
    '64',
    'Light operations that run at once when the queue is full; beyond that: 503 SlowDown.',
    { min: 1, max: 65536 },
  ),
  lightPoolQueue: count('svc.proxy.s3.v2.async.light.pool.queue.size', '65536', 'Light operations that may wait.'),
  asyncProcessing: flag(
    'svc.proxy.s3.v2.async.processing.enabled',
    'false',
    'Admit requests through the heavy and light pools (needs v2.version.enabled).',
  ),
  version2: flag(
    'svc.proxy.s3.v2.version.enabled',
    'true',
    'The v2 proxy service; needed for the pools of async processing.',
  ),
  hostname: text('svc.proxy.web.hostname', '0.0.0.0', 'Address the S3 port listens on.'),
  port: count('svc.proxy.web.port', '39999', 'Port of the S3 endpoint, http://<host>:<port>/api/v1/s3.', {
    max: 65535,
  }),

  // ---- ours: where things are ----------------------------------------------------------------------------------
  root: text('svc.proxy.namespace.root', './data', 'Directory whose top-level directories are the buckets.'),
  metadataDirectory: text(
    'svc.proxy.metadata.directory',
    '',
    'Directory of the embedded metadata store, on a local disk; empty: .s3proxy/metadata below the namespace root.',
  ),
  rootPort: count(
    'svc.proxy.s3.root.port',
    '0',
    'A second port with the same API at / for tools that refuse an endpoint with a path; 0 is none.',
    { max: 65535 },
  ),
  adminHostname: text('svc.proxy.admin.hostname', '127.0.0.1', 'Address the admin port listens on.'),
  adminPort: count('svc.proxy.admin.port', '39998', 'Port of /livez, /readyz and /metrics; 0 is none.', { max: 65535 }),
  tlsCertificate: text(
    'svc.proxy.web.tls.certificate.file',
    '',
    'PEM certificate chain; with a key file the S3 ports speak HTTPS. Reloaded when the file changes.',
  ),
  tlsKey: text('svc.proxy.web.tls.key.file', '', 'PEM private key of the certificate.'),

  // ---- ours: processes and limits ------------------------------------------------------------------------------
  processes: count('svc.proxy.processes', '0', 'Processes that share the port; 0 is one per CPU.', { max: 256 }),
  namespaceThreads: count('svc.proxy.namespace.threads', '2', 'File-system threads in each process.', {
    min: 1,
    max: 64,
  }),
  maxRequests: count(
    'svc.proxy.web.max.requests',
    '4096',
    'Requests in flight in each process; beyond that: 503 SlowDown.',
    { min: 1, live: true },
  ),
  maxConnections: count('svc.proxy.web.max.connections', '10000', 'Connections of each process.', { min: 1 }),
  idleTimeoutMs: duration(
    'svc.proxy.web.idle.timeout',
    '60sec',
    'A connection on which a request or answer makes no progress for so long is closed.',
  ),
  keepAliveTimeoutMs: duration(
    'svc.proxy.web.keepalive.timeout',
    '75sec',
    'How long an idle connection is kept for the next request.',
  ),
  drainTimeoutMs: duration(
    'svc.proxy.web.drain.timeout',
    '30sec',
    'How long running requests may go on after SIGTERM or Ctrl-C.',
  ),
  drainDelayMs: duration(
    'svc.proxy.web.drain.delay',
    '0',
    'How long new connections are still taken after SIGTERM, while readiness is already off.',
  ),
  stepTimeoutMs: duration(
    'svc.proxy.namespace.step.timeout',
    '30sec',
    'A file-system step that takes longer is answered 503; its thread is replaced.',
  ),
  listMemory: bytes(
    'svc.proxy.namespace.list.memory',
    '64MB',
    'Memory of each process for directory listings; larger directories are streamed.',
  ),
  inlineSize: bytes(
    'svc.proxy.namespace.inline.size',
    '64KB',
    'Objects up to this size are read and written in one file-system step.',
  ),

  // ---- ours: permissions ---------------------------------------------------------------------------------------
  readOnly: flag('svc.proxy.readonly', 'false', 'Refuse every operation that writes, with 403 AccessDenied.', {
    live: true,
  }),
  uidMin: count(
    'svc.proxy.identity.uid.min',
    '0',
    'Lowest uid a request may act as (the process user excepted); 0 is no limit.',
  ),
  passwdFile: text('svc.proxy.identity.passwd.file', '/etc/passwd', 'User names and uids.'),
  groupFile: text('svc.proxy.identity.group.file', '/etc/group', 'Groups and their members.'),
  identityMode: oneOf(
    'svc.proxy.identity.mode',
    ['auto', 'enforced', 'process'],
    'auto',
    'enforced: file-system work runs as the acting user (needs uid 0 with SETUID and SETGID), or the gateway does not start; process: everything belongs to the process user and the owner of a bucket decides; auto: enforced where it can be.',
  ),
  bucketMode: text('svc.proxy.namespace.bucket.mode', '0770', 'Permissions of a new bucket directory.', {
    pattern: /^0?[0-7]{3,4}$/,
    allowed: 'an octal mode such as 0770',
  }),
  directoryMode: text(
    'svc.proxy.namespace.directory.mode',
    '0755',
    'Permissions of a new folder, before default ACLs.',
    { pattern: /^0?[0-7]{3,4}$/, allowed: 'an octal mode such as 0755' },
  ),
  fileMode: text('svc.proxy.namespace.file.mode', '0644', 'Permissions of a new object, before default ACLs.', {
    pattern: /^0?[0-7]{3,4}$/,
    allowed: 'an octal mode such as 0644',
  }),

  // ---- ours: the wire ------------------------------------------------------------------------------------------
  emptyDeleteMarker: flag(
    'svc.proxy.s3.delete.objects.empty.marker',
    'false',
    'Write DeleteMarker of DeleteObjects as an empty element, as the specification lists it; the AWS SDK for Go fails on that.',
    { live: true },
  ),
  corsOrigins: text(
    'svc.proxy.web.cors.origins',
    '',
    'Origins browsers may call from, separated by commas, or *; empty: no CORS.',
    { live: true },
  ),

  // ---- ours: telemetry -----------------------------------------------------------------------------------------
  logLevel: oneOf('svc.proxy.log.level', ['info', 'debug', 'warn', 'error'], 'info', 'Which log lines are written.', {
    live: true,
  }),
  accessLog: oneOf(
    'svc.proxy.log.access',
    ['json', 'aws', 'alluxio', 'off'],
    'json',
    "Form of the line written for each request: JSON, S3's server access log, or the reference's audit line.",
  ),
  tracesEndpoint: text(
    'svc.proxy.traces.endpoint',
    '',
    'OTLP/HTTP address for traces, such as http://collector:4318/v1/traces; empty: no traces.',
  ),
  tracesSamplePercent: count(
    'svc.proxy.traces.sample.percent',
    '100',
    'Percentage of requests that are traced; a request that belongs to a trace already follows its sampling.',
    { max: 100 },
  ),
  tracesKeys: flag('svc.proxy.traces.keys', 'true', 'Write object keys and paths into traces.'),
} as const satisfies Record<string, Property<unknown>>

/** The effective configuration: one typed field for each property. */
export type Config = {
  readonly [K in keyof typeof properties]: (typeof properties)[K] extends Property<infer T> ? T : never
}
