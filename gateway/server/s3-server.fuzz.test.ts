import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { RawClient } from './raw-client.fixture.ts'
import { fake, type RunningServer, startFakeServer } from './running-server.fixture.ts'

let running: RunningServer
beforeAll(async () => {
  const content = async () => ({ status: 200, headers: {}, body: 'ok' })
  running = await startFakeServer(
    [
      fake({ method: 'GET', target: 'service' }, 'ListBuckets', content),
      fake({ method: 'GET', target: 'bucket' }, 'ListObjects', content),
      fake({ method: 'GET', target: 'object' }, 'GetObject', content),
      fake({ method: 'PUT', target: 'object' }, 'PutObject', async ({ body }) => {
        let size = 0
        for await (const chunk of body.stream()) size += chunk.length
        return { status: 200, headers: {}, body: `got ${size}` }
      }),
    ],
    { 'svc.proxy.web.idle.timeout': '500ms' },
  )
})
afterAll(() => running.close())

/** Sends bytes, closes the sending half and returns all that comes back; fails when the connection stays open. */
async function allAnswers(bytes: Buffer): Promise<string> {
  const client = new RawClient(running.port)
  client.send(bytes)
  client.socket.end()
  const timer = setTimeout(() => client.socket.destroy(new Error('hangs')), 10_000)
  const answers = await client.closed()
  const hung = client.socket.errored !== null && client.socket.errored.message === 'hangs'
  clearTimeout(timer)
  client.socket.destroy()
  expect(hung).toBe(false)
  return answers.toString('latin1')
}

/** Splits what came back into answers; throws where it is not a sequence of whole HTTP answers. */
function statuses(answers: string): number[] {
  const found: number[] = []
  for (let rest = answers; rest !== ''; ) {
    const head = /^HTTP\/1\.1 (\d{3}) [^\r]*\r\n((?:[^\r]*\r\n)*?)\r\n/.exec(rest)
    if (!head) throw new Error(`not an answer: ${JSON.stringify(rest.slice(0, 200))}`)
    const length = Number(/^content-length: (\d+)\r$/im.exec(head[2] ?? '')?.[1] ?? 0)
    if (rest.length < head[0].length + length) throw new Error('a cut answer')
    found.push(Number(head[1]))
    rest = rest.slice(head[0].length + length)
  }
  return found
}

const alive = async () => {
  const client = new RawClient(running.port)
  const { status } = await client.request('GET', '/api/v1/s3/b/k').answer()
  client.socket.destroy()
  expect(status).toBe(200)
}

const method = fc.constantFrom('GET', 'PUT', 'HEAD', 'POST', 'DELETE', 'OPTIONS', 'TRACE', 'PATCH', 'get', 'BREW', '')
const path = fc.oneof(
  fc.constantFrom('/', '/api/v1/s3', '/api/v1/s3/', '/api/v1/s3//', '/api/v1/s3/b/%00', '/api/v1/s3/b/%zz', '*', '\\'),
  fc.string({ unit: 'binary-ascii', maxLength: 40 }).map((text) => `/api/v1/s3/b/${text}`),
  fc.webPath().map((text) => `/api/v1/s3${text}`),
)
const header = fc.oneof(
  fc.constantFrom(
    'Content-Length: 5',
    'Content-Length: -1',
    'Content-Length: 99999999999999999999',
    'Content-Length: 5, 5',
    'Transfer-Encoding: chunked',
    'Transfer-Encoding: gzip',
    'Expect: 100-continue',
    'Expect: rain',
    'Connection: close',
    'Connection: upgrade\r\nUpgrade: h2c',
    'Authorization: AWS4-HMAC-SHA256 Credential=',
    'Authorization: \xff\xfe',
    ' folded',
    'No-Colon',
    ': empty',
    'Host: other',
  ),
  fc
    .tuple(fc.string({ maxLength: 12 }), fc.string({ unit: 'binary-ascii', maxLength: 30 }))
    .map(([name, value]) => `${name}: ${value}`),
)
const request = fc
  .tuple(
    method,
    path,
    fc.constantFrom('HTTP/1.1', 'HTTP/1.0', 'HTTP/2.0', ''),
    fc.array(header, { maxLength: 6 }),
    fc.uint8Array({ maxLength: 40 }),
  )
  .map(([verb, target, version, headers, body]) =>
    Buffer.concat([
      Buffer.from(
        `${verb} ${target} ${version}\r\nHost: x\r\n${headers.map((line) => `${line}\r\n`).join('')}\r\n`,
        'latin1',
      ),
      body,
    ]),
  )

it('whatever bytes a client sends, it gets whole answers or none, none of them a 5xx but 501, and the connection ends', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(request, fc.array(request, { minLength: 2, maxLength: 3 }).map(Buffer.concat)),
      async (bytes) => {
        for (const status of statuses(await allAnswers(bytes))) {
          expect(status < 500 || status === 501, `status ${status}`).toBe(true)
        }
      },
    ),
    { numRuns: 300 },
  )
  expect(running.failures).toEqual([])
  await alive()
})

it('chunked bodies of any framing are answered, whole ones with their size', async () => {
  const head = 'PUT /api/v1/s3/b/k HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n'
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.uint8Array({ minLength: 1, maxLength: 300 }), { maxLength: 5 }),
      fc.nat(),
      async (chunks, cut) => {
        const framed = Buffer.concat([
          ...chunks.map((chunk) =>
            Buffer.concat([Buffer.from(`${chunk.length.toString(16)}\r\n`), chunk, Buffer.from('\r\n')]),
          ),
          Buffer.from('0\r\n\r\n'),
        ])
        const size = chunks.reduce((sum, each) => sum + each.length, 0)
        expect(await allAnswers(Buffer.concat([Buffer.from(head), framed]))).toContain(`got ${size}`)
        const short = framed.subarray(0, cut % framed.length)
        expect(statuses(await allAnswers(Buffer.concat([Buffer.from(head), short])))).toEqual([400])
      },
    ),
    { numRuns: 60 },
  )
  await alive()
})
