import { describe, expect, it } from 'vitest'
import type { AccessEntry } from './access-log.ts'
import type { LineWriter } from './line-writer.ts'
import { metrics } from './metrics.ts'
import { prometheusText } from './prometheus.ts'
import { mergeSnapshots, Recorder, withoutGauges } from './recorder.ts'
import { createRequestTelemetry } from './request-telemetry.ts'

const lines = { write() {} } as unknown as LineWriter
const entry = {
  operation: 'GetObject',
  status: 200,
  errorCode: undefined,
  bytesReceived: 0,
  bytesSent: 4096,
  totalMs: 3,
  turnAroundMs: 0.2,
} as AccessEntry

describe('metrics', () => {
  it('have names and labels as Prometheus wants them', () => {
    for (const { name, kind, labels } of Object.values(metrics)) {
      expect(name).toMatch(/^s3proxy_[a-z_]+$/)
      expect(name.endsWith('_total'), name).toBe(kind === 'counter')
      for (const label of labels) expect(label).toMatch(/^[a-z]+$/)
    }
  })

  it('of requests are counted and shown in the text format', async () => {
    const recorder = new Recorder()
    const ended = createRequestTelemetry(recorder, undefined, lines)
    ended(entry)
    ended({ ...entry, totalMs: 70_000 })
    ended({ ...entry, status: 404, errorCode: 'NoSuchKey' })
    recorder.observe('inFlight', () => [{ labels: ['heavy'], value: 7 }])
    const text = await prometheusText(await recorder.snapshot(), Date.now())
    expect(text).toContain('# TYPE s3proxy_requests_total counter')
    expect(text).toContain('s3proxy_requests_total{op="GetObject",code="200"} 2\n')
    expect(text).toContain('s3proxy_errors_total{op="GetObject",error="NoSuchKey"} 1\n')
    expect(text).toContain('s3proxy_bytes_total{direction="out"} 12288\n')
    expect(text).toContain('# TYPE s3proxy_request_duration_seconds histogram')
    expect(text).toContain('s3proxy_request_duration_seconds_count{op="GetObject"} 3\n')
    expect(text).toContain('s3proxy_request_duration_seconds_bucket{op="GetObject",le="0.0025"} 0\n')
    expect(text).toContain('s3proxy_request_duration_seconds_bucket{op="GetObject",le="0.005"} 2\n')
    expect(text).toContain('s3proxy_request_duration_seconds_bucket{op="GetObject",le="60"} 2\n')
    expect(text).toContain('s3proxy_request_duration_seconds_bucket{op="GetObject",le="+Inf"} 3\n')
    expect(text).toContain('s3proxy_inflight{pool="heavy"} 7\n')
    expect(text).toMatch(/^# HELP s3proxy_requests_total Requests answered/m)
  })

  it('of several processes are summed, and a process that is gone goes on counting without its gauges', async () => {
    const [one, two] = [new Recorder(), new Recorder()]
    for (const recorder of [one, two]) {
      createRequestTelemetry(recorder, undefined, lines)(entry)
      recorder.observe('inFlight', () => [{ labels: ['heavy'], value: 1 }])
    }
    const both = mergeSnapshots([await one.snapshot(), await two.snapshot()])
    for (const recorder of [one, two]) recorder.observe('openUploads', () => [{ labels: [], value: 5 }])
    const shared = mergeSnapshots([await one.snapshot(), await two.snapshot()])
    expect(shared.openUploads).toEqual([{ labels: [], value: 5 }])
    expect(both.requests).toEqual([{ labels: ['GetObject', '200'], value: 2 }])
    expect(both.inFlight).toEqual([{ labels: ['heavy'], value: 2 }])
    expect(both.requestDuration?.[0]?.counts?.reduce((sum, each) => sum + each, 0)).toBe(2)
    const later = mergeSnapshots([withoutGauges(await one.snapshot()), await two.snapshot()])
    expect(later.requests?.[0]?.value).toBe(2)
    expect(later.inFlight?.[0]?.value).toBe(1)
  })
})
