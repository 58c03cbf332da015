import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, it } from 'vitest'
import type { Config } from '../config/properties.ts'
import type { AccessEntry } from './access-log.ts'
import { openTraces } from './traces.ts'

interface SentSpan {
  name: string
  kind: number
  traceId: string
  parentSpanId?: string
  startTimeUnixNano: string
  endTimeUnixNano: string
  attributes: { key: string; value: { stringValue?: string; intValue?: number } }[]
}

const collector = createServer()
afterEach(() => new Promise((resolve) => collector.close(resolve)))

it('a request is one SERVER span, sent to the collector when tracing ends', async () => {
  const bodies: string[] = []
  collector.on('request', (request, response) => {
    let body = ''
    request.on('data', (chunk) => {
      body += chunk
    })
    request.on('end', () => {
      bodies.push(body)
      response.end('{}')
    })
  })
  await new Promise<void>((resolve) => collector.listen(0, '127.0.0.1', resolve))
  const { port } = collector.address() as AddressInfo
  const traces = await openTraces({
    tracesEndpoint: `http://127.0.0.1:${port}/v1/traces`,
    tracesSamplePercent: 100,
    tracesKeys: true,
  } as Config)
  traces?.ended({
    startedAt: new Date(1_700_000_000_000),
    requestId: 'ABC',
    remoteAddress: '10.0.0.1',
    method: 'PUT',
    uri: '/api/v1/s3/b/k?uploadId=u&partNumber=3',
    httpVersion: '1.1',
    headers: { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' },
    query: new Map([
      ['uploadId', 'u'],
      ['partNumber', '3'],
    ]),
    operation: 'UploadPart',
    bucket: 'b',
    key: 'k',
    user: 'alice',
    status: 200,
    bytesReceived: 5,
    bytesSent: 0,
    totalMs: 250,
  } as unknown as AccessEntry)
  await traces?.close()
  const span = JSON.parse(bodies[0] ?? '').resourceSpans[0].scopeSpans[0].spans[0] as SentSpan
  expect(span).toMatchObject({
    name: 'S3.UploadPart',
    kind: 2,
    traceId: '0af7651916cd43dd8448eb211c80319c',
    parentSpanId: 'b7ad6b7169203331',
    startTimeUnixNano: '1700000000000000000',
    endTimeUnixNano: '1700000000250000000',
  })
  const attributes = Object.fromEntries(
    span.attributes.map(({ key, value }) => [key, value.stringValue ?? Number(value.intValue)]),
  )
  expect(attributes).toMatchObject({
    'http.request.method': 'PUT',
    'http.response.status_code': 200,
    'url.path': '/api/v1/s3/b/k',
    'aws.s3.bucket': 'b',
    'aws.s3.key': 'k',
    'aws.s3.upload_id': 'u',
    'aws.s3.part_number': '3',
    'aws.request_id': 'ABC',
    'enduser.id': 'alice',
  })
})

it('nothing is loaded without an endpoint', async () => {
  expect(await openTraces({ tracesEndpoint: '' } as Config)).toBeUndefined()
})
