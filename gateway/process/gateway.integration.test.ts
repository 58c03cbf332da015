import { execFileSync, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { request as secureRequest } from 'node:https'
import { type AddressInfo, connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { type Gateway, type GatewayOptions, startGateway } from '../../testing/gateway.ts'
import { S3Client } from '../../testing/s3-client.ts'
import { RawClient } from '../server/raw-client.fixture.ts'

let gateway: Gateway | undefined
afterEach(async () => {
  await gateway?.stop()
  gateway = undefined
})

async function start(options: GatewayOptions = {}): Promise<{ gateway: Gateway; client: S3Client }> {
  gateway = await startGateway(options)
  return { gateway, client: new S3Client(gateway.endpoint) }
}

const scratch = mkdtempSync(join(tmpdir(), 's3proxy-process-'))
const main = join(import.meta.dirname, '..', 'main.ts')

function runToEnd(args: readonly string[]): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const child = spawn(process.execPath, [main, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
  let stdout = ''
  let stderr = ''
  child.stdout.on('data', (chunk) => {
    stdout += chunk
  })
  child.stderr.on('data', (chunk) => {
    stderr += chunk
  })
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, stdout, stderr })))
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

async function eventually(holds: () => boolean | Promise<boolean>, withinMs = 10_000): Promise<void> {
  const deadline = Date.now() + withinMs
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error(`not within ${withinMs} ms`)
    await pause(50)
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    // A zombie that nobody has waited for yet is dead.
    return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'latin1'))
  } catch {
    return false
  }
}

const portOf = (url: string) => Number(new URL(url).port)

describe('the program', () => {
  it('reports all mistakes of its configuration and ends with 2', async () => {
    const { code, stderr } = await runToEnd(['--set', 'svc.proxy.web.port=x', '--set', 'svc.proxy.prosesses=2'])
    expect(code).toBe(2)
    expect(stderr).toContain('must be a whole number from 0 to 65535')
    expect(stderr).toContain('Did you mean svc.proxy.processes?')
  })

  it('explains itself', async () => {
    expect((await runToEnd(['--help'])).stdout).toContain('--print-config')
    expect((await runToEnd(['--nonsense'])).code).toBe(2)
    const { code, stdout } = await runToEnd(['--print-config', '--set', 'svc.proxy.readonly=true'])
    expect(code).toBe(0)
    expect(stdout).toMatch(/svc\.proxy\.readonly +true +--set +live/)
  })

  it.each([1, 2])(
    'with %i processes says in a sentence that its port is in use, and ends with 1',
    async (processes) => {
      const taken = createServer()
      await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve))
      const { port } = taken.address() as AddressInfo
      const settings = {
        'svc.proxy.web.hostname': '127.0.0.1',
        'svc.proxy.web.port': port,
        'svc.proxy.admin.port': 0,
        'svc.proxy.processes': processes,
        'svc.proxy.namespace.root': join(scratch, 'taken'),
      }
      const { code, stderr } = await runToEnd(
        Object.entries(settings).flatMap(([name, value]) => ['--set', `${name}=${value}`]),
      )
      taken.close()
      expect(code).toBe(1)
      expect(stderr.trim()).toBe(
        `Port ${port} on 127.0.0.1 is in use. Stop the program that uses it, or set svc.proxy.web.port to another port.`,
      )
    },
  )

  it('listens on a free port when it is 0, the same in all processes', async () => {
    const { gateway, client } = await start({ properties: { 'svc.proxy.web.port': 0, 'svc.proxy.processes': 2 } })
    expect(portOf(gateway.endpoint)).toBeGreaterThan(0)
    for (let turn = 0; turn < 6; turn++) {
      await new S3Client(gateway.endpoint).expect(200, 'GET', '/')
    }
    client.close()
  })

  it('answers at the base address with and without a slash, and at / of the second port', async () => {
    const { gateway } = await start()
    for (const url of [gateway.endpoint, `${gateway.endpoint}/`, gateway.rootEndpoint, `${gateway.rootEndpoint}/`]) {
      expect((await fetch(url)).status, url).toBe(200)
    }
  })
})

describe('several processes', () => {
  it('share the work; one that is killed is replaced, and its metrics are not lost', async () => {
    const { gateway } = await start({ properties: { 'svc.proxy.processes': 2 } })
    const ask = async (count: number) => {
      for (let turn = 0; turn < count; turn++) {
        // A connection each, so that both processes get some.
        expect((await fetch(`${gateway.endpoint}/`, { headers: { connection: 'close' } })).status).toBe(200)
      }
    }
    const counted = async () => {
      const text = await (await fetch(`${gateway.adminEndpoint}/metrics`)).text()
      return Number(/s3proxy_requests_total\{op="ListBuckets",code="200"\} (\d+)/.exec(text)?.[1])
    }
    await ask(10)
    expect(await counted()).toBe(10)
    const [victim = 0] = gateway.workers()
    process.kill(victim, 'SIGKILL')
    await eventually(() => gateway.workers().length === 2 && !gateway.workers().includes(victim))
    await ask(10)
    expect(await counted()).toBe(20)
    const text = await (await fetch(`${gateway.adminEndpoint}/metrics`)).text()
    expect(text).toContain('s3proxy_process_restarts_total 1')
  })

  it('end when their parent is killed', async () => {
    const { gateway } = await start({ properties: { 'svc.proxy.processes': 2 } })
    const workers = gateway.workers()
    process.kill(gateway.pid, 'SIGKILL')
    await eventually(() => workers.every((pid) => !isAlive(pid)))
  })

  it('hold the global read-rate limit together, and one transfer alone gets all of it', async () => {
    const { gateway, client } = await start({
      properties: { 'svc.proxy.processes': 2, 'svc.proxy.s3.global.read.rate.limit.mb': 4 },
    })
    await client.expect(200, 'PUT', '/rates')
    const size = 6 * 2 ** 20
    writeFileSync(join(gateway.root, 'rates', 'file'), Buffer.alloc(size))
    const get = async () => {
      const own = new S3Client(gateway.endpoint)
      const startedMs = performance.now()
      expect((await own.expect(200, 'GET', '/rates/file')).body).toHaveLength(size)
      own.close()
      return performance.now() - startedMs
    }
    expect(await get()).toBeLessThan(2200)
    const startedMs = performance.now()
    await Promise.all([get(), get(), get(), get()])
    const tookMs = performance.now() - startedMs
    expect(tookMs).toBeGreaterThan(5300)
    expect(tookMs).toBeLessThan(8500)
    client.close()
  })

  it('all follow a changed configuration file', async () => {
    const file = join(scratch, 'live.properties')
    writeFileSync(file, 'svc.proxy.readonly=false\n')
    const { gateway, client } = await start({ properties: { 'svc.proxy.processes': 2 }, args: ['--config', file] })
    await client.expect(200, 'PUT', '/live')
    writeFileSync(file, 'svc.proxy.readonly=true\n')
    await eventually(async () => {
      const answers = await Promise.all(
        Array.from({ length: 8 }, () =>
          fetch(`${gateway.endpoint}/live`, { method: 'PUT', headers: { connection: 'close' } }),
        ),
      )
      return answers.every(({ status }) => status === 403)
    })
    client.close()
  })
})

describe('the end', () => {
  it.each([1, 2])(
    'with %i processes finishes running uploads, refuses new connections and ends with 0',
    async (processes) => {
      const { gateway, client } = await start({
        properties: { 'svc.proxy.processes': processes },
        root: join(scratch, `drain-${processes}`),
      })
      await client.expect(200, 'PUT', '/drain')
      client.close()
      const upload = new RawClient(portOf(gateway.endpoint))
      const headers = { 'Content-Length': '10', Expect: '100-continue' }
      // Told to go on, it is at work for certain.
      expect((await upload.request('PUT', '/api/v1/s3/drain/key', { headers }).answer()).status).toBe(100)
      upload.send('01234')
      const stopped = gateway.stop()
      await pause(300)
      const refused = await new Promise<string | undefined>((resolve) => {
        const socket = connect(portOf(gateway.endpoint), '127.0.0.1')
        socket.on('connect', () => resolve(undefined))
        socket.on('error', (error: NodeJS.ErrnoException) => resolve(error.code))
      })
      expect(refused).toBe('ECONNREFUSED')
      const answer = await upload.send('56789').answer()
      expect(answer).toMatchObject({ status: 200, headers: { connection: 'close' } })
      expect(await stopped).toBe(0)
      expect(readFileSync(join(gateway.root, 'drain', 'key'), 'latin1')).toBe('0123456789')
    },
  )

  it('is announced by readiness while new connections are still taken', async () => {
    const { gateway } = await start({ properties: { 'svc.proxy.web.drain.delay': '1sec' } })
    expect((await fetch(`${gateway.adminEndpoint}/readyz`)).status).toBe(200)
    const stopped = gateway.stop()
    await eventually(async () => (await fetch(`${gateway.adminEndpoint}/readyz`)).status === 503, 900)
    expect((await fetch(`${gateway.adminEndpoint}/livez`)).status).toBe(200)
    const answer = await fetch(`${gateway.endpoint}/`)
    expect({ status: answer.status, connection: answer.headers.get('connection') }).toEqual({
      status: 200,
      connection: 'close',
    })
    expect(await stopped).toBe(0)
  })

  it('does not wait for a client that never finishes longer than the drain timeout', async () => {
    const { gateway, client } = await start({ properties: { 'svc.proxy.web.drain.timeout': '1sec' } })
    await client.expect(200, 'PUT', '/stuck')
    client.close()
    const upload = new RawClient(portOf(gateway.endpoint))
    upload.request('PUT', '/api/v1/s3/stuck/key', { headers: { 'Content-Length': '10' } }).send('01234')
    await pause(200)
    const startedMs = performance.now()
    expect(await gateway.stop()).toBe(0)
    expect(performance.now() - startedMs).toBeLessThan(5000)
  })

  it('comes at once with a second signal', async () => {
    const { gateway, client } = await start({ properties: { 'svc.proxy.processes': 2 } })
    await client.expect(200, 'PUT', '/twice')
    client.close()
    new RawClient(portOf(gateway.endpoint))
      .request('PUT', '/api/v1/s3/twice/key', { headers: { 'Content-Length': '10' } })
      .send('01234')
    await pause(200)
    const workers = gateway.workers()
    process.kill(gateway.pid, 'SIGINT')
    await pause(300)
    expect(isAlive(gateway.pid)).toBe(true)
    process.kill(gateway.pid, 'SIGINT')
    await eventually(() => !isAlive(gateway.pid) && workers.every((pid) => !isAlive(pid)), 3000)
  })
})

describe('HTTPS', () => {
  const makeCertificate = (name: string, directory: string) => {
    const [key, cert] = [join(directory, 'key.pem'), join(directory, 'cert.pem')]
    execFileSync(
      'openssl',
      [
        ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'],
        ...['-subj', `/CN=${name}`, '-keyout', key, '-out', cert],
      ],
      { stdio: 'ignore' },
    )
    return { key, cert }
  }

  it('serves with the certificate, and with a renewed one without a restart', async () => {
    const directory = join(scratch, 'tls')
    mkdirSync(directory)
    const { key, cert } = makeCertificate('first', directory)
    const { gateway } = await start({
      properties: {
        'svc.proxy.processes': 2,
        'svc.proxy.web.tls.certificate.file': cert,
        'svc.proxy.web.tls.key.file': key,
      },
    })
    expect(gateway.endpoint).toMatch(/^https:/)
    const servedName = () =>
      new Promise<{ status: number | undefined; name: unknown }>((resolve, reject) => {
        const outgoing = secureRequest(
          `${gateway.endpoint}/`,
          { rejectUnauthorized: false, agent: false },
          (incoming) => {
            const socket = incoming.socket as import('node:tls').TLSSocket
            resolve({ status: incoming.statusCode, name: socket.getPeerCertificate().subject.CN })
            incoming.resume()
          },
        )
        outgoing.on('error', reject)
        outgoing.end()
      })
    expect(await servedName()).toEqual({ status: 200, name: 'first' })
    makeCertificate('second', directory)
    await eventually(async () => {
      const names = await Promise.all([servedName(), servedName(), servedName(), servedName()])
      return names.every(({ name }) => name === 'second')
    })
  })

  it('is refused with a sentence when key and certificate do not go together', async () => {
    const [one, two] = [join(scratch, 'one'), join(scratch, 'two')]
    for (const directory of [one, two]) mkdirSync(directory)
    const { cert } = makeCertificate('one', one)
    const { key } = makeCertificate('two', two)
    const { code, stderr } = await runToEnd([
      ...['--set', `svc.proxy.web.tls.certificate.file=${cert}`, '--set', `svc.proxy.web.tls.key.file=${key}`],
      ...['--set', `svc.proxy.namespace.root=${join(scratch, 'tls-root')}`, '--set', 'svc.proxy.web.port=0'],
    ])
    expect(code).toBe(1)
    expect(stderr).toContain('do not go together')
  })
})
