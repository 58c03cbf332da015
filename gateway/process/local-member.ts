import type { Server } from 'node:http'
import { applyLive } from '../config/live-config.ts'
import type { Config } from '../config/properties.ts'
import type { Exchange } from '../server/exchange.ts'
import { listen } from '../server/listen.ts'
import { ReadRateLimits } from '../server/read-rate.ts'
import { closeQuietConnections, createS3Server } from '../server/s3-server.ts'
import { accessLogFormat } from '../telemetry/access-log.ts'
import type { LineWriter } from '../telemetry/line-writer.ts'
import type { Log } from '../telemetry/log.ts'
import { Recorder } from '../telemetry/recorder.ts'
import { createRequestTelemetry } from '../telemetry/request-telemetry.ts'
import { openTraces } from '../telemetry/traces.ts'
import { basePath } from './base-path.ts'
import type { Member, Ports } from './member.ts'
import { observeProcess } from './observe.ts'
import { calmReporter } from './read-share.ts'
import { openServices } from './services.ts'
import { readTlsFiles, watchTlsFiles } from './tls-files.ts'

const megabyte = 2 ** 20

export interface LocalMember extends Member {
  readonly ports: Ports
}

export interface LocalMemberOptions {
  readonly config: Config
  readonly log: Log
  readonly lines: LineWriter
  /** Hears how many transfers the read-rate limit shapes, when it divides the cap; undefined: the whole cap is ours. */
  readonly demandChanged: ((transfers: number) => void) | undefined
}

/** Starts answering requests in this process. Throws an Error with a sentence when it cannot. */
export async function startLocalMember(options: LocalMemberOptions): Promise<LocalMember> {
  const { config, log, lines, demandChanged } = options
  const tls = readTlsFiles(config)
  const services = await openServices(config, log)
  if (!config.readOnly) await services.recover()

  let readShare = 0
  const rate = new ReadRateLimits(
    config,
    () => {
      if (config.globalReadRateLimitMb <= 0) return undefined
      return demandChanged === undefined ? config.globalReadRateLimitMb * megabyte : readShare
    },
    demandChanged === undefined ? () => {} : calmReporter(demandChanged),
  )
  const recorder = new Recorder()
  const count = createRequestTelemetry(recorder, accessLogFormat(config.accessLog), lines)
  const traces = await openTraces(config)
  let draining = false
  const answering = {
    services,
    tls,
    rate,
    draining: () => draining,
    ended(exchange: Exchange) {
      count(exchange)
      traces?.ended(exchange)
    },
    failed: (exchange: Exchange, error: unknown) =>
      log.error({ requestId: exchange.id, operation: exchange.operation, err: error }, 'a request failed'),
  }
  const servers: Server[] = []
  const serve = async (base: string, port: number, property: string) => {
    const server = createS3Server({ ...answering, basePath: base })
    servers.push(server)
    // With others to divide the cap with, there are others to share the port with.
    return listen(server, config.hostname, port, property, demandChanged !== undefined)
  }
  const ports = {
    port: await serve(basePath, config.port, 'svc.proxy.web.port'),
    rootPort: config.rootPort === 0 ? undefined : await serve('', config.rootPort, 'svc.proxy.s3.root.port'),
  }
  observeProcess(recorder, { services, servers, rate, lines })
  const stopWatchingTls = tls
    ? watchTlsFiles(config, tls, servers, (error) =>
        error ? log.error({ err: error }, 'the new TLS certificate is not used') : log.info('TLS certificate reloaded'),
      )
    : () => {}

  async function drain(): Promise<void> {
    if (draining) return
    draining = true
    await pause(config.drainDelayMs)
    const closed = servers.map((server) => new Promise<void>((resolve) => server.close(() => resolve())))
    servers.forEach(closeQuietConnections)
    const deadline = performance.now() + config.drainTimeoutMs
    await Promise.race([Promise.all(closed), pause(config.drainTimeoutMs)])
    for (const server of servers) server.closeAllConnections()
    stopWatchingTls()
    await Promise.race([traces?.close(), pause(2000)])
    await services.close(Math.max(1000, deadline - performance.now()))
  }

  return {
    pid: process.pid,
    ports,
    snapshot: () => recorder.snapshot(),
    async status() {
      const [namespace, metadata] = await Promise.all([services.namespace.check(2000), problemsOf(services.metadata)])
      return {
        pid: process.pid,
        ready: namespace && !draining,
        draining,
        namespace,
        metadata,
        identity: services.namespace.features.enforcedIdentity ? 'enforced' : 'process',
      }
    },
    applyLive(changed) {
      applyLive(config, changed)
      log.level = config.logLevel
      rate.global.refresh()
    },
    shareReadRate(bytesPerSecond) {
      readShare = bytesPerSecond
      rate.global.refresh()
    },
    drain,
  }
}

async function problemsOf(metadata: { check(): Promise<string[]> }): Promise<string[]> {
  try {
    return await metadata.check()
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)]
  }
}

function pause(ms: number): Promise<void> {
  return ms > 0 ? new Promise((resolve) => setTimeout(resolve, ms)) : Promise.resolve()
}
