import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { md5, target } from '../objects/objects.fixture.ts'
import { type OperationsFixture, openOperations } from './operations.fixture.ts'

let fixture: OperationsFixture

beforeAll(async () => {
  fixture = await openOperations()
})
beforeEach(() => fixture.reset())
afterAll(() => fixture.close())

const long = '0123456789'.repeat(20_000)
const etag = (body: string) => `"${md5(body)}"`
const day = 'Fri, 21 Nov 2025 12:00:00 GMT'

describe('GetObject', () => {
  test('answers the bytes with ETag in quotes, type, date and length left to the server (spec §4)', async () => {
    await fixture.put('key', 'hello')
    const { status, text, headers } = await fixture.ask('GET /b/key')
    expect({ status, text }).toEqual({ status: 200, text: 'hello' })
    expect(headers).toEqual({
      'Accept-Ranges': 'bytes',
      'Content-Type': 'application/octet-stream',
      ETag: etag('hello'),
      'Last-Modified': expect.stringMatching(/^[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$/),
    })
  })

  test('answers the headers, metadata and the number of tags that were stored (seen on S3)', async () => {
    const headers = {
      'content-type': 'text/plain',
      'cache-control': 'no-store',
      'content-disposition': 'attachment',
      'content-encoding': 'gzip',
      'content-language': 'de',
      expires: day,
      'x-amz-meta-colour': 'blue',
      'x-amz-tagging': 'a=1&b=2',
    }
    expect((await fixture.ask('PUT /b/key', { headers, body: 'x' })).status).toBe(200)
    expect((await fixture.ask('GET /b/key')).headers).toMatchObject({
      'Content-Type': 'text/plain',
      'Cache-Control': 'no-store',
      'Content-Disposition': 'attachment',
      'Content-Encoding': 'gzip',
      'Content-Language': 'de',
      Expires: day,
      'x-amz-meta-colour': 'blue',
      'x-amz-tagging-count': '2',
    })
  })

  test('of a file of others has the default type and an ETag that is no MD5 (spec §2, design §4)', async () => {
    writeFileSync(join(fixture.root, 'b/file'), 'content')
    const { headers } = await fixture.ask('GET /b/file')
    expect(headers['Content-Type']).toBe('application/octet-stream')
    expect(headers.ETag).toMatch(/^"[0-9a-f]{32}-\d+"$/)
  })

  test('of a folder is 200 without a byte; of its name without the slash NoSuchKey (our choice; finding 3)', async () => {
    mkdirSync(join(fixture.root, 'b/folder'))
    expect(await fixture.ask('GET /b/folder/')).toMatchObject({ status: 200, text: '', headers: { ETag: etag('') } })
    expect(await fixture.ask('GET /b/folder')).toMatchObject({ status: 404, code: 'NoSuchKey' })
  })

  test('of a missing key is NoSuchKey, in a missing bucket NoSuchBucket (seen on S3)', async () => {
    expect(await fixture.ask('GET /b/missing')).toMatchObject({ status: 404, code: 'NoSuchKey' })
    expect(await fixture.ask('GET /missing/key')).toMatchObject({ status: 404, code: 'NoSuchBucket' })
  })

  for (const [name, body] of [
    ['small', '0123456789'],
    ['large', long],
  ] as const) {
    const size = body.length
    for (const [range, start, end] of [
      ['bytes=0-4', 0, 4],
      ['bytes=3-', 3, size - 1],
      ['bytes=-3', size - 3, size - 1],
      ['bytes=2-9999999', 2, size - 1],
      ['bytes=-9999999', 0, size - 1],
    ] as const) {
      test(`answers ${range} of a ${name} object with 206 (RFC 9110 §14.1.2)`, async () => {
        await fixture.put('key', body)
        const answer = await fixture.ask('GET /b/key', { headers: { range } })
        expect(answer).toMatchObject({ status: 206, text: body.slice(start, end + 1) })
        expect(answer.headers['Content-Range']).toBe(`bytes ${start}-${end}/${size}`)
      })
    }
  }

  test('answers everything for ranges that are several or malformed (RFC 9110 §14.2)', async () => {
    await fixture.put('key', '0123456789')
    for (const range of ['bytes=0-1,3-4', 'bytes=5-2', 'bytes=-', 'lines=1-2', 'bytes=a-b']) {
      expect(await fixture.ask('GET /b/key', { headers: { range } })).toMatchObject({ status: 200, text: '0123456789' })
    }
  })

  test('answers 416 with the size for a range outside (RFC 9110 §15.5.17; the reference sends 206)', async () => {
    await fixture.put('key', '0123456789')
    await fixture.put('empty', '')
    for (const [key, range] of [
      ['key', 'bytes=10-'],
      ['key', 'bytes=-0'],
      ['empty', 'bytes=0-0'],
    ]) {
      const answer = await fixture.ask(`GET /b/${key}`, { headers: { range: range ?? '' } })
      expect(answer).toMatchObject({ status: 416, code: 'InvalidRange' })
      expect(answer.headers['Content-Range']).toBe(key === 'key' ? 'bytes */10' : 'bytes */0')
    }
  })

  test('ranges only while If-Range holds, by ETag or date (RFC 9110 §13.1.5)', async () => {
    await fixture.put('key', '0123456789')
    const date = (await fixture.ask('HEAD /b/key')).headers['Last-Modified'] ?? ''
    const get = async (ifRange: string) =>
      (await fixture.ask('GET /b/key', { headers: { range: 'bytes=0-1', 'if-range': ifRange } })).status
    expect(await get(etag('0123456789'))).toBe(206)
    expect(await get('"other"')).toBe(200)
    expect(await get(date)).toBe(206)
    expect(await get(day)).toBe(200)
  })

  test('answers 304 without a body for what the client has (RFC 9110 §13)', async () => {
    await fixture.put('key', 'hello', { record: { cacheControl: 'max-age=1' } })
    const { headers } = await fixture.ask('GET /b/key')
    const modified = headers['Last-Modified'] ?? ''
    for (const condition of [
      { 'if-none-match': etag('hello') },
      { 'if-none-match': '*' },
      { 'if-modified-since': modified },
    ]) {
      const answer = await fixture.ask('GET /b/key', { headers: condition })
      expect(answer).toMatchObject({ status: 304, text: '' })
      expect(answer.headers).toEqual({ ETag: etag('hello'), 'Last-Modified': modified, 'Cache-Control': 'max-age=1' })
    }
    expect((await fixture.ask('GET /b/key', { headers: { 'if-none-match': '"other"' } })).status).toBe(200)
    expect((await fixture.ask('GET /b/key', { headers: { 'if-modified-since': day } })).status).toBe(200)
  })

  test('answers 412 when If-Match or If-Unmodified-Since do not hold (RFC 9110 §13)', async () => {
    await fixture.put('key', 'hello')
    for (const condition of [{ 'if-match': '"other"' }, { 'if-unmodified-since': day }]) {
      expect(await fixture.ask('GET /b/key', { headers: condition })).toMatchObject({
        status: 412,
        code: 'PreconditionFailed',
      })
    }
    expect((await fixture.ask('GET /b/key', { headers: { 'if-match': etag('hello') } })).status).toBe(200)
  })

  test('replaces headers by response-* parameters (seen on S3)', async () => {
    await fixture.put('key', 'x', { record: { contentType: 'text/plain' } })
    const query = 'response-content-type=a%2Fb&response-content-disposition=inline&response-cache-control=no-cache'
    expect((await fixture.ask(`GET /b/key?${query}`)).headers).toMatchObject({
      'Content-Type': 'a/b',
      'Content-Disposition': 'inline',
      'Cache-Control': 'no-cache',
    })
  })

  test('tells the checksum when asked, of the whole only (seen on S3)', async () => {
    const put = { headers: { 'x-amz-checksum-crc32': 'NhCmhg==' }, body: 'hello' }
    expect((await fixture.ask('PUT /b/key', put)).headers['x-amz-checksum-crc32']).toBe('NhCmhg==')
    const mode = { 'x-amz-checksum-mode': 'ENABLED' }
    const whole = await fixture.ask('GET /b/key', { headers: mode })
    expect(whole.headers).toMatchObject({ 'x-amz-checksum-crc32': 'NhCmhg==', 'x-amz-checksum-type': 'FULL_OBJECT' })
    const part = await fixture.ask('GET /b/key', { headers: { ...mode, range: 'bytes=0-1' } })
    expect(part.headers['x-amz-checksum-crc32']).toBeUndefined()
    expect((await fixture.ask('GET /b/key')).headers['x-amz-checksum-crc32']).toBeUndefined()
  })

  test('leaves no descriptor open when it refuses', async () => {
    await fixture.put('key', long)
    const closed: number[] = []
    const { objects } = fixture
    const read = objects.read.bind(objects)
    Object.assign(objects, {
      async read(...args: Parameters<typeof read>) {
        const opened = await read(...args)
        const { file } = opened
        if (file === undefined) return opened
        const close = () => {
          closed.push(file.fd)
          file.close()
        }
        return { ...opened, file: { fd: file.fd, size: file.size, close } }
      },
    })
    await fixture.ask('GET /b/key', { headers: { 'if-match': '"other"' } })
    await fixture.ask('GET /b/key', { headers: { 'if-none-match': '*' } })
    await fixture.ask('GET /b/key', { headers: { range: 'bytes=999999-' } })
    await fixture.ask('GET /b/key?partNumber=2')
    await fixture.ask('GET /b/key?response-content-type=a%0Ab')
    expect(closed).toHaveLength(5)
  })
})

describe('partNumber', () => {
  async function putParts(): Promise<void> {
    const staged = await fixture.namespace.stage(fixture.as, target('key'), {
      digests: [],
      bytes: Buffer.from('aaabbc'),
    })
    const file = await staged.finish({ sync: false })
    const record = { etag: 'abc-3', parts: [3, 2, 1] }
    await fixture.objects.publish(fixture.as, target('key'), staged, file, { record, tags: [] })
  }

  test('answers one part with 206, its range and the number of parts (seen on S3)', async () => {
    await putParts()
    for (const [part, text, range] of [
      [1, 'aaa', 'bytes 0-2/6'],
      [2, 'bb', 'bytes 3-4/6'],
      [3, 'c', 'bytes 5-5/6'],
    ] as const) {
      const answer = await fixture.ask(`GET /b/key?partNumber=${part}`)
      expect(answer).toMatchObject({ status: 206, text })
      expect(answer.headers).toMatchObject({ 'Content-Range': range, 'x-amz-mp-parts-count': '3', ETag: '"abc-3"' })
      const head = await fixture.ask(`HEAD /b/key?partNumber=${part}`)
      expect(head).toMatchObject({ status: 206, headers: { 'Content-Length': String(text.length) } })
    }
  })

  test('of a part that is not there is 416, of a bad number 400 (seen on S3)', async () => {
    await putParts()
    expect(await fixture.ask('GET /b/key?partNumber=4')).toMatchObject({ status: 416, code: 'InvalidPartNumber' })
    expect(await fixture.ask('GET /b/key?partNumber=0')).toMatchObject({ status: 400, code: 'InvalidArgument' })
    const both = { headers: { range: 'bytes=0-1' } }
    expect(await fixture.ask('GET /b/key?partNumber=1', both)).toMatchObject({ status: 400, code: 'InvalidRequest' })
  })

  test('1 of an object that is not of parts is all of it (seen on S3)', async () => {
    await fixture.put('key', 'hello')
    const answer = await fixture.ask('GET /b/key?partNumber=1')
    expect(answer).toMatchObject({ status: 206, text: 'hello', headers: { 'Content-Range': 'bytes 0-4/5' } })
    expect(answer.headers['x-amz-mp-parts-count']).toBeUndefined()
    await fixture.put('empty', '')
    expect(await fixture.ask('GET /b/empty?partNumber=1')).toMatchObject({ status: 200, text: '' })
  })
})

describe('HeadObject', () => {
  test('answers what GetObject does, with the length (spec §4)', async () => {
    await fixture.put('key', 'hello', { record: { userMetadata: { a: 'b' } }, tags: [{ key: 'k', value: 'v' }] })
    const { headers } = await fixture.ask('GET /b/key')
    expect(await fixture.ask('HEAD /b/key')).toMatchObject({
      status: 200,
      text: '',
      headers: { ...headers, 'Content-Length': '5' },
    })
  })

  test('of a range answers its length (documented by S3)', async () => {
    await fixture.put('key', 'hello')
    const answer = await fixture.ask('HEAD /b/key', { headers: { range: 'bytes=1-2' } })
    expect(answer).toMatchObject({ status: 206, headers: { 'Content-Length': '2', 'Content-Range': 'bytes 1-2/5' } })
  })

  test('of a folder needs the slash, of a file must not have one (clients.md finding 3; FACTS §17 18602)', async () => {
    await fixture.put('folder/', '')
    await fixture.put('file', 'x')
    expect((await fixture.ask('HEAD /b/folder/')).status).toBe(200)
    expect((await fixture.ask('HEAD /b/folder')).status).toBe(404)
    expect((await fixture.ask('HEAD /b/file/')).status).toBe(404)
  })
})
