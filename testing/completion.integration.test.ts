import { readdirSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, expect, it } from 'vitest'
import { type Gateway, startGateway } from './gateway.ts'
import { S3Client } from './s3-client.ts'

/** Completions that take seconds: their one part was put there by the file system, so its MD5 is read then. */
const size = 1200 * 2 ** 20
const timeout = 'svc.proxy.s3.complete.multipart.upload.keepalive'
const list = '<CompleteMultipartUpload><Part><PartNumber>1</PartNumber></Part></CompleteMultipartUpload>'

let gateway: Gateway
let client: S3Client
afterEach(async () => {
  client.close()
  await gateway.stop()
  rmSync(gateway.root, { recursive: true, force: true })
})

async function start(properties: Record<string, string | number | boolean>, root?: string): Promise<void> {
  gateway = await startGateway({ properties, ...(root !== undefined && { root }) })
  client = new S3Client(gateway.endpoint)
}

async function begin(): Promise<string> {
  await client.expect(200, 'PUT', '/b')
  const { body } = await client.expect(200, 'POST', '/b/k?uploads')
  const id = /<UploadId>([^<]+)</.exec(body.toString())?.[1] ?? ''
  const part = join(gateway.root, 'b', `k_${id}`, '1')
  writeFileSync(part, '')
  truncateSync(part, size)
  return id
}

/** What came, and after how many ms since the request. */
async function dripped(path: string): Promise<{ status: number; pieces: { text: string; ms: number }[] }> {
  const began = performance.now()
  return new Promise((resolve, reject) => {
    const outgoing = request(`${gateway.endpoint}${path}`, {
      method: 'POST',
      headers: { authorization: 'AWS4-HMAC-SHA256 Credential=root/x, SignedHeaders=host, Signature=0' },
    })
    outgoing.on('error', reject)
    outgoing.on('response', (incoming) => {
      const pieces: { text: string; ms: number }[] = []
      incoming.on('data', (text) => pieces.push({ text: String(text), ms: performance.now() - began }))
      incoming.on('end', () => resolve({ status: incoming.statusCode ?? 0, pieces }))
      incoming.on('error', reject)
    })
    outgoing.end(list)
  })
}

it('keepalive sends whitespace from the first second on, and then the document (spec §8)', async () => {
  await start({ [`${timeout}.enabled`]: true, [`${timeout}.time.interval`]: '1sec' })
  const id = await begin()
  const { status, pieces } = await dripped(`/b/k?uploadId=${id}`)
  const text = pieces.map((piece) => piece.text).join('')
  expect(status).toBe(200)
  expect(pieces[0]?.text).toMatch(/^\s+$/)
  expect(pieces[0]?.ms).toBeGreaterThan(950)
  expect(text).toMatch(/^\s+<CompleteMultipartUploadResult[^>]*><Location>\/b\/k<\/Location>/)
  expect(Number((await client.expect(200, 'HEAD', '/b/k')).headers['content-length'])).toBe(size)
})

it('a completion goes on when its client goes away, and the same request asked again joins it', async () => {
  await start({ 'svc.proxy.processes': 2 })
  const id = await begin()
  const path = `/b/k?uploadId=${id}`
  const gone = request(`${gateway.endpoint}${path}`, {
    method: 'POST',
    headers: { authorization: 'AWS4-HMAC-SHA256 Credential=root/x, SignedHeaders=host, Signature=0' },
  })
  gone.on('error', () => {})
  gone.end(list)
  await pause(300)
  gone.destroy()
  const other =
    '<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>"0"</ETag></Part></CompleteMultipartUpload>'
  const answers = await Promise.all([
    client.ask('POST', path, { body: list }),
    client.ask('POST', path, { body: list }),
    client.ask('POST', path, { body: other }),
  ])
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 409])
  expect(answers[0]?.body.toString()).toBe(answers[1]?.body.toString())
  expect((await client.ask('POST', path, { body: list })).body.toString()).toBe(answers[0]?.body.toString())
  expect((await client.ask('POST', path, { body: other })).status).toBe(404)
  expect(readdirSync(join(gateway.root, 'b'))).toEqual(['k'])
})

it('a completion whose processes are killed is finished by the next ones, without being asked again', async () => {
  await start({ 'svc.proxy.processes': 2 })
  const id = await begin()
  const cut = client.ask('POST', `/b/k?uploadId=${id}`, { body: list }).catch(() => 'cut off')
  await pause(700)
  await gateway.kill()
  expect(await cut).toBe('cut off')
  expect(readdirSync(join(gateway.root, 'b'))).not.toContain('k')
  client.close()
  await start({ 'svc.proxy.processes': 2 }, gateway.root)
  for (let tries = 0; (await client.ask('HEAD', '/b/k')).status !== 200; tries++) {
    if (tries > 600) throw new Error('it was not finished')
    await pause(100)
  }
  const answer = await client.expect(200, 'POST', `/b/k?uploadId=${id}`, { body: list })
  expect(answer.body.toString()).toContain('-1&quot;</ETag>')
  expect(readdirSync(join(gateway.root, 'b'))).toEqual(['k'])
})

it.skipIf(process.getuid?.() !== 0)(
  'an object made of parts belongs to the acting user, who needs the permission to write',
  async () => {
    await start({ 'svc.proxy.s3.complete.multipart.upload.min.part.size': 0 })
    await client.expect(200, 'PUT', '/b', { user: 'alice' })
    const { uid } = statSync(join(gateway.root, 'b'))
    expect(uid).not.toBe(0)
    for (const parts of [1, 2]) {
      const numbers = Array.from({ length: parts }, (_, n) => n + 1)
      const { body } = await client.expect(200, 'POST', '/b/a/k?uploads', { user: 'alice' })
      const id = /<UploadId>([^<]+)</.exec(body.toString())?.[1]
      for (const n of numbers) {
        await client.expect(200, 'PUT', `/b/a/k?uploadId=${id}&partNumber=${n}`, { user: 'alice', body: 'x' })
      }
      const all = numbers.map((n) => `<Part><PartNumber>${n}</PartNumber></Part>`).join('')
      const document = `<CompleteMultipartUpload>${all}</CompleteMultipartUpload>`
      await client.expect(403, 'POST', `/b/a/k?uploadId=${id}`, { user: 'bob', body: document })
      await client.expect(200, 'POST', `/b/a/k?uploadId=${id}`, { user: 'alice', body: document })
      expect(statSync(join(gateway.root, 'b/a/k'))).toMatchObject({ uid, size: parts, nlink: 1 })
    }
    await client.expect(403, 'POST', '/b/k?uploads', { user: 'bob' })
    expect(readdirSync(join(gateway.root, 'b'))).toEqual(['a'])
  },
)
