import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A gateway that runs as a process of its own, for tests. */
export interface Gateway {
  /** `http://127.0.0.1:PORT/api/v1/s3` */
  readonly endpoint: string
  /** The same API at `/`: `http://127.0.0.1:PORT`. */
  readonly rootEndpoint: string
  readonly adminEndpoint: string
  /** Directory of the namespace. */
  readonly root: string
  readonly pid: number
  /** As given to `startGateway`, to start another one like it. */
  readonly properties: Readonly<Record<string, string | number | boolean>>
  /** Processes that answer requests now; `pid` itself when there is one only. One that died is soon replaced. */
  workers(): readonly number[]
  /** All it wrote so far to standard output and standard error. */
  output(): string
  /** Ends it as an operator would (SIGTERM); resolves with the exit code. Removes the root if it was made here. */
  stop(): Promise<number | null>
  /** Ends all its processes as a power cut would (SIGKILL). Keeps the root, so that it can be started on it again. */
  kill(): Promise<void>
}

export interface GatewayOptions {
  /** Values of properties by name; these win over the helper's own (free ports, one process, little logging). */
  readonly properties?: Readonly<Record<string, string | number | boolean>>
  /** Directory of the namespace; a new temporary one when it is not given. */
  readonly root?: string
  /** More arguments, such as `--config`. */
  readonly args?: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
}

const main = join(import.meta.dirname, '..', 'gateway', 'main.ts')
const startTimeoutMs = 30_000

/** Starts a gateway on free ports and waits until it answers. Throws with its output when it does not start. */
export async function startGateway(options: GatewayOptions = {}): Promise<Gateway> {
  const scratch = mkdtempSync(join(tmpdir(), 's3proxy-test-'))
  const root = options.root ?? join(scratch, 'root')
  const readyFile = join(scratch, 'ready.json')
  const [port, rootPort, adminPort] = await freePorts(3)
  const properties = {
    'svc.proxy.web.hostname': '127.0.0.1',
    'svc.proxy.web.port': port,
    'svc.proxy.s3.root.port': rootPort,
    'svc.proxy.admin.port': adminPort,
    'svc.proxy.namespace.root': root,
    'svc.proxy.processes': 1,
    'svc.proxy.log.access': 'off',
    ...options.properties,
  }
  const sets = Object.entries(properties).flatMap(([name, value]) => ['--set', `${name}=${value}`])
  const child = spawn(
    process.execPath,
    [main, ...sets, '--no-banner', '--ready-file', readyFile, ...(options.args ?? [])],
    { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, ...options.environment } },
  )
  let output = ''
  const keep = (chunk: Buffer) => {
    // The end is what matters when something went wrong.
    output = (output + chunk).slice(-1_000_000)
  }
  child.stdout.on('data', keep)
  child.stderr.on('data', keep)
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve))

  const ready = await waitForFile(readyFile, child, () => output)
  const clean = () => rmSync(scratch, { recursive: true, force: true })
  const current = () => readReadyFile(readyFile) ?? ready
  const { endpoint, rootEndpoint, adminEndpoint, pid } = ready
  return {
    endpoint,
    rootEndpoint,
    adminEndpoint,
    pid,
    root,
    properties: options.properties ?? {},
    workers: () => current().pids,
    output: () => output,
    async stop() {
      child.kill('SIGTERM')
      const code = await exited
      clean()
      return code
    },
    async kill() {
      for (const each of new Set([pid, ...current().pids])) {
        try {
          process.kill(each, 'SIGKILL')
        } catch {
          // It is gone already.
        }
      }
      await exited
    },
  }
}

type ReadyLine = Pick<Gateway, 'endpoint' | 'rootEndpoint' | 'adminEndpoint' | 'pid'> & { pids: readonly number[] }

function readReadyFile(path: string): ReadyLine | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as ReadyLine
  } catch {
    return undefined
  }
}

async function waitForFile(path: string, child: ChildProcess, output: () => string): Promise<ReadyLine> {
  const deadline = Date.now() + startTimeoutMs
  for (;;) {
    const ready = readReadyFile(path)
    if (ready !== undefined) return ready
    if (child.exitCode !== null) throw new Error(`The gateway ended with code ${child.exitCode}:\n${output()}`)
    if (Date.now() > deadline) {
      child.kill('SIGKILL')
      throw new Error(`The gateway was not ready within ${startTimeoutMs} ms:\n${output()}`)
    }
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

/** Ports nobody listens on at the moment. */
async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer())
  const ports = await Promise.all(
    servers.map(
      (server) =>
        new Promise<number>((resolve) => {
          server.listen(0, '127.0.0.1', () => resolve((server.address() as { port: number }).port))
        }),
    ),
  )
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))))
  return ports
}
