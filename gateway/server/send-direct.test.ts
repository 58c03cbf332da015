import { closeSync, mkdtempSync, openSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, describe, expect, test } from 'vitest'
import { directSend } from '../namespace/libc-sendfile.ts'
import { fake, type RunningServer, startFakeServer } from './running-server.fixture.ts'

const directory = mkdtempSync(join(tmpdir(), 's3proxy-direct-'))
const path = join(directory, 'file')
const bytes = Buffer.from(Uint8Array.from({ length: 7_000_003 }, (_, index) => (index * 7919) % 251))
writeFileSync(path, bytes)
const base = '/api/v1/s3'
let server: RunningServer | undefined

afterEach(async () => {
  await server?.close()
})
afterAll(() => rmSync(directory, { recursive: true }))

interface Served {
  /** Bytes that went within the kernel. */
  direct: number
  calls: number
  closed: boolean
}

interface Serving {
  readonly start?: number
  readonly length?: number
  readonly from?: string
  /** Whether a part is in memory, when it is not for the kernel to say. */
  readonly isCached?: (position: number) => boolean
  /** Called before each call of the kernel. */
  readonly before?: (served: Served) => void
  readonly properties?: Record<string, string | number>
}

async function serve(serving: Serving = {}) {
  const { start = 0, length = bytes.length, from = path, isCached, before } = serving
  const served: Served[] = []
  const object = fake({ method: 'GET', target: 'object' }, 'GetObject', async () => {
    const fd = openSync(from, 'r')
    const one: Served = { direct: 0, calls: 0, closed: false }
    served.push(one)
    const kernel = directSend(fd)
    const file = {
      fd,
      size: bytes.length,
      close() {
        if (!one.closed) closeSync(fd)
        one.closed = true
      },
      direct: {
        isCached: (at: number, size: number) => (isCached === undefined ? kernel.isCached(at, size) : isCached(at)),
        sendTo(socket: number, at: number, size: number) {
          before?.(one)
          one.calls += 1
          const sent = kernel.sendTo(socket, at, size)
          if (sent > 0) one.direct += sent
          return sent
        },
      },
    }
    return { status: 200, headers: {}, body: { file, start, length } }
  })
  server = await startFakeServer([object], serving.properties)
  return { served, server, client: server.client() }
}

describe('a file in memory', () => {
  test.each([
    [0, bytes.length],
    [0, 1],
    [4095, 2],
    [bytes.length - 1, 1],
    [1_048_575, 1_048_578],
    [17, 0],
  ])('goes within the kernel: range %i + %i, twice over one connection', async (start, length) => {
    const { served, client } = await serve({ start, length })
    for (let turn = 0; turn < 2; turn++) {
      const { body, headers } = await client.request('GET', `${base}/b/k`).answer()
      expect(headers['content-length']).toBe(String(length))
      expect(body.equals(bytes.subarray(start, start + length))).toBe(true)
    }
    expect(served.map(({ closed }) => closed)).toEqual([true, true])
    for (const { direct } of served) expect(direct).toBeGreaterThan(length * 0.5 - 1)
  })

  test('is not mixed with the answers before and after it in a pipeline', async () => {
    const { served, client } = await serve({ start: 5, length: 3_000_000 })
    for (let turn = 0; turn < 4; turn++) client.request('GET', `${base}/b/k`)
    for (let turn = 0; turn < 4; turn++) {
      const { body } = await client.answer()
      expect(body.equals(bytes.subarray(5, 3_000_005))).toBe(true)
    }
    expect(served.map(({ closed }) => closed)).toEqual([true, true, true, true])
  })

  test('lets others have their turn', async () => {
    let turns = 0
    const atCall: number[] = []
    const { client } = await serve({ before: () => atCall.push(turns) })
    const count = () => {
      turns += 1
      timer = setImmediate(count)
    }
    let timer = setImmediate(count)
    await client.request('GET', `${base}/b/k`).answer()
    clearImmediate(timer)
    const calls = new Map<number, number>()
    for (const turn of atCall) calls.set(turn, (calls.get(turn) ?? 0) + 1)
    expect(calls.size).toBeGreaterThan(3)
  })

  test('reaches a client that reads slowly', async () => {
    const { served, client } = await serve({ properties: { 'svc.proxy.web.idle.timeout': '3s' } })
    client.request('GET', `${base}/b/k`)
    const reading = setInterval(() => (client.socket.isPaused() ? client.socket.resume() : client.socket.pause()), 20)
    const { body } = await client.answer()
    clearInterval(reading)
    expect(body.equals(bytes)).toBe(true)
    expect(served[0]?.closed).toBe(true)
  })

  test('is closed when the client goes away in the middle', async () => {
    const { served, client, server } = await serve()
    const ended = server.nextEnd()
    client.socket.pause()
    client.request('GET', `${base}/b/k`)
    setTimeout(() => client.socket.resetAndDestroy(), 100)
    expect(await ended).toMatchObject({ aborted: true })
    expect(served[0]?.closed).toBe(true)
    expect(server.failures).toEqual([])
  })

  test('is closed, and the connection too, when the client takes nothing for the idle timeout', async () => {
    const { served, client, server } = await serve({ properties: { 'svc.proxy.web.idle.timeout': '300ms' } })
    const ended = server.nextEnd()
    client.socket.pause()
    client.request('GET', `${base}/b/k`)
    expect(await ended).toMatchObject({ aborted: true })
    expect(served[0]?.closed).toBe(true)
  })
})

test('a file that is shortened meanwhile ends the connection instead of a wrong length', async () => {
  const shorter = join(directory, 'shorter')
  writeFileSync(shorter, bytes)
  const { client, server } = await serve({
    from: shorter,
    isCached: () => true,
    before: ({ direct }) => direct > 0 && truncateSync(shorter, 1_000_000),
  })
  await expect(client.request('GET', `${base}/b/k`).answer()).rejects.toThrow('ended')
  expect(server.failures).toEqual([expect.stringContaining('the file ended at byte')])
})

test.each([0, 1_500_000, 5_000_000])('what is not in memory from byte %i on is streamed', async (limit) => {
  const { served, client } = await serve({ isCached: (position) => position < limit })
  const { body } = await client.request('GET', `${base}/b/k`).answer()
  expect(body.equals(bytes)).toBe(true)
  expect(served[0]?.direct).toBeLessThan(limit + 2 ** 20)
})

test('a read-rate limit shapes it', async () => {
  const { served, client } = await serve({
    length: 1_500_000,
    properties: { 'svc.proxy.s3.global.read.rate.limit.mb': 2 },
  })
  const startedMs = performance.now()
  expect((await client.request('GET', `${base}/b/k`).answer()).body).toHaveLength(1_500_000)
  expect(performance.now() - startedMs).toBeGreaterThan(550)
  expect(served[0]?.calls).toBe(0)
})

test('what the kernel has no memory of is not sent from there', () => {
  const fd = openSync(path, 'r')
  const direct = directSend(fd)
  expect(direct.isCached(0, bytes.length)).toBe(true)
  expect(direct.isCached(bytes.length - 10, 100_000)).toBe(false)
  closeSync(fd)
  expect(direct.isCached(0, 10)).toBe(false)
})
