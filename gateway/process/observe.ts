import type { Server } from 'node:http'
import type { ReadRateLimits } from '../server/read-rate.ts'
import type { LineWriter } from '../telemetry/line-writer.ts'
import type { Recorder } from '../telemetry/recorder.ts'
import type { OpenServices } from './services.ts'

interface Observed {
  readonly services: OpenServices
  readonly servers: readonly Server[]
  readonly rate: ReadRateLimits
  readonly lines: LineWriter
}

/** Metrics that are read off when they are collected. */
export function observeProcess(recorder: Recorder, { services, servers, rate, lines }: Observed): void {
  const pools = ['heavy', 'light'] as const
  const self = [String(process.pid)]
  let utilization = performance.eventLoopUtilization()
  recorder.observe('inFlight', () =>
    pools.map((pool) => ({ labels: [pool], value: services.admission.counts(pool).running })),
  )
  recorder.observe('poolQueue', () =>
    pools.map((pool) => ({ labels: [pool], value: services.admission.counts(pool).waiting })),
  )
  recorder.observe('connections', async () => {
    const counts = await Promise.all(servers.map(connections))
    return [{ labels: [], value: counts.reduce((sum, each) => sum + each, 0) }]
  })
  recorder.observe('jobs', async () => {
    const counts = await Promise.all(services.queues.map((queue) => services.jobs.counts(queue)))
    return counts.flatMap((count, index) =>
      Object.entries(count).map(([state, value]) => ({ labels: [services.queues[index]?.name ?? '', state], value })),
    )
  })
  const open = () => services.metadata.uploads({ bucket: undefined, limit: 1000 })
  recorder.observe('openUploads', async () => [{ labels: [], value: (await open()).length }])
  recorder.observe('oldestUpload', async () => {
    const oldestMs = (await open()).reduce((least, { initiatedMs }) => Math.min(least, initiatedMs), Date.now())
    return [{ labels: [], value: (Date.now() - oldestMs) / 1000 }]
  })
  recorder.observe('rateLimitWaiting', () => [{ labels: [], value: rate.global.waiting }])
  recorder.observe('accessLogDropped', () => [{ labels: [], value: lines.dropped }])
  recorder.observe('processMemory', () => [{ labels: self, value: process.memoryUsage.rss() }])
  recorder.observe('processCpu', () => {
    const { user, system } = process.cpuUsage()
    return [{ labels: self, value: (user + system) / 1e6 }]
  })
  recorder.observe('eventLoop', () => {
    const now = performance.eventLoopUtilization()
    const since = performance.eventLoopUtilization(now, utilization)
    utilization = now
    return [{ labels: self, value: since.utilization }]
  })
}

function connections(server: Server): Promise<number> {
  return new Promise((resolve) => server.getConnections((error, count) => resolve(error ? 0 : count)))
}
