import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { S3Error } from '../s3/errors.ts'
import type { Reply } from '../s3/reply.ts'
import type { S3Request } from '../s3/request.ts'
import { fake, openFile, type RunningServer, startFakeServer } from './running-server.fixture.ts'
import { closeQuietConnections } from './s3-server.ts'

const base = '/api/v1/s3'
const ok: Reply = { status: 200, headers: {} }
const put = (run: (request: S3Request) => Promise<Reply>) => fake({ method: 'PUT', target: 'object' }, 'PutObject', run)
const get = (run: (request: S3Request) => Promise<Reply>) => fake({ method: 'GET', target: 'object' }, 'GetObject', run)
/** Answers with the body it got, as JSON of its length and first bytes. */
const echo = put(async ({ body }) => {
  let size = 0
  for await (const chunk of body.stream()) size += chunk.length
  return { status: 200, headers: {}, body: `got ${size}` }
})

let running: RunningServer
afterEach(() => running.close())

async function start(...parameters: Parameters<typeof startFakeServer>): Promise<RunningServer> {
  running = await startFakeServer(...parameters)
  return running
}

describe('the answer', () => {
  it('carries request id, host id, server and date', async () => {
    const { client } = await start([get(async () => ({ ...ok, body: 'hello' }))])
    const { status, headers, body } = await client().request('GET', `${base}/b/k`).answer()
    expect({ status, body: String(body) }).toEqual({ status: 200, body: 'hello' })
    expect(headers['x-amz-request-id']).toMatch(/^[0-9A-F]{16}$/)
    expect(headers['x-amz-id-2']).toMatch(/^[A-Za-z0-9+/]{43}=$/)
    expect(headers).toMatchObject({ server: 'S3Proxy', 'content-length': '5', connection: 'keep-alive' })
    expect(Date.parse(headers.date ?? '')).toBeGreaterThan(0)
  })

  it('says Content-Length: 0 where there is no body (spec §4), and nothing of it for 204', async () => {
    const { client } = await start([
      put(async () => ok),
      fake({ method: 'DELETE', target: 'object' }, 'DeleteObject', async () => ({ status: 204, headers: {} })),
    ])
    const connection = client()
    expect((await connection.request('PUT', `${base}/b/k`, { body: '' }).answer()).headers['content-length']).toBe('0')
    expect((await connection.request('DELETE', `${base}/b/k`).answer()).headers['content-length']).toBeUndefined()
  })

  it('to HEAD has the length the operation says and no body, an error document included', async () => {
    const head = (run: () => Promise<Reply>) => fake({ method: 'HEAD', target: 'object' }, 'HeadObject', run)
    let missing = false
    const { client } = await start([
      head(async () => {
        if (missing) throw new S3Error('NoSuchKey')
        return { status: 200, headers: { 'Content-Length': '1234' } }
      }),
    ])
    const connection = client()
    expect((await connection.request('HEAD', `${base}/b/k`).answer(true)).headers['content-length']).toBe('1234')
    missing = true
    const { status, headers } = await connection.request('HEAD', `${base}/b/k`).answer(true)
    expect({ status, type: headers['content-type'] }).toEqual({ status: 404, type: 'application/xml' })
    missing = false
    expect((await connection.request('HEAD', `${base}/b/k`).answer(true)).status).toBe(200)
  })

  it('to an error is its document, with the resource and the request id', async () => {
    const { client } = await start([
      get(async () => {
        throw new S3Error('NoSuchKey', undefined, { details: { Key: 'k' } })
      }),
    ])
    const { status, headers, body } = await client().request('GET', `${base}/b/k`).answer()
    expect(status).toBe(404)
    expect(headers['content-type']).toBe('application/xml')
    expect(String(body)).toContain('<Code>NoSuchKey</Code>')
    expect(String(body)).toContain(`<RequestId>${headers['x-amz-request-id']}</RequestId>`)
    expect(String(body)).toContain('<Resource>/b/k</Resource>')
  })

  it('to a fault of ours is InternalError without a word of the cause, which is reported', async () => {
    const { client, failures } = await start([
      get(async () => {
        throw new Error('secret')
      }),
    ])
    const { status, body } = await client().request('GET', `${base}/b/k`).answer()
    expect(status).toBe(500)
    expect(String(body)).toContain('<Code>InternalError</Code>')
    expect(String(body)).not.toContain('secret')
    expect(failures).toMatchObject([{ message: 'secret' }])
  })

  it('with a header value that HTTP does not allow is InternalError, not a broken answer', async () => {
    const { client } = await start([get(async () => ({ status: 200, headers: { 'x-amz-meta-a': 'a\nb' } }))])
    expect((await client().request('GET', `${base}/b/k`).answer()).status).toBe(500)
  })

  it('to a path outside the base address says where the endpoint is (our choice)', async () => {
    const { client } = await start([get(async () => ok)])
    const { status, body } = await client().request('GET', '/other/thing').answer()
    expect(status).toBe(404)
    expect(String(body)).toContain('/api/v1/s3')
  })

  it('to a write is AccessDenied when the gateway is read-only', async () => {
    const { client } = await start([echo], { 'svc.proxy.readonly': true })
    expect((await client().request('PUT', `${base}/b/k`, { body: 'x' }).answer()).status).toBe(403)
  })

  it('that is made while it is sent is chunked, and its errors end the connection', async () => {
    const { client, failures } = await start([
      get(async ({ key }) => ({
        status: 200,
        headers: {},
        body: (async function* () {
          yield ' '
          if (key === 'bad') throw new Error('half-way')
          yield '<a/>'
        })(),
      })),
    ])
    expect(String((await client().request('GET', `${base}/b/k`).answer()).body)).toBe(' <a/>')
    await expect(client().request('GET', `${base}/b/bad`).answer()).rejects.toThrow('ended')
    expect(failures).toHaveLength(1)
  })
})

describe('a request body', () => {
  it('arrives whole, with Content-Length and chunked', async () => {
    const { client } = await start([echo])
    const connection = client()
    const large = 'x'.repeat(3_000_000)
    expect(String((await connection.request('PUT', `${base}/b/k`, { body: large }).answer()).body)).toBe('got 3000000')
    connection.request('PUT', `${base}/b/k`, { headers: { 'Transfer-Encoding': 'chunked' } })
    connection.send('5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n')
    expect(String((await connection.answer()).body)).toBe('got 11')
  })

  it('of an upload must be announced: 411 MissingContentLength', async () => {
    const { client } = await start([echo])
    const { status, body } = await client().request('PUT', `${base}/b/k`).answer()
    expect(status).toBe(411)
    expect(String(body)).toContain('<Code>MissingContentLength</Code>')
  })

  it('that the client cuts off is IncompleteBody', async () => {
    const { client, nextEnd } = await start([echo])
    const connection = client()
      .request('PUT', `${base}/b/k`, { headers: { 'Content-Length': '100' } })
      .send('short')
    connection.socket.end()
    const { status, body } = await connection.answer()
    expect(status).toBe(400)
    expect(String(body)).toContain('<Code>IncompleteBody</Code>')
    const ended = nextEnd()
    const gone = client()
      .request('PUT', `${base}/b/k`, { headers: { 'Content-Length': '100' } })
      .send('short')
    setTimeout(() => gone.socket.resetAndDestroy(), 50)
    expect((await ended).errorCode).toBe('IncompleteBody')
  })

  it('that stalls is RequestTimeout, and the connection is closed', async () => {
    const { client } = await start([echo], { 'svc.proxy.web.idle.timeout': '200ms' })
    const connection = client()
      .request('PUT', `${base}/b/k`, { headers: { 'Content-Length': '100' } })
      .send('short')
    expect(String((await connection.answer()).body)).toContain('<Code>RequestTimeout</Code>')
    await connection.closed()
  })

  it('that comes slowly but steadily is taken', async () => {
    const { client } = await start([echo], { 'svc.proxy.web.idle.timeout': '200ms' })
    const connection = client().request('PUT', `${base}/b/k`, { headers: { 'Content-Length': '8' } })
    for (let sent = 0; sent < 8; sent++) {
      await pause(80)
      connection.send('x')
    }
    expect(String((await connection.answer()).body)).toBe('got 8')
  })

  it('with broken chunk framing is InvalidRequest', async () => {
    const { client } = await start([echo])
    const connection = client().request('PUT', `${base}/b/k`, { headers: { 'Transfer-Encoding': 'chunked' } })
    connection.send('5\r\nhello\r\nzz\r\n')
    const { status, body } = await connection.answer()
    expect(status).toBe(400)
    expect(String(body)).toContain('<Code>InvalidRequest</Code>')
    await connection.closed()
  })

  it('longer than announced is answered, and the connection closed', async () => {
    const { client } = await start([echo])
    const connection = client()
      .request('PUT', `${base}/b/k`, { headers: { 'Content-Length': '5' } })
      .send('hello, world')
    expect(String((await connection.answer()).body)).toBe('got 5')
    expect(await connection.closed()).toHaveLength(0)
  })

  it('is read into memory only up to the bound', async () => {
    const { client } = await start([put(async ({ body }) => ({ ...ok, body: String((await body.read(10)).length) }))])
    const connection = client()
    expect(String((await connection.request('PUT', `${base}/b/k`, { body: '0123456789' }).answer()).body)).toBe('10')
    const { status, body } = await connection.request('PUT', `${base}/b/k`, { body: '0123456789a' }).answer()
    expect({ status, tooLarge: String(body).includes('EntityTooLarge') }).toEqual({ status: 400, tooLarge: true })
    expect(String((await connection.request('PUT', `${base}/b/k`, { body: '' }).answer()).body)).toBe('0')
    connection.request('PUT', `${base}/b/k`, { headers: { 'Transfer-Encoding': 'chunked' } })
    connection.send('8\r\n12345678\r\n8\r\n12345678\r\n0\r\n\r\n')
    expect((await connection.answer()).status).toBe(400)
  })
})

describe('a body that nobody reads', () => {
  const refused = put(async () => {
    throw new S3Error('AccessDenied')
  })

  it('when small is thrown away and the connection goes on', async () => {
    const { client } = await start([refused])
    const connection = client()
    for (let turn = 0; turn < 3; turn++) {
      expect((await connection.request('PUT', `${base}/b/k`, { body: 'x'.repeat(100_000) }).answer()).status).toBe(403)
    }
  })

  it('when large is answered at once, and the client can read the answer after it has sent everything', async () => {
    const { client } = await start([refused])
    const size = 20_000_000
    const connection = client().request('PUT', `${base}/b/k`, { headers: { 'Content-Length': String(size) } })
    await new Promise((resolve) => connection.socket.write(Buffer.alloc(size), resolve))
    const { status, headers } = await connection.answer()
    expect({ status, connection: headers.connection }).toEqual({ status: 403, connection: 'close' })
    expect(await connection.closed()).toHaveLength(0)
  })

  it('is never asked for with Expect: 100-continue', async () => {
    const { client } = await start([refused])
    const connection = client().request('PUT', `${base}/b/k`, {
      headers: { 'Content-Length': '5', Expect: '100-continue' },
    })
    const { status, headers } = await connection.answer()
    expect({ status, connection: headers.connection }).toEqual({ status: 403, connection: 'close' })
    await connection.closed()
  })
})

describe('Expect: 100-continue', () => {
  it('is answered when the operation first pulls', async () => {
    const { client } = await start([echo])
    const connection = client().request('PUT', `${base}/b/k`, {
      headers: { 'Content-Length': '5', Expect: '100-continue' },
    })
    expect((await connection.answer()).status).toBe(100)
    expect(String((await connection.send('hello').answer()).body)).toBe('got 5')
    expect((await connection.request('PUT', `${base}/b/k`, { body: 'x' }).answer()).status).toBe(200)
  })

  it('is answered for an empty body too, and the connection goes on', async () => {
    const { client } = await start([echo])
    const connection = client()
    for (let turn = 0; turn < 2; turn++) {
      connection.request('PUT', `${base}/b/k`, { headers: { 'Content-Length': '0', Expect: '100-continue' } })
      expect((await connection.answer()).status).toBe(100)
      const { headers, body } = await connection.answer()
      expect({ connection: headers.connection, body: String(body) }).toEqual({
        connection: 'keep-alive',
        body: 'got 0',
      })
    }
  })

  it('of anything else is refused', async () => {
    const { client } = await start([echo])
    const connection = client().request('PUT', `${base}/b/k`, {
      headers: { 'Content-Length': '5', Expect: 'miracles' },
    })
    expect((await connection.answer()).status).toBe(400)
  })
})

describe('a client that', () => {
  it('pipelines gets its answers in order', async () => {
    const { client } = await start([
      get(async ({ key }) => {
        await pause(key === '0' ? 50 : 0)
        return { ...ok, body: `answer ${key}` }
      }),
    ])
    const connection = client()
    for (let turn = 0; turn < 5; turn++) connection.request('GET', `${base}/b/${turn}`)
    for (let turn = 0; turn < 5; turn++) expect(String((await connection.answer()).body)).toBe(`answer ${turn}`)
  })

  it('closes its half after the request gets its answer', async () => {
    const { client } = await start([
      get(async () => {
        await pause(50)
        return { ...ok, body: 'late' }
      }),
    ])
    const connection = client().request('GET', `${base}/b/k`)
    connection.socket.end()
    expect(String((await connection.answer()).body)).toBe('late')
    await connection.closed()
  })

  it('sends its head byte by byte is cut off with RequestTimeout', async () => {
    const { client } = await start([echo], { 'svc.proxy.web.idle.timeout': '400ms' })
    const connection = client()
    const drip = setInterval(() => connection.send('a'), 50)
    connection.send(`GET ${base}/b/k HTTP/1.1\r\nX-Slow: `)
    const { status, body } = await connection.answer()
    clearInterval(drip)
    expect({ status, code: /<Code>(\w+)/.exec(String(body))?.[1] }).toEqual({ status: 400, code: 'RequestTimeout' })
    await connection.closed()
  })

  it('waits longer than the idle timeout for an operation at work is not cut off', async () => {
    const { client } = await start(
      [
        get(async () => {
          await pause(700)
          return { ...ok, body: 'done' }
        }),
      ],
      { 'svc.proxy.web.idle.timeout': '200ms' },
    )
    expect(String((await client().request('GET', `${base}/b/k`).answer()).body)).toBe('done')
  })

  it('sends too large a head gets 400 RequestHeaderSectionTooLarge', async () => {
    const { client } = await start([echo])
    const connection = client().request('GET', `${base}/b/k`, { headers: { 'X-Large': 'x'.repeat(70_000) } })
    const { status, body } = await connection.answer()
    expect(status).toBe(400)
    expect(String(body)).toContain('<Code>RequestHeaderSectionTooLarge</Code>')
    await connection.closed()
  })

  it('speaks no HTTP gets 400 and is closed', async () => {
    const { client } = await start([echo])
    const connection = client().send('\x16\x03\x01\x02\x00\x01\x00\r\n\r\n')
    expect((await connection.answer()).status).toBe(400)
    await connection.closed()
  })

  it('sends no Host header gets 400 InvalidRequest', async () => {
    const { client } = await start([echo])
    expect((await client().send(`GET ${base}/b/k HTTP/1.1\r\n\r\n`).answer()).status).toBe(400)
  })
})

describe('closing quiet connections', () => {
  it('ends those with half a head, first or later, and leaves a request at work its answer', async () => {
    const { client, server } = await start([echo])
    const half = `GET ${base}/b/k HTTP/1.1\r\nHost: loc`
    const first = client().send(half)
    const idle = client().request('PUT', `${base}/b/k`, { body: 'idle' })
    const later = client().request('PUT', `${base}/b/k`, { body: 'later' })
    await idle.answer()
    await later.answer()
    later.send(half)
    const busy = client().request('PUT', `${base}/b/k`, { headers: { 'Content-Length': '5' } })
    busy.send('he')
    await new Promise((resolve) => setTimeout(resolve, 100))
    closeQuietConnections(server)
    expect(await Promise.all([first.closed(), idle.closed(), later.closed()])).toEqual(Array(3).fill(Buffer.alloc(0)))
    expect(String((await busy.send('llo').answer()).body)).toBe('got 5')
  })
})

describe('CORS', () => {
  it('is off without the property', async () => {
    const { client } = await start([get(async () => ok)])
    const connection = client()
    expect(
      (await connection.request('OPTIONS', `${base}/b/k`, { headers: { Origin: 'http://a' } }).answer()).status,
    ).toBe(403)
    const { headers } = await connection.request('GET', `${base}/b/k`, { headers: { Origin: 'http://a' } }).answer()
    expect(headers['access-control-allow-origin']).toBeUndefined()
  })

  it('lets the named origins in', async () => {
    const { client } = await start([get(async () => ok)], { 'svc.proxy.web.cors.origins': 'http://a, http://b' })
    const connection = client()
    const preflight = await connection
      .request('OPTIONS', `${base}/b/k`, {
        headers: {
          Origin: 'http://b',
          'Access-Control-Request-Method': 'PUT',
          'Access-Control-Request-Headers': 'x-a',
        },
      })
      .answer()
    expect(preflight.status).toBe(200)
    expect(preflight.headers).toMatchObject({
      'access-control-allow-origin': 'http://b',
      'access-control-allow-headers': 'x-a',
    })
    const own = await connection.request('GET', `${base}/b/k`, { headers: { Origin: 'http://b' } }).answer()
    expect(own.headers['access-control-allow-origin']).toBe('http://b')
    const other = await connection.request('GET', `${base}/b/k`, { headers: { Origin: 'http://c' } }).answer()
    expect(other.headers['access-control-allow-origin']).toBeUndefined()
  })
})

describe('a file as the body', () => {
  const directory = mkdtempSync(join(tmpdir(), 's3proxy-server-'))
  const path = join(directory, 'file')
  const bytes = Buffer.from(Array.from({ length: 5_000_000 }, (_, index) => (index * 7919) % 251))
  writeFileSync(path, bytes)
  afterAllRemove(directory)

  const serving = (files: ReturnType<typeof openFile>[], start: number, length: number) =>
    get(async () => {
      const file = openFile(path, bytes.length)
      files.push(file)
      return { status: 200, headers: {}, body: { file, start, length } }
    })

  it.each([
    [0, 5_000_000],
    [0, 1],
    [4_999_999, 1],
    [1_048_575, 1_048_578],
    [17, 0],
  ])('gives the bytes of the range %i + %i and closes the file', async (from, length) => {
    const files: ReturnType<typeof openFile>[] = []
    const { client } = await start([serving(files, from, length)])
    const connection = client()
    for (let turn = 0; turn < 2; turn++) {
      const { body, headers } = await connection.request('GET', `${base}/b/k`).answer()
      expect(headers['content-length']).toBe(String(length))
      expect(body.equals(bytes.subarray(from, from + length))).toBe(true)
    }
    expect(files.map(({ closed }) => closed)).toEqual([true, true])
  })

  it('is closed when the client goes away in the middle', async () => {
    const files: ReturnType<typeof openFile>[] = []
    const { client, nextEnd } = await start([serving(files, 0, bytes.length)])
    const ended = nextEnd()
    const connection = client()
    connection.socket.pause()
    connection.request('GET', `${base}/b/k`)
    await pause(100)
    connection.socket.resetAndDestroy()
    expect((await ended).aborted).toBe(true)
    expect(files.map(({ closed }) => closed)).toEqual([true])
  })

  it('is closed, and the connection too, when the client takes nothing for the idle timeout', async () => {
    const files: ReturnType<typeof openFile>[] = []
    const { client, nextEnd } = await start([serving(files, 0, bytes.length)], {
      'svc.proxy.web.idle.timeout': '300ms',
    })
    const ended = nextEnd()
    const connection = client()
    connection.socket.pause()
    connection.request('GET', `${base}/b/k`)
    expect((await ended).aborted).toBe(true)
    expect(files.map(({ closed }) => closed)).toEqual([true])
  })

  it('that became shorter ends the connection instead of a wrong length', async () => {
    const shorter = join(directory, 'shorter')
    writeFileSync(shorter, bytes)
    const { client, failures } = await start([
      get(async () => {
        const file = openFile(shorter, bytes.length)
        truncateSync(shorter, 2_000_000)
        return { status: 200, headers: {}, body: { file, start: 0, length: bytes.length } }
      }),
    ])
    await expect(client().request('GET', `${base}/b/k`).answer()).rejects.toThrow('ended')
    expect(failures).toHaveLength(1)
  })

  it('that cannot be read is InternalError while nothing has been sent', async () => {
    const { client } = await start([
      get(async () => ({
        status: 200,
        headers: {},
        body: { file: { fd: 9999, size: 5, close() {} }, start: 0, length: 5 },
      })),
    ])
    expect((await client().request('GET', `${base}/b/k`).answer()).status).toBe(500)
  })

  it('comes at the speed of the read-rate limit', async () => {
    const { client } = await start([serving([], 0, 1_500_000)], { 'svc.proxy.s3.global.read.rate.limit.mb': 2 })
    const startedMs = performance.now()
    expect((await client().request('GET', `${base}/b/k`).answer()).body).toHaveLength(1_500_000)
    const tookMs = performance.now() - startedMs
    expect(tookMs).toBeGreaterThan(550)
    expect(tookMs).toBeLessThan(2000)
  })
})

function afterAllRemove(directory: string): void {
  process.once('exit', () => rmSync(directory, { recursive: true, force: true }))
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

describe('the bound on requests in flight', () => {
  it('counts a request until its answer is sent, and answers 503 SlowDown above it', async () => {
    const gate = Promise.withResolvers<void>()
    const { client } = await start(
      [
        get(async ({ key }) => {
          if (key === 'slow') await gate.promise
          return { ...ok, body: 'done' }
        }),
      ],
      { 'svc.proxy.web.max.requests': 1 },
    )
    const slow = client().request('GET', `${base}/b/slow`)
    await pause(50)
    const other = client()
    const { status, headers, body } = await other.request('GET', `${base}/b/k`).answer()
    expect({ status, retry: headers['retry-after'] }).toEqual({ status: 503, retry: '1' })
    expect(String(body)).toContain('<Code>SlowDown</Code>')
    gate.resolve()
    expect((await slow.answer()).status).toBe(200)
    expect((await other.request('GET', `${base}/b/k`).answer()).status).toBe(200)
  })

  it('is given back after failures and lost clients', async () => {
    const { client, nextEnd } = await start(
      [
        echo,
        get(async () => {
          throw new Error('fails')
        }),
      ],
      { 'svc.proxy.web.max.requests': 1 },
    )
    const connection = client()
    for (let turn = 0; turn < 3; turn++) {
      expect((await connection.request('GET', `${base}/b/k`).answer()).status).toBe(500)
    }
    const ended = nextEnd()
    const lost = client()
      .request('PUT', `${base}/b/k`, { headers: { 'Content-Length': '100' } })
      .send('short')
    await pause(50)
    lost.socket.resetAndDestroy()
    await ended
    expect((await connection.request('PUT', `${base}/b/k`, { body: 'x' }).answer()).status).toBe(200)
  })
})
