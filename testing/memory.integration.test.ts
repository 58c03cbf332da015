import { closeSync, mkdirSync, openSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { connect, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, expect, it } from 'vitest'
import { type Gateway, startGateway } from './gateway.ts'
import { S3Client } from './s3-client.ts'

/** Memory of a process is bounded whatever clients do (design §11): peak resident set, in MiB. */
const idleLimit = 150
const loadLimit = 400

let gateway: Gateway
let client: S3Client
afterEach(async () => {
  client.close()
  await gateway.stop()
  rmSync(gateway.root, { recursive: true, force: true })
})

async function start(): Promise<void> {
  // One process takes all the load, so that its bound is the one that is tested.
  gateway = await startGateway({ properties: { 'svc.proxy.processes': '1', 'svc.proxy.s3.writetype': 'MUST_CACHE' } })
  client = new S3Client(gateway.endpoint)
}

function peakMemory(): number {
  return Math.max(
    ...gateway.workers().map((pid) => {
      const status = readFileSync(`/proc/${pid}/status`, 'utf8')
      return Number(/VmHWM:\s+(\d+)/.exec(status)?.[1]) / 1024
    }),
  )
}

it(`an idle process stays below ${idleLimit} MiB`, async () => {
  await start()
  await client.expect(200, 'PUT', '/idle')
  await pause(1000)
  console.log(`idle: ${Math.round(peakMemory())} MiB`)
  expect(peakMemory()).toBeLessThan(idleLimit)
})

it(`1,000 clients that read at once and slowly, and 200 that write, stay below ${loadLimit} MiB`, async () => {
  await start()
  await client.expect(200, 'PUT', '/many')
  const large = Buffer.alloc(8 * 2 ** 20, 'x')
  await client.expect(200, 'PUT', '/many/large', { body: large })
  const readers = Array.from({ length: 1000 }, () => slowReader(gateway.endpoint, '/many/large'))
  const writers = Array.from({ length: 200 }, (_, n) =>
    client.expect(200, 'PUT', `/many/written-${n}`, { body: large.subarray(0, 2 ** 20) }),
  )
  await Promise.all(writers)
  const received = await Promise.all(readers)
  console.log(`1,000 readers and 200 writers: ${Math.round(peakMemory())} MiB`)
  expect(received.every((bytes) => bytes >= large.length)).toBe(true)
  expect(peakMemory()).toBeLessThan(loadLimit)
})

it(`2,000 connections that stop in the middle of a request or an answer stay below ${loadLimit} MiB and harm nobody`, async () => {
  await start()
  await client.expect(200, 'PUT', '/stuck')
  await client.expect(200, 'PUT', '/stuck/large', { body: Buffer.alloc(8 * 2 ** 20) })
  const { hostname, port, pathname } = new URL(gateway.endpoint)
  const sockets: Socket[] = []
  for (let n = 0; n < 2000; n++) {
    const socket = connect(Number(port), hostname)
    socket.on('error', () => {})
    const kind = n % 4
    if (kind === 0) socket.write(`GET ${pathname}/stuck/large HTTP/1.1\r\nHost: x\r\n\r\n`)
    if (kind === 1)
      socket.write(
        `PUT ${pathname}/stuck/half-${n} HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n${'y'.repeat(1000)}`,
      )
    if (kind === 2) socket.write(`GET ${pathname}/stuck/la`)
    if (kind === 3) socket.end(`GET ${pathname}/stuck/large HTTP/1.1\r\nHost: x\r\n\r\n`)
    socket.pause()
    sockets.push(socket)
  }
  await pause(2000)
  for (let n = 0; n < 50; n++) {
    await client.expect(200, 'PUT', `/stuck/fine-${n}`, { body: 'fine' })
    expect((await client.expect(200, 'GET', `/stuck/fine-${n}`)).body.toString()).toBe('fine')
  }
  console.log(`2,000 stuck connections: ${Math.round(peakMemory())} MiB`)
  for (const socket of sockets) socket.destroy()
  expect(peakMemory()).toBeLessThan(loadLimit)
  const { keys } = { keys: await client.keys('stuck') }
  expect(keys.filter((key) => key.startsWith('half'))).toEqual([])
})

it(`reading a sparse object of 5 GiB and copying it stay below ${loadLimit} MiB`, async () => {
  await start()
  await client.expect(200, 'PUT', '/sparse')
  const size = 5 * 2 ** 30
  writeFileSync(`${gateway.root}/sparse/zeros`, '')
  truncateSync(`${gateway.root}/sparse/zeros`, size)
  expect(await countBytes(`${gateway.endpoint}/sparse/zeros`)).toBe(size)
  console.log(`5 GiB read: ${Math.round(peakMemory())} MiB`)
  expect(peakMemory()).toBeLessThan(loadLimit)
}, 300_000)

it(`an upload of 1 GiB stays below ${loadLimit} MiB`, async () => {
  await start()
  await client.expect(200, 'PUT', '/large')
  const size = 2 ** 30
  const block = Buffer.alloc(2 ** 20, 'z')
  const status = await new Promise((resolve, reject) => {
    const outgoing = request(`${gateway.endpoint}/large/upload`, { method: 'PUT', headers: { 'content-length': size } })
    outgoing.on('error', reject)
    outgoing.on('response', (incoming) => resolve(incoming.statusCode))
    let left = size / block.length
    const send = () => {
      while (left-- > 0) if (!outgoing.write(block)) return outgoing.once('drain', send)
      outgoing.end()
    }
    send()
  })
  expect(status).toBe(200)
  const head = await client.expect(200, 'HEAD', '/large/upload')
  expect(head.headers['content-length']).toBe(String(size))
  console.log(`1 GiB written: ${Math.round(peakMemory())} MiB`)
  expect(peakMemory()).toBeLessThan(loadLimit)
}, 300_000)

it(`listing a directory of a million names stays below ${loadLimit} MiB`, async () => {
  await start()
  const names = 1_000_000
  mkdirSync(`${gateway.root}/million`)
  for (let n = 0; n < names; n++) closeSync(openSync(`${gateway.root}/million/name-${String(n).padStart(7, '0')}`, 'w'))
  let after = ''
  for (const start of ['', 'name-0500000', 'name-0998500']) {
    after = start
    for (let page = 0; page < 3; page++) {
      const answer = await client.expect(200, 'GET', `/million?list-type=2&start-after=${after}`)
      const keys = [...answer.body.toString().matchAll(/<Key>([^<]*)</g)].map(([, key = '']) => key)
      const first = after === '' ? 0 : Number(after.slice(5)) + 1
      const expected = Array.from(
        { length: Math.min(1000, names - first) },
        (_, n) => `name-${String(first + n).padStart(7, '0')}`,
      )
      expect(keys).toEqual(expected)
      if (keys.length < 1000) break
      after = keys.at(-1) ?? ''
    }
  }
  console.log(`a million names: ${Math.round(peakMemory())} MiB`)
  expect(peakMemory()).toBeLessThan(loadLimit)
}, 300_000)

/** Reads an answer in small sips; resolves with the number of bytes on the wire. */
function slowReader(endpoint: string, path: string): Promise<number> {
  const { hostname, port, pathname } = new URL(endpoint)
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () =>
      socket.write(`GET ${pathname}${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`),
    )
    let bytes = 0
    socket.on('data', (chunk) => {
      bytes += chunk.length
      if (bytes < 2 ** 20) {
        socket.pause()
        setTimeout(() => socket.resume(), 50)
      }
    })
    socket.on('error', reject)
    socket.on('close', () => resolve(bytes))
  })
}

function countBytes(url: string): Promise<number> {
  return new Promise((resolve, reject) => {
    request(url, (incoming) => {
      let bytes = 0
      incoming.on('data', (chunk: Buffer) => {
        bytes += chunk.length
      })
      incoming.on('error', reject)
      incoming.on('end', () => resolve(bytes))
    })
      .on('error', reject)
      .end()
  })
}
