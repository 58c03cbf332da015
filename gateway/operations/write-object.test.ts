import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { md5 } from '../objects/objects.fixture.ts'
import { type OperationsFixture, openOperations } from './operations.fixture.ts'

let fixture: OperationsFixture

beforeAll(async () => {
  fixture = await openOperations()
})
beforeEach(() => fixture.reset())
afterAll(() => fixture.close())

const put = (key: string, body: string, headers: Record<string, string> = {}) =>
  fixture.ask(`PUT /b/${key}`, { headers, body })
const content = async (key: string) => (await fixture.get(key)).content

describe('PutObject', () => {
  test('answers the ETag in quotes and no body (spec §4)', async () => {
    expect(await put('key', 'hello')).toEqual({
      status: 200,
      headers: { ETag: `"${md5('hello')}"` },
      text: '',
      code: undefined,
    })
  })

  test('refuses a wrong Content-MD5 and keeps the old object (the reference loses it)', async () => {
    await put('key', 'old')
    const headers = { 'content-md5': Buffer.from(md5('other'), 'hex').toString('base64') }
    expect(await put('key', 'new', headers)).toMatchObject({ status: 400, code: 'BadDigest' })
    expect(await put('key', 'new', { 'content-md5': 'nonsense' })).toMatchObject({ status: 400, code: 'InvalidDigest' })
    expect(await content('key')).toBe('old')
  })

  test('refuses a wrong checksum and keeps the old object (seen on S3)', async () => {
    await put('key', 'old')
    const headers = { 'x-amz-checksum-crc32': 'AAAAAA==' }
    expect(await put('key', 'new', headers)).toMatchObject({ status: 400, code: 'BadDigest' })
    expect(await content('key')).toBe('old')
  })

  test('stores what aws-chunked carries, not the framing (clients.md finding 4)', async () => {
    const headers = {
      'x-amz-content-sha256': 'STREAMING-UNSIGNED-PAYLOAD-TRAILER',
      'x-amz-decoded-content-length': '5',
      'x-amz-trailer': 'x-amz-checksum-crc32',
      'content-encoding': 'aws-chunked',
    }
    const body = '5\r\nhello\r\n0\r\nx-amz-checksum-crc32:NhCmhg==\r\n\r\n'
    expect((await put('key', body, headers)).headers['x-amz-checksum-crc32']).toBe('NhCmhg==')
    const read = await fixture.get('key')
    expect(read).toMatchObject({ content: 'hello', record: { checksums: { crc32: 'NhCmhg==' } } })
    expect(read.record.contentEncoding).toBeUndefined()
    const wrong = body.replace('NhCmhg', 'AAAAAA')
    expect(await put('key', wrong, headers)).toMatchObject({ status: 400, code: 'BadDigest' })
  })

  test('makes a folder of a key with a final slash, also with a framed body of no bytes (S3A)', async () => {
    const headers = {
      'x-amz-content-sha256': 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD',
      'x-amz-decoded-content-length': '0',
    }
    const body = `0;chunk-signature=${'0'.repeat(64)}\r\n\r\n`
    expect((await put('a/b/', body, headers)).status).toBe(200)
    expect((await fixture.ask('HEAD /b/a/b/')).status).toBe(200)
    expect(await put('a/c/', 'content')).toMatchObject({ status: 400, code: 'InvalidRequest' })
  })

  test('writes under If-None-Match: * and If-Match, and refuses other conditions (clients.md finding 2)', async () => {
    expect((await put('key', '1', { 'if-none-match': '*' })).status).toBe(200)
    expect(await put('key', '2', { 'if-none-match': '*' })).toMatchObject({ status: 412, code: 'PreconditionFailed' })
    expect(await put('key', '2', { 'if-match': '"x"' })).toMatchObject({ status: 412, code: 'PreconditionFailed' })
    expect((await put('key', '2', { 'if-match': `"${md5('1')}"` })).status).toBe(200)
    expect(await put('missing', '2', { 'if-match': '"x"' })).toMatchObject({ status: 404, code: 'NoSuchKey' })
    expect(await put('key', '3', { 'if-none-match': '"x"' })).toMatchObject({ status: 501, code: 'NotImplemented' })
    expect(await content('key')).toBe('2')
  })

  test('refuses metadata over the limit, and bad tags, before anything is written (spec §8)', async () => {
    await put('key', 'old')
    const large = { 'x-amz-meta-a': 'x'.repeat(2048) }
    expect(await put('key', 'new', large)).toMatchObject({ status: 400, code: 'MetadataTooLarge' })
    const tags = { 'x-amz-tagging': Array.from({ length: 11 }, (_, index) => `t${index}=`).join('&') }
    expect(await put('key', 'new', tags)).toMatchObject({ status: 400, code: 'InvalidTag' })
    expect(await content('key')).toBe('old')
  })

  test('refuses keys that no path can be (our choice: 400; design §3)', async () => {
    for (const key of ['../key', 'a/../../key', 'a//b', './key', '%2Fkey', 'a/./b', '.s3proxy/x', 'a/.s3proxy-1']) {
      expect(await put(key, 'x')).toMatchObject({ status: 400, code: 'InvalidArgument' })
    }
    expect(await put('%00', 'x')).toMatchObject({ status: 400, code: 'InvalidURI' })
    expect(await put('x'.repeat(1025), 'x')).toMatchObject({ status: 400, code: 'KeyTooLongError' })
  })

  test('takes names beyond ASCII and with any mark, as they are (FACTS §7)', async () => {
    for (const key of ['ä', '日本', 'a%20b', 'a+b', 'a%2Bb', 'a%25b', 'a%5Cb', 'a:b', '%F0%9F%98%80']) {
      expect((await put(Buffer.from(key).toString('latin1'), key)).status).toBe(200)
      expect(await content(decodeURIComponent(key))).toBe(key)
    }
  })
})

describe('CopyObject', () => {
  const copy = (from: string, to: string, headers: Record<string, string> = {}) =>
    fixture.ask(`PUT /b/${to}`, { headers: { 'x-amz-copy-source': from, ...headers } })

  test('answers ETag and date in a document (spec §4)', async () => {
    await put('from', 'hello', { 'content-type': 'text/plain', 'x-amz-tagging': 'a=b' })
    for (const source of ['b/from', '/b/from', '%2Fb%2Ffrom']) {
      const answer = await copy(source, 'to')
      expect(answer.text).toMatch(
        /<CopyObjectResult xmlns="[^"]+"><LastModified>[-0-9T:.]+Z<\/LastModified><ETag>&quot;5d41402abc4b2a76b9719d911017c592&quot;<\/ETag>/,
      )
    }
    expect(await fixture.get('to')).toMatchObject({
      content: 'hello',
      record: { contentType: 'text/plain' },
      tags: [{ key: 'a', value: 'b' }],
    })
  })

  test('takes headers and tags only as its directives say (spec §4)', async () => {
    await put('from', 'x', { 'content-type': 'text/plain', 'x-amz-tagging': 'a=b' })
    const given = { 'content-type': 'x/y', 'x-amz-tagging': 'c=d' }
    await copy('b/from', 'kept', given)
    expect(await fixture.get('kept')).toMatchObject({ record: { contentType: 'text/plain' }, tags: [{ key: 'a' }] })
    await copy('b/from', 'replaced', {
      ...given,
      'x-amz-metadata-directive': 'REPLACE',
      'x-amz-tagging-directive': 'REPLACE',
    })
    expect(await fixture.get('replaced')).toMatchObject({ record: { contentType: 'x/y' }, tags: [{ key: 'c' }] })
    expect(await copy('b/from', 'to', { 'x-amz-metadata-directive': 'MERGE' })).toMatchObject({
      code: 'InvalidArgument',
    })
  })

  test('asks x-amz-copy-source-if-*, which S3A renames by (clients.md §4)', async () => {
    await put('from', 'hello')
    const ifMatch = (tag: string) => copy('b/from', 'to', { 'x-amz-copy-source-if-match': tag })
    expect(await ifMatch('"other"')).toMatchObject({ status: 412, code: 'PreconditionFailed' })
    expect((await ifMatch(`"${md5('hello')}"`)).status).toBe(200)
    expect((await ifMatch(md5('hello'))).status).toBe(200)
    const none = { 'x-amz-copy-source-if-none-match': `"${md5('hello')}"` }
    expect(await copy('b/from', 'to', none)).toMatchObject({ status: 412 })
  })

  test('onto itself needs REPLACE (seen on S3)', async () => {
    await put('key', 'hello', { 'content-type': 'text/plain' })
    expect(await copy('b/key', 'key')).toMatchObject({ status: 400, code: 'InvalidRequest' })
    const replace = { 'x-amz-metadata-directive': 'REPLACE', 'content-type': 'x/y' }
    expect((await copy('b/key', 'key', replace)).status).toBe(200)
    expect(await fixture.get('key')).toMatchObject({ content: 'hello', record: { contentType: 'x/y' } })
  })

  test('copies a range (seen on the reference), and names a source in a nested bucket (spec §1.2)', async () => {
    await put('nested/from', '0123456789')
    await copy('b:nested/from', 'to', { 'x-amz-copy-source-range': 'bytes=2-4' })
    expect(await content('to')).toBe('234')
  })

  test('of what is missing or cannot be says so', async () => {
    expect(await copy('b/missing', 'to')).toMatchObject({ status: 404, code: 'NoSuchKey' })
    expect(await copy('missing/key', 'to')).toMatchObject({ status: 404, code: 'NoSuchBucket' })
    for (const source of ['', '/', 'b', 'b/', '%00/x']) {
      expect(await copy(source, 'to')).toMatchObject({ status: 400, code: 'InvalidArgument' })
    }
  })

  test('computes the checksum that is asked for (seen on S3)', async () => {
    await put('from', 'hello')
    const { text } = await copy('b/from', 'to', { 'x-amz-checksum-algorithm': 'CRC32' })
    expect(text).toContain('<ChecksumCRC32>NhCmhg==</ChecksumCRC32>')
  })
})

describe('DeleteObject', () => {
  test('answers 204, also for what is missing (spec §4)', async () => {
    await put('key', 'x')
    expect((await fixture.ask('DELETE /b/key')).status).toBe(204)
    expect((await fixture.ask('DELETE /b/key')).status).toBe(204)
    expect(await fixture.ask('DELETE /missing/key')).toMatchObject({ status: 404, code: 'NoSuchBucket' })
  })

  test('under a condition is not implemented, rather than done without it', async () => {
    await put('key', 'x')
    expect(await fixture.ask('DELETE /b/key', { headers: { 'if-match': '"x"' } })).toMatchObject({ status: 501 })
    expect(await content('key')).toBe('x')
  })
})

describe('tags of objects', () => {
  const document = (...tags: string[]) =>
    `<Tagging><TagSet>${tags.map((tag) => `<Tag><Key>${tag}</Key><Value>v</Value></Tag>`).join('')}</TagSet></Tagging>`
  const tagging = async (key: string) => (await fixture.ask(`GET /b/${key}?tagging`)).text

  test('are put, got in order, and deleted (spec §4)', async () => {
    await put('key', 'x')
    expect(await tagging('key')).toMatch(/<Tagging [^>]*><TagSet\/><\/Tagging>$/)
    expect((await fixture.ask('PUT /b/key?tagging', { body: document('z', 'a') })).status).toBe(200)
    expect(await tagging('key')).toMatch(/<Key>z<\/Key><Value>v<\/Value><\/Tag><Tag><Key>a<\/Key>/)
    expect((await fixture.ask('DELETE /b/key?tagging')).status).toBe(204)
    expect(await tagging('key')).toContain('<TagSet/>')
    expect(await content('key')).toBe('x')
  })

  test('over the limits or malformed are refused, and the old set stays (spec §8)', async () => {
    await put('key', 'x', { 'x-amz-tagging': 'a=b' })
    const eleven = document(...'abcdefghijk')
    expect(await fixture.ask('PUT /b/key?tagging', { body: eleven })).toMatchObject({ code: 'InvalidTag' })
    expect(await fixture.ask('PUT /b/key?tagging', { body: '<Tagging>' })).toMatchObject({ code: 'MalformedXML' })
    const wrong = { 'content-md5': Buffer.alloc(16).toString('base64') }
    const digest = await fixture.ask('PUT /b/key?tagging', { body: document('n'), headers: wrong })
    expect(digest).toMatchObject({ code: 'BadDigest' })
    const huge = `<Tagging>${' '.repeat(300_000)}<TagSet/></Tagging>`
    expect(await fixture.ask('PUT /b/key?tagging', { body: huge })).toMatchObject({ code: 'MaxMessageLengthExceeded' })
    expect(await tagging('key')).toContain('<Key>a</Key>')
  })

  test('of what is missing are NoSuchKey (seen on the reference)', async () => {
    const answers = [
      await fixture.ask('GET /b/missing?tagging'),
      await fixture.ask('PUT /b/missing?tagging', { body: document('a') }),
      await fixture.ask('DELETE /b/missing?tagging'),
    ]
    for (const answer of answers) expect(answer).toMatchObject({ status: 404, code: 'NoSuchKey' })
  })
})
