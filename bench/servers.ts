import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, openSync } from 'node:fs'
import { createServer } from 'node:net'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { processTree } from './processes.ts'

/** A server that is measured. */
export interface Server {
  readonly name: string
  /** What it is and how it is set, for the report. */
  readonly summary: string
  /** Makes it ready to start: installs it, pinned. */
  prepare(): void
  /** Program and arguments that serve `root` on `port`. */
  command(root: string, port: number, options: ServerOptions): readonly string[]
  /** What stands before `/<bucket>` in a path. */
  readonly prefix: string
}

export interface ServerOptions {
  /** Properties of the gateway, `name=value`. */
  readonly set: readonly string[]
  /** Arguments for Node, such as `--cpu-prof`. */
  readonly node: readonly string[]
  /** Another checkout of this repository, served by `baseline`. */
  readonly baseline: string
  readonly access: string
  readonly secret: string
}

/** A server at work. */
export interface Running {
  readonly server: Server
  readonly port: number
  /** Of its namespace. */
  readonly root: string
  /** All its processes, as of now. */
  pids(): number[]
  stop(): Promise<void>
}

const repository = join(import.meta.dirname, '..')
const versity = { version: 'v1.8.0', module: 'github.com/versity/versitygw/cmd/versitygw' }
const versityHome = join(homedir(), '.cache', 's3proxy', `versitygw-${versity.version}`)

function gateway(name: string, summary: string, checkout: (options: ServerOptions) => string): Server {
  return {
    name,
    summary: `${summary}, default processes, \`svc.proxy.s3.writetype=MUST_CACHE\`, access log off`,
    prefix: '/api/v1/s3',
    prepare: () => {},
    command: (root, port, options) => [
      process.execPath,
      ...options.node,
      join(checkout(options), 'gateway', 'main.ts'),
      ...[
        'svc.proxy.web.hostname=127.0.0.1',
        `svc.proxy.web.port=${port}`,
        'svc.proxy.admin.port=0',
        `svc.proxy.namespace.root=${root}`,
        'svc.proxy.s3.writetype=MUST_CACHE',
        'svc.proxy.log.access=off',
        'svc.proxy.log.level=warn',
        ...options.set,
      ].flatMap((property) => ['--set', property]),
    ],
  }
}

export const servers: readonly Server[] = [
  gateway('gateway', 'this gateway', () => repository),
  {
    name: 'versitygw',
    summary: `versitygw ${versity.version}, POSIX backend with xattrs, \`--keep-alive --quiet\`; it never fsyncs`,
    prefix: '',
    prepare() {
      if (existsSync(join(versityHome, 'versitygw'))) return
      mkdirSync(versityHome, { recursive: true })
      console.error(`installing versitygw ${versity.version} (some minutes, once) ...`)
      const installed = spawnSync('go', ['install', `${versity.module}@${versity.version}`], {
        env: { ...process.env, GOBIN: versityHome },
        stdio: ['ignore', 'inherit', 'inherit'],
      })
      if (installed.error || installed.status !== 0) throw new Error('go install of versitygw failed')
    },
    command: (root, port, { access, secret }) => [
      join(versityHome, 'versitygw'),
      ...['--port', `127.0.0.1:${port}`, '--access', access, '--secret', secret, '--keep-alive', '--quiet'],
      ...['posix', root],
    ],
  },
  gateway('baseline', 'the gateway of another checkout', ({ baseline }) => baseline),
]

/** Starts a server on `<work>/<name>` and waits until it answers. Its output goes to `<work>/<name>.log`. */
export async function startServer(server: Server, work: string, options: ServerOptions): Promise<Running> {
  const root = join(work, server.name)
  mkdirSync(root, { recursive: true })
  const port = await freePort()
  const [program, ...args] = server.command(root, port, options)
  if (program === undefined) throw new Error(`${server.name} has no command`)
  const log = openSync(join(work, `${server.name}.log`), 'w')
  const child = spawn(program, args, { stdio: ['ignore', log, log], cwd: repository })
  const failed = () => new Error(`${server.name} did not start; see ${join(work, `${server.name}.log`)}`)
  for (let tries = 0; !(await answers(port, server.prefix)); tries++) {
    if (child.exitCode !== null || child.signalCode !== null) throw failed()
    if (tries > 300) {
      await stop(child)
      throw failed()
    }
    await sleep(100)
  }
  return { server, port, root, pids: () => processTree(child.pid ?? 0), stop: () => stop(child) }
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = new Promise((resolve) => child.once('exit', resolve))
  const late = setTimeout(() => child.kill('SIGKILL'), 40_000)
  child.kill('SIGTERM')
  await ended
  clearTimeout(late)
}

async function answers(port: number, prefix: string): Promise<boolean> {
  try {
    await fetch(`http://127.0.0.1:${port}${prefix}/`, { headers: { connection: 'close' } })
    return true
  } catch {
    return false
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer()
    probe.once('error', reject)
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address()
      probe.close(() => resolve(typeof address === 'object' && address ? address.port : 0))
    })
  })
}
