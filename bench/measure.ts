import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { expecting, type Job, type Result, type Template } from './job.ts'
import { runLoad } from './load.ts'
import type { Row, Seed } from './rows.ts'
import type { Running } from './servers.ts'

/** How long and as whom. */
export interface Settings {
  /** The load generator. */
  readonly program: string
  readonly seconds: number
  readonly warmup: number
  readonly rounds: number
  readonly access: string
  readonly secret: string
}

/** All slices of one row at one concurrency on one server. */
interface Series {
  readonly server: string
  readonly slices: readonly Result[]
}

export interface Measured {
  readonly row: Row
  readonly connections: number
  readonly series: readonly Series[]
  /** Why there are no figures, when there are none. */
  readonly failure?: string
}

let slices = 0

/** Measures one row, the servers taking turns (A B, B A, A B, …), because the machine's speed drifts. */
export async function measureRow(
  row: Row,
  connections: number,
  servers: readonly Running[],
  settings: Settings,
): Promise<Measured> {
  const taken = new Map<string, Result[]>(servers.map((running) => [running.server.name, []]))
  const series = () => [...taken].map(([server, results]) => ({ server, slices: results }))
  try {
    for (let round = 0; round < settings.rounds; round++) {
      const turn = round % 2 === 0 ? servers : [...servers].reverse()
      for (const running of turn) {
        const result = await measureSlice(row, connections, running, settings)
        if (result.errors > 0)
          throw new Error(`${running.server.name}: ${result.errors} errors, first: ${result.firstError}`)
        taken.get(running.server.name)?.push(result)
      }
    }
  } catch (error) {
    return { row, connections, series: series(), failure: error instanceof Error ? error.message : String(error) }
  }
  return { row, connections, series: series() }
}

async function measureSlice(row: Row, connections: number, running: Running, settings: Settings): Promise<Result> {
  const slice = slices++
  const { first, leaves, ...work } = row.work(running.server.prefix, slice, connections)
  if (first) await sendAll(running, settings, first)
  try {
    return await runLoad(settings.program, {
      ...target(running, settings),
      connections,
      seconds: settings.seconds,
      warmup: settings.warmup,
      ...work,
    })
  } catch (error) {
    throw new Error(`${running.server.name}: ${error instanceof Error ? error.message : error}`)
  } finally {
    // Written bytes that are not yet on the disk would slow the next slices down.
    if (leaves !== undefined) rmSync(join(running.root, leaves), { recursive: true, force: true })
  }
}

/** Makes the buckets and objects a row needs, through the server, so that they have its metadata. */
export async function prepareRow(row: Row, running: Running, settings: Settings): Promise<void> {
  for (const bucket of new Set([row.bucket, row.seed?.bucket])) {
    if (bucket === undefined) continue
    const path = `${running.server.prefix}/${bucket}`
    if (!made.has(`${running.port}${path}`))
      await sendAll(running, settings, { method: 'PUT', path, expect: expecting(200) })
    made.add(`${running.port}${path}`)
  }
  if (row.seed) await plant(row.seed, running, settings)
}

const made = new Set<string>()

async function plant(seed: Seed, running: Running, settings: Settings): Promise<void> {
  const path = `${running.server.prefix}/${seed.bucket}/${seed.key}`
  if (made.has(`${running.port}${path}`)) return
  const { from, count, bytes } = seed
  await sendAll(running, settings, { method: 'PUT', path, from, count, body: bytes, expect: expecting(200) })
  made.add(`${running.port}${path}`)
}

async function sendAll(running: Running, settings: Settings, template: Template): Promise<void> {
  const operations = template.count ?? 1
  const connections = Math.min(16, operations)
  const job = { ...target(running, settings), connections, operations, requests: [template] }
  const result = await runLoad(settings.program, job)
  if (result.errors > 0) throw new Error(`${running.server.name}: ${result.firstError}`)
}

function target(
  running: Running,
  { access, secret }: Settings,
): Pick<Job, 'host' | 'port' | 'access' | 'secret' | 'region' | 'pids'> {
  return { host: '127.0.0.1', port: running.port, access, secret, region: 'us-east-1', pids: running.pids() }
}
