import { flushCompileCache } from 'node:module'
import { availableParallelism } from 'node:os'
import type { CommandLine } from '../config/command-line.ts'
import { applyLive, watchConfig } from '../config/live-config.ts'
import type { LoadedConfig, Setting, Sources } from '../config/load.ts'
import type { Config } from '../config/properties.ts'
import { createAdminServer } from '../server/admin-server.ts'
import { claimPort, listen, reachable } from '../server/listen.ts'
import { LineWriter } from '../telemetry/line-writer.ts'
import { createLog } from '../telemetry/log.ts'
import { prometheusText } from '../telemetry/prometheus.ts'
import { mergeSnapshots, type Snapshot, withoutGauges } from '../telemetry/recorder.ts'
import { banner } from './banner.ts'
import { basePath } from './base-path.ts'
import { keepLastWords } from './last-words.ts'
import type { LiveSetting, Member, MemberStatus, Ports } from './member.ts'
import { divideReadRate } from './read-share.ts'
import { type Ready, writeReadyFile } from './ready.ts'
import { startNotes } from './start-notes.ts'
import { Workers } from './workers.ts'

/** The processes that answer requests: one that is ours, or the workers of a cluster. */
interface Members {
  readonly members: readonly Member[]
  applyLive(changed: readonly LiveSetting[]): void
  drain(): Promise<void>
}

/**
 * Runs the gateway until it is told to stop; resolves when everything is closed. Throws an Error with a sentence when it
 * cannot start.
 */
export async function runGateway(loaded: LoadedConfig, sources: Sources, commandLine: CommandLine): Promise<void> {
  const { config, settings } = loaded
  const startedMs = Date.now()
  const count = config.processes === 0 ? availableParallelism() : config.processes
  const lines = new LineWriter(1, count > 1)
  const log = createLog(config, lines)
  keepLastWords(log, lines)

  let departed: Snapshot = {}
  let restarts = 0
  let draining = false
  const demand = new Map<number, number>()
  const shareReadRate = () => {
    const shares = divideReadRate(config.globalReadRateLimitMb * 2 ** 20, demand)
    for (const member of group.members) member.shareReadRate(shares.get(member.pid) ?? 0)
  }
  const startWorkers = async (): Promise<{ group: Members; ports: Ports }> => {
    const workers = new Workers({
      count,
      settings: await claimPorts(config, settings),
      died(pid, reason, backoffMs, last) {
        restarts++
        demand.delete(pid)
        if (last) departed = mergeSnapshots([departed, withoutGauges(last)])
        shareReadRate()
        log.error({ process: pid, reason, backoffMs }, 'a process died and is started again')
      },
      replaced: () => announce(),
      demandChanged(pid, transfers) {
        demand.set(pid, transfers)
        shareReadRate()
      },
    })
    return { group: workers, ports: await workers.start() }
  }
  const startAlone = async (): Promise<{ group: Members; ports: Ports }> => {
    // Loaded only here: the primary of a cluster stays small.
    const { startLocalMember } = await import('./local-member.ts')
    const member = await startLocalMember({ config, log, lines, demandChanged: undefined })
    const group = { members: [member], applyLive: member.applyLive, drain: member.drain }
    return { group, ports: member.ports }
  }
  const { group, ports } = await (count === 1 ? startAlone() : startWorkers())

  const admin = createAdminServer({
    async alive() {
      const states = await Promise.allSettled(group.members.map((member) => member.status()))
      return states.some(({ status }) => status === 'fulfilled')
    },
    async readiness() {
      const states = await Promise.allSettled(group.members.map((member) => member.status()))
      const processes = states.map((state) =>
        state.status === 'fulfilled' ? state.value : { error: String(state.reason) },
      )
      const ready = !draining && processes.some((state) => (state as MemberStatus).ready)
      return { ready, draining, processes }
    },
    async metrics() {
      const snapshots = await Promise.allSettled(group.members.map((member) => member.snapshot()))
      const values = snapshots.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))
      const own: Snapshot = { processRestarts: [{ labels: [], value: restarts }] }
      return prometheusText(mergeSnapshots([departed, own, ...values]), startedMs)
    },
  })
  const listenAdmin = async () => {
    const port = await listen(admin, config.adminHostname, config.adminPort, 'svc.proxy.admin.port')
    return `http://${reachable(config.adminHostname)}:${port}`
  }
  const announce = () => {
    const { pid: _, ...told } = ready()
    log.info(told, 'ready')
    if (commandLine.readyFile !== undefined) writeReadyFile(commandLine.readyFile, ready())
  }
  const scheme = config.tlsCertificate === '' ? 'http' : 'https'
  const host = reachable(config.hostname)
  const adminEndpoint = config.adminPort === 0 ? undefined : await listenAdmin()
  const ready = (): Ready => ({
    endpoint: `${scheme}://${host}:${ports.port}${basePath}`,
    rootEndpoint: ports.rootPort === undefined ? undefined : `${scheme}://${host}:${ports.rootPort}`,
    adminEndpoint,
    pid: process.pid,
    pids: group.members.map(({ pid }) => pid),
  })

  const stopWatching =
    sources.file === undefined
      ? () => {}
      : watchConfig({ ...sources, file: sources.file }, loaded, ({ changed, pending, mistakes }) => {
          if (mistakes.length > 0) log.error({ mistakes }, 'the changed configuration has mistakes and is not used')
          if (pending.length > 0) log.warn({ properties: pending }, 'these properties take effect after a restart')
          if (changed.length === 0) return
          log.info(
            { properties: changed.map(({ property, text }) => `${property.name}=${text}`) },
            'configuration changed',
          )
          const live = changed.map(({ key, text }) => ({ key, text }))
          applyLive(config, live)
          log.level = config.logLevel
          group.applyLive(live)
          shareReadRate()
        })

  const [state] = await Promise.all(group.members.slice(0, 1).map((member) => member.status()))
  const notes = startNotes(config, state)
  for (const note of notes) log.warn(note)
  if (commandLine.banner) process.stdout.write(banner(ready(), config, state?.identity ?? 'process', notes))
  announce()
  flushCompileCache()

  await stopRequested()
  draining = true
  log.info({ drainTimeoutMs: config.drainTimeoutMs }, 'draining')
  // A second signal means: now.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(130))
  // Above all members' own time limits, so that one that hangs does not hold up the end.
  const limit = setTimeout(() => process.exit(1), config.drainDelayMs + config.drainTimeoutMs + 5000)
  await group.drain()
  clearTimeout(limit)
  stopWatching()
  admin.close()
  admin.closeAllConnections()
  log.info('stopped')
}

/** The settings with the ports that all workers listen on. */
async function claimPorts(config: Config, settings: readonly Setting[]): Promise<Setting[]> {
  const port = await claimPort(config.hostname, config.port, 'svc.proxy.web.port')
  const rootPort =
    config.rootPort === 0 ? 0 : await claimPort(config.hostname, config.rootPort, 'svc.proxy.s3.root.port')
  const ports: Record<string, number> = { port, rootPort }
  return settings.map((setting) => ({ ...setting, text: String(ports[setting.key] ?? setting.text) }))
}

function stopRequested(): Promise<void> {
  return new Promise((resolve) => {
    process.once('SIGINT', () => resolve())
    process.once('SIGTERM', () => resolve())
  })
}
