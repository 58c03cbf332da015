import type { Attributes, Context, Tracer } from '@opentelemetry/api'
import type { Config } from '../config/properties.ts'
import type { AccessEntry } from './access-log.ts'

/** Spans of requests, sent in batches to an OTLP/HTTP collector. */
export interface Traces {
  /** Makes the span of a request that has ended. */
  ended(entry: AccessEntry): void
  /** Sends what is pending. */
  close(): Promise<void>
}

/**
 * Opens tracing when `svc.proxy.traces.endpoint` is set. The SDK is loaded only then: it costs memory and start-up time.
 * A span is made when its request has ended, from the times that were taken anyway; so tracing costs nothing on the way.
 */
export async function openTraces(config: Config): Promise<Traces | undefined> {
  if (config.tracesEndpoint === '') return undefined
  const [api, { OTLPTraceExporter }, { NodeSDK }, tracing, { resourceFromAttributes }] = await Promise.all([
    import('@opentelemetry/api'),
    import('@opentelemetry/exporter-trace-otlp-http'),
    import('@opentelemetry/sdk-node'),
    import('@opentelemetry/sdk-trace'),
    import('@opentelemetry/resources'),
  ])
  const sdk = new NodeSDK({
    resource: resourceFromAttributes({ 'service.name': 's3proxy-gateway', 'process.pid': process.pid }),
    autoDetectResources: false,
    instrumentations: [],
    sampler: new tracing.ParentBasedSampler({
      root: new tracing.TraceIdRatioBasedSampler(config.tracesSamplePercent / 100),
    }),
    spanProcessors: [
      new tracing.BatchSpanProcessor({ exporter: new OTLPTraceExporter({ url: config.tracesEndpoint }) }),
    ],
  })
  sdk.start()
  const tracer = api.trace.getTracer('s3proxy-gateway')

  /** The caller's span, when it sent one. Source: W3C Trace Context. */
  const parent = (entry: AccessEntry): Context => {
    const match = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/.exec(entry.headers.traceparent ?? '')
    if (!match?.[1] || !match[2] || !match[3]) return api.ROOT_CONTEXT
    const traceFlags = Number.parseInt(match[3], 16)
    return api.trace.setSpanContext(api.ROOT_CONTEXT, {
      traceId: match[1],
      spanId: match[2],
      traceFlags,
      isRemote: true,
    })
  }
  return {
    ended: (entry) => record(tracer, entry, config.tracesKeys, parent(entry)),
    close: () => sdk.shutdown(),
  }
}

/** `kind` SERVER and `code` ERROR, as numbers: the api is loaded lazily. */
const serverKind = 1
const errorCode = 2

function record(tracer: Tracer, entry: AccessEntry, withKeys: boolean, parent: Context): void {
  const startMs = entry.startedAt.getTime()
  const name = `S3.${entry.operation ?? 'Unknown'}`
  const span = tracer.startSpan(
    name,
    { kind: serverKind, startTime: startMs, attributes: attributesOf(entry, withKeys) },
    parent,
  )
  if (entry.status >= 500 || entry.aborted) span.setStatus({ code: errorCode })
  span.end(startMs + entry.totalMs)
}

/** Source: OpenTelemetry semantic conventions for HTTP servers and for AWS S3. */
function attributesOf(entry: AccessEntry, withKeys: boolean): Attributes {
  const { headers, query } = entry
  const attributes: Attributes = {
    'http.request.method': entry.method,
    'http.response.status_code': entry.status,
    'http.request.body.size': entry.bytesReceived,
    'http.response.body.size': entry.bytesSent,
    'url.scheme': entry.tls ? 'https' : 'http',
    'client.address': entry.remoteAddress,
    'network.protocol.version': entry.httpVersion,
    'rpc.system.name': 'aws-api',
    'rpc.method': `S3/${entry.operation ?? 'Unknown'}`,
    'aws.request_id': entry.requestId,
  }
  const optional: Record<string, string | undefined> = {
    'aws.s3.bucket': entry.bucket,
    'aws.s3.upload_id': query.get('uploadId'),
    'aws.s3.part_number': query.get('partNumber'),
    'error.type': entry.errorCode,
    'enduser.id': entry.user,
    'user_agent.original': headers['user-agent'],
    ...(withKeys
      ? {
          'aws.s3.key': entry.key,
          'aws.s3.copy_source': headers['x-amz-copy-source'],
          'url.path': entry.uri.split('?', 1)[0],
        }
      : {}),
  }
  for (const [name, value] of Object.entries(optional)) if (value !== undefined) attributes[name] = value
  return attributes
}
