import { mkdtempSync, read, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { directSend } from '../namespace/libc-sendfile.ts'
import { fake, openFile, type RunningServer, startFakeServer } from './running-server.fixture.ts'

vi.mock('node:fs', async (importOriginal) => {
  const fs = await importOriginal<typeof import('node:fs')>()
  return { ...fs, read: vi.fn(fs.read) }
})

const property = 'svc.proxy.s3.use.position.read.range.size'
const megabyte = 2 ** 20
const directory = mkdtempSync(join(tmpdir(), 's3proxy-position-'))
const path = join(directory, 'file')
const bytes = Buffer.from(Uint8Array.from({ length: 5 * megabyte }, (_, index) => (index * 7919) % 251))
let server: RunningServer

beforeEach(() => {
  writeFileSync(path, bytes)
  vi.mocked(read).mockClear()
})
afterEach(() => server.close())
afterAll(() => rmSync(directory, { recursive: true }))

/** Serves a range of the file, which the kernel has in memory; tells what went within the kernel. */
async function serve(length: number, properties: Readonly<Record<string, string | number>>) {
  const told = { direct: 0, files: [] as ReturnType<typeof openFile>[] }
  const object = fake({ method: 'GET', target: 'object' }, 'GetObject', async () => {
    const file = openFile(path, bytes.length)
    told.files.push(file)
    const kernel = directSend(file.fd)
    const sendTo = (...range: [number, number, number]) => {
      told.direct += 1
      return kernel.sendTo(...range)
    }
    const direct = { isCached: kernel.isCached, sendTo }
    return { status: 200, headers: {}, body: { file: Object.assign(file, { direct }), start: 3, length } }
  })
  server = await startFakeServer([object], properties)
  return { told, client: server.client() }
}

describe('a range shorter than the position-read size', () => {
  it.each([
    [1, '1MB'],
    [megabyte - 1, '1MB'],
    [4 * megabyte - 1, '1GB'],
  ])('of %i bytes with %s is read at once and not sent within the kernel', async (length, size) => {
    const { told, client } = await serve(length, { [property]: size })
    for (let turn = 1; turn <= 2; turn++) {
      const { body } = await client.request('GET', '/api/v1/s3/b/k').answer()
      expect(body.equals(bytes.subarray(3, 3 + length))).toBe(true)
      expect(vi.mocked(read)).toHaveBeenCalledTimes(turn)
    }
    expect(told.direct).toBe(0)
    expect(told.files.map(({ closed }) => closed)).toEqual([true, true])
    expect(server.ended[0]).toMatchObject({ bytesSent: length, aborted: false })
  })

  it('is read at once with a read-rate limit too, and sent at its speed', async () => {
    const limit = { 'svc.proxy.s3.global.read.rate.limit.mb': 2 }
    const { client } = await serve(1_500_000, { [property]: '2MB', ...limit })
    const startedMs = performance.now()
    expect((await client.request('GET', '/api/v1/s3/b/k').answer()).body).toHaveLength(1_500_000)
    expect(performance.now() - startedMs).toBeGreaterThan(550)
    expect(vi.mocked(read)).toHaveBeenCalledTimes(1)
  })

  it('of a file that became shorter is an error document, for nothing is sent yet', async () => {
    const { told, client } = await serve(1000, { [property]: '1MB' })
    truncateSync(path, 500)
    expect((await client.request('GET', '/api/v1/s3/b/k').answer()).status).toBe(500)
    expect(told.files[0]?.closed).toBe(true)
  })
})

it.each([
  [megabyte, '1MB'],
  [4 * megabyte, '1GB'],
  [1000, '0'],
])('a range of %i bytes with %s is not: the kernel sends it from its memory', async (length, size) => {
  const { told, client } = await serve(length, { [property]: size })
  const { body } = await client.request('GET', '/api/v1/s3/b/k').answer()
  expect(body.equals(bytes.subarray(3, 3 + length))).toBe(true)
  expect(told.direct).toBeGreaterThan(0)
})
