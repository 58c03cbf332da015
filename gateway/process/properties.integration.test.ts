import { mkdirSync, mkdtempSync, readdirSync, rmdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Gateway, startGateway } from '../../testing/gateway.ts'
import { S3Client } from '../../testing/s3-client.ts'
import { holdLease } from '../namespace/lease.fixture.ts'
import { RawClient } from '../server/raw-client.fixture.ts'

// What properties do is tested beside the code that does it; here, that setting them reaches that code. The second and third gateway serve
// what the first has left.

const scratch = mkdtempSync(join(tmpdir(), 's3proxy-properties-'))
afterAll(() => rmSync(scratch, { recursive: true, force: true }))
const root = join(scratch, 'root')
const megabyte = 2 ** 20
let gateway: Gateway
let client: S3Client

async function start(properties: Readonly<Record<string, string | number | boolean>>): Promise<void> {
  gateway = await startGateway({ root, properties })
  client = new S3Client(gateway.endpoint)
}

async function stop(): Promise<void> {
  client.close()
  await gateway.stop()
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

/** The first line that the gateway wrote with these words; it writes them in batches. */
async function line(...words: string[]): Promise<string> {
  for (const deadline = Date.now() + 5000; Date.now() < deadline; await pause(50)) {
    const lines = gateway.output().split('\n')
    const found = lines.find((each) => words.every((word) => each.includes(word)))
    if (found !== undefined) return found
  }
  throw new Error(`no line with ${words} in:\n${gateway.output()}`)
}

const codeIn = (body: Buffer) => /<Code>(\w+)</.exec(body.toString())?.[1]
const portOf = (url: string) => Number(new URL(url).port)

describe('restrictions lifted and set', () => {
  const metadata = join(scratch, 'metadata')

  beforeAll(async () => {
    await start({
      'svc.proxy.identity.mode': 'process',
      'svc.proxy.identity.uid.min': 1000,
      'svc.proxy.log.access': 'aws',
      'svc.proxy.metadata.directory': metadata,
      'svc.proxy.s3.bucket.naming.restrictions.enabled': true,
      'svc.proxy.s3.bucketpathcache.timeout': '60sec',
      'svc.proxy.s3.complete.multipart.upload.keepalive.enabled': true,
      'svc.proxy.s3.complete.multipart.upload.min.part.size': '1KB',
      'svc.proxy.s3.header.metadata.max.size': 0,
      'svc.proxy.s3.single.connection.read.rate.limit.mb': 2,
      'svc.proxy.s3.tagging.restrictions.enabled': false,
      'svc.proxy.web.cors.origins': 'http://page.test',
    })
    await client.expect(200, 'PUT', '/bucket', { user: 'alice' })
    await client.expect(200, 'PUT', '/bucket/key', { user: 'alice', body: 'content' })
  })
  afterAll(() => stop())

  it('one connection reads at its limit, and others beside it at limits of their own', async () => {
    writeFileSync(join(root, 'bucket', 'large'), Buffer.alloc(2 * megabyte))
    const startedMs = performance.now()
    const seconds = await Promise.all(
      [1, 2, 3, 4].map(async () => {
        const own = new S3Client(gateway.endpoint)
        expect((await own.expect(200, 'GET', '/bucket/large')).body).toHaveLength(2 * megabyte)
        own.close()
        return (performance.now() - startedMs) / 1000
      }),
    )
    for (const each of seconds) expect(each).toBeGreaterThan(0.7)
    // Under one common limit the last would take four seconds.
    expect(Math.max(...seconds)).toBeLessThan(3.5)
  })

  it('tags may be many and long', async () => {
    const tags = Array.from(
      { length: 12 },
      (_, index) => `<Tag><Key>k${index}</Key><Value>${'v'.repeat(300)}</Value></Tag>`,
    )
    const body = `<Tagging><TagSet>${tags.join('')}</TagSet></Tagging>`
    await client.expect(200, 'PUT', '/bucket/key?tagging', { user: 'alice', body })
    const answer = await client.expect(200, 'GET', '/bucket/key?tagging', { user: 'alice' })
    expect(answer.body.toString().match(/<Tag>/g)).toHaveLength(12)
  })

  it('metadata may be larger than 2 KB', async () => {
    const value = 'm'.repeat(5000)
    await client.expect(200, 'PUT', '/bucket/meta', { user: 'alice', headers: { 'x-amz-meta-large': value } })
    expect((await client.expect(200, 'HEAD', '/bucket/meta')).headers['x-amz-meta-large']).toBe(value)
  })

  it("S3's names for buckets are demanded", async () => {
    const refused = await client.expect(400, 'PUT', '/Upper_Case', { user: 'alice' })
    expect(codeIn(refused.body)).toBe('InvalidBucketName')
  })

  it('nobody acts as a user below the lowest uid but as the process user', async () => {
    expect(codeIn((await client.expect(403, 'GET', '/', { user: 'daemon' })).body)).toBe('AccessDenied')
    await client.expect(200, 'GET', '/', { user: 'root' })
  })

  it('a bucket that was found is believed to be there', async () => {
    mkdirSync(join(root, 'passing'))
    await client.expect(200, 'HEAD', '/passing')
    rmdirSync(join(root, 'passing'))
    await client.expect(200, 'HEAD', '/passing')
  })

  it('the second port has the same API at /', async () => {
    const alias = new S3Client(gateway.rootEndpoint)
    expect((await alias.expect(200, 'GET', '/bucket/key')).body.toString()).toBe('content')
    alias.close()
  })

  it('an allowed page may read an error answer and a 304, another page may not', async () => {
    const origin = 'http://page.test'
    const missing = await client.expect(404, 'GET', '/bucket/missing', { headers: { origin } })
    expect(missing.headers).toMatchObject({ 'access-control-allow-origin': origin, vary: 'Origin' })
    const { etag = '' } = (await client.expect(200, 'HEAD', '/bucket/key')).headers
    const unchanged = await client.expect(304, 'GET', '/bucket/key', { headers: { origin, 'if-none-match': etag } })
    expect(unchanged.headers['access-control-allow-origin']).toBe(origin)
    const other = await client.expect(404, 'GET', '/bucket/missing', { headers: { origin: 'http://other.test' } })
    expect(other.headers['access-control-allow-origin']).toBeUndefined()
  })

  it('with keepalive a completion that fails is 200 without a document (spec §8), and parts may be small', async () => {
    const asAlice = { user: 'alice' }
    const created = await client.expect(200, 'POST', '/bucket/upload?uploads', asAlice)
    const id = /<UploadId>([^<]+)</.exec(created.body.toString())?.[1]
    const complete = async (sizes: readonly number[]) => {
      const parts: string[] = []
      for (const [index, size] of sizes.entries()) {
        const part = `/bucket/upload?partNumber=${index + 1}&uploadId=${id}`
        const { headers } = await client.expect(200, 'PUT', part, { ...asAlice, body: 'p'.repeat(size) })
        parts.push(`<Part><PartNumber>${index + 1}</PartNumber><ETag>${headers.etag}</ETag></Part>`)
      }
      const body = `<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`
      return client.expect(200, 'POST', `/bucket/upload?uploadId=${id}`, { ...asAlice, body })
    }
    expect((await complete([1023, 1])).body.toString().trim()).toBe('')
    expect((await complete([1024, 1])).body.toString()).toContain('<CompleteMultipartUploadResult')
    expect((await client.expect(200, 'GET', '/bucket/upload')).body).toHaveLength(1025)
  })

  it("requests are logged as S3's server access log has them", async () => {
    await client.expect(404, 'GET', '/bucket/logged', { user: 'alice' })
    const fields = (await line('bucket/logged')).split(' ')
    expect(fields.slice(0, 2)).toEqual(['-', 'bucket'])
    expect(fields.slice(4, 6)).toEqual(['127.0.0.1', 'alice'])
    expect(fields.slice(7, 14)).toEqual([
      'REST.GET.OBJECT',
      'logged',
      '"GET',
      '/api/v1/s3/bucket/logged',
      'HTTP/1.1"',
      '404',
      'NoSuchKey',
    ])
  })

  it('the metadata lies in the directory that was named', () => {
    expect(readdirSync(metadata)).not.toEqual([])
    expect(readdirSync(join(root, '.s3proxy'))).not.toContain('metadata')
  })
})

describe('pools of one', () => {
  const light = 'svc.proxy.s3.v2.async.light.pool'
  const heavy = 'svc.proxy.s3.v2.async.heavy.pool'

  beforeAll(() =>
    start({
      'svc.proxy.identity.mode': 'process',
      'svc.proxy.log.access': 'alluxio',
      'svc.proxy.s3.v2.async.processing.enabled': true,
      'svc.proxy.s3.v2.async.context.timeout.ms': 1000,
      [`${light}.core.thread.number`]: 1,
      [`${light}.maximum.thread.number`]: 1,
      [`${light}.queue.size`]: 0,
      [`${heavy}.core.thread.number`]: 1,
      [`${heavy}.maximum.thread.number`]: 1,
      [`${heavy}.queue.size`]: 0,
      'svc.proxy.web.keepalive.timeout': '500ms',
    }),
  )
  afterAll(() => stop())

  it('refuse what is too much at once, and cut what takes too long', async () => {
    // The record of the bucket's owner is leased to us: whoever opens it waits in the kernel.
    const records = join(root, '.s3proxy', 'buckets')
    const [record = ''] = readdirSync(records)
    const lease = holdLease(join(records, record))
    const startedMs = performance.now()
    const cut = client
      .ask('GET', '/bucket?location', { user: 'alice' })
      .then((answer) => ({ ...answer, ms: performance.now() - startedMs }))
    await pause(200)
    const refused = await client.expect(503, 'GET', '/bucket?location', { user: 'alice' })
    expect(codeIn(refused.body)).toBe('SlowDown')
    expect(refused.headers['retry-after']).toBe('1')
    // The other pool has its own slot.
    await client.expect(200, 'GET', '/bucket/key')
    const { status, body, ms } = await cut
    expect({ status, code: codeIn(body) }).toEqual({ status: 503, code: 'ServiceUnavailable' })
    expect(ms).toBeGreaterThan(900)
    lease.release()
    let last = 503
    for (const deadline = Date.now() + 5000; last !== 200 && Date.now() < deadline; await pause(50)) {
      last = (await client.ask('GET', '/bucket?location', { user: 'alice' })).status
    }
    expect(last).toBe(200)
  })

  it('stand beside an idle connection that is closed after its timeout', async () => {
    const idle = new RawClient(portOf(gateway.endpoint))
    await idle.request('GET', '/api/v1/s3/bucket/key').answer()
    const startedMs = performance.now()
    await idle.closed()
    expect(performance.now() - startedMs).toBeGreaterThan(400)
    expect(performance.now() - startedMs).toBeLessThan(10_000)
  })

  it("leave the reference's audit line for each request", async () => {
    await client.expect(404, 'GET', '/bucket/audited', { user: 'alice' })
    expect(await line('object=audited')).toMatch(
      /^succeeded=false\tallowed=true\tugi=alice,\d+\tip=127\.0\.0\.1:\d+\tcmd=GetObject\tbucket=bucket\tobject=audited\texecutionTimeUs=\d+$/,
    )
  })
})

describe('a read-only gateway for one connection', () => {
  beforeAll(() =>
    start({
      'svc.proxy.identity.mode': 'process',
      'svc.proxy.namespace.inline.size': 0,
      'svc.proxy.readonly': true,
      'svc.proxy.web.max.connections': 1,
    }),
  )
  afterAll(() => client.close())

  it('answers reads, refuses writes and further connections, and does not wait for half a head at its end', async () => {
    const only = new RawClient(portOf(gateway.endpoint))
    const read = await only.request('GET', '/api/v1/s3/bucket/key').answer()
    expect({ status: read.status, body: read.body.toString() }).toEqual({ status: 200, body: 'content' })
    for (const [method, path] of [
      ['PUT', 'key'],
      ['DELETE', 'key'],
      ['POST', 'key?uploads'],
    ] as const) {
      const { status, body } = await only.request(method, `/api/v1/s3/bucket/${path}`, { body: '' }).answer()
      expect({ status, code: codeIn(body) }).toEqual({ status: 403, code: 'AccessDenied' })
    }
    const further = new RawClient(portOf(gateway.endpoint)).request('GET', '/api/v1/s3/bucket/key')
    await expect(further.answer()).rejects.toThrow('ended')

    only.send('GET /api/v1/s3/bucket/key HTTP/1.1\r\nHost: loc')
    await pause(100)
    const startedMs = performance.now()
    expect(await gateway.stop()).toBe(0)
    expect(performance.now() - startedMs).toBeLessThan(10_000)
  })
})
