import { createHash } from 'node:crypto'
import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { Config } from '../config/properties.ts'
import { md5 } from '../objects/objects.fixture.ts'
import { openUploadsFixture, otherUser, type UploadsFixture } from '../uploads/uploads.fixture.ts'
import { type OperationsFixture, openOperations } from './operations.fixture.ts'

let uploads: UploadsFixture
let operations: OperationsFixture

const defaults = { minPartSize: 0, keepaliveEnabled: false, keepaliveErrors: false }

beforeAll(async () => {
  uploads = await openUploadsFixture()
  operations = await openOperations({}, uploads)
})
afterEach(() => {
  configure(defaults)
  uploads.reports.splice(0)
  const bucket = join(uploads.root, 'b')
  for (const name of readdirSync(bucket)) rmSync(join(bucket, name), { recursive: true })
})
afterAll(() => operations.close())

function configure(overrides: Partial<Config>): void {
  Object.assign(uploads.config, overrides)
}

/** The text of the first element of a name. */
function textIn(document: string, element: string): string | undefined {
  return new RegExp(`<${element}>([^<]*)</${element}>`).exec(document)?.[1]
}

function allIn(document: string, element: string): string[] {
  return [...document.matchAll(new RegExp(`<${element}>([^<]*)</${element}>`, 'g'))].map(([, text]) => text as string)
}

async function begin(key = 'k', headers: Record<string, string> = {}): Promise<string> {
  const { text, code } = await operations.ask(`POST /b/${key}?uploads`, { headers })
  expect(code).toBeUndefined()
  return textIn(text, 'UploadId') as string
}

async function put(id: string, part: number, body: string, headers: Record<string, string> = {}, key = 'k') {
  return operations.ask(`PUT /b/${key}?uploadId=${id}&partNumber=${part}`, { body, headers })
}

function partList(numbers: readonly number[]): string {
  const parts = numbers.map((number) => `<Part><PartNumber>${number}</PartNumber></Part>`)
  return `<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`
}

async function complete(id: string, numbers: readonly number[], headers: Record<string, string> = {}, key = 'k') {
  return operations.ask(`POST /b/${key}?uploadId=${id}`, { body: partList(numbers), headers })
}

describe('CreateMultipartUpload', () => {
  it('answers bucket, key and id (spec §4)', async () => {
    const { status, text, headers } = await operations.ask('POST /b/a%20b?uploads')
    expect(status).toBe(200)
    expect(headers['Content-Type']).toBe('application/xml')
    expect(textIn(text, 'Bucket')).toBe('b')
    expect(textIn(text, 'Key')).toBe('a b')
    expect(textIn(text, 'UploadId')).toMatch(/^\w+$/)
  })

  it('keeps headers, metadata and tags for the object', async () => {
    const id = await begin('k', {
      'content-type': 'text/css',
      'cache-control': 'no-store',
      'x-amz-meta-colour': 'red',
      'x-amz-tagging': 'a=b',
    })
    await put(id, 1, 'x')
    await complete(id, [1])
    const { headers } = await operations.ask('HEAD /b/k')
    expect(headers).toMatchObject({
      'Content-Type': 'text/css',
      'Cache-Control': 'no-store',
      'x-amz-meta-colour': 'red',
    })
    expect((await operations.ask('GET /b/k?tagging')).text).toContain('<Key>a</Key><Value>b</Value>')
  })

  it('refuses too many tags and too much metadata before anything is opened (spec §8)', async () => {
    const tags = Array.from({ length: 11 }, (_, n) => `k${n}=v`).join('&')
    expect((await operations.ask('POST /b/k?uploads', { headers: { 'x-amz-tagging': tags } })).code).toBe('InvalidTag')
    const meta = { 'x-amz-meta-a': 'x'.repeat(2048) }
    expect((await operations.ask('POST /b/k?uploads', { headers: meta })).code).toBe('MetadataTooLarge')
    expect((await operations.ask('GET /b?uploads')).text).not.toContain('<Upload>')
  })

  it('answers the checksum algorithm it was asked for', async () => {
    const { headers } = await operations.ask('POST /b/k?uploads', {
      headers: { 'x-amz-checksum-algorithm': 'CRC64NVME' },
    })
    expect(headers).toMatchObject({ 'x-amz-checksum-algorithm': 'CRC64NVME', 'x-amz-checksum-type': 'FULL_OBJECT' })
    const wrong = { 'x-amz-checksum-algorithm': 'MD5' }
    expect((await operations.ask('POST /b/k?uploads', { headers: wrong })).code).toBe('InvalidRequest')
  })

  it('works in nested buckets, whichever way they are written', async () => {
    await operations.ask('PUT /b:deep')
    const { text } = await operations.ask('POST /b:deep/k?uploads')
    const id = textIn(text, 'UploadId')
    expect(textIn(text, 'Bucket')).toBe('b:deep')
    expect((await operations.ask(`PUT /b:deep/k?uploadId=${id}&partNumber=1`, { body: 'x' })).status).toBe(200)
    const done = await operations.ask(`POST /b:deep/k?uploadId=${id}`, { body: partList([1]) })
    expect(textIn(done.text, 'Location')).toBe('/b:deep/k')
    expect((await operations.ask('GET /b/deep/k')).text).toBe('x')
  })
})

describe('UploadPart', () => {
  it('answers the MD5 as quoted ETag (spec §4)', async () => {
    const { status, headers } = await put(await begin(), 1, 'body')
    expect(status).toBe(200)
    expect(headers.ETag).toBe(`"${md5('body')}"`)
  })

  it.each(['0', '10001', '-1', 'x', '1.5', ''])('refuses the part number %s', async (part) => {
    const id = await begin()
    const { code } = await operations.ask(`PUT /b/k?uploadId=${id}&partNumber=${part}`, { body: 'x' })
    expect(code).toBe('InvalidArgument')
  })

  it('refuses a body of another Content-MD5, and keeps the part that was there', async () => {
    const id = await begin()
    await put(id, 1, 'good')
    const wrong = createHash('md5').update('other').digest('base64')
    expect((await put(id, 1, 'bad', { 'content-md5': wrong })).code).toBe('BadDigest')
    await complete(id, [1])
    expect((await operations.ask('GET /b/k')).text).toBe('good')
  })

  it('answers NoSuchUpload for an unknown upload, and NoSuchBucket without its bucket', async () => {
    expect((await put('nonsense', 1, 'x')).code).toBe('NoSuchUpload')
    expect((await operations.ask('PUT /none/k?uploadId=x&partNumber=1', { body: 'x' })).code).toBe('NoSuchBucket')
  })

  it('answers the checksum it verified', async () => {
    const id = await begin('k', { 'x-amz-checksum-algorithm': 'CRC32C', 'x-amz-checksum-type': 'FULL_OBJECT' })
    const { headers } = await put(id, 1, '123456789', { 'x-amz-checksum-crc32c': '4waSgw==' })
    expect(headers['x-amz-checksum-crc32c']).toBe('4waSgw==')
    expect((await put(id, 1, '12345678', { 'x-amz-checksum-crc32c': '4waSgw==' })).code).toBe('BadDigest')
  })
})

describe('UploadPartCopy', () => {
  it('stores an object or a range of it as a part', async () => {
    await operations.ask('PUT /b/source', { body: '0123456789' })
    const id = await begin()
    const copy = (part: number, headers: Record<string, string> = {}) =>
      operations.ask(`PUT /b/k?uploadId=${id}&partNumber=${part}`, {
        headers: { 'x-amz-copy-source': '/b/source', ...headers },
      })
    const whole = await copy(1)
    expect(textIn(whole.text, 'ETag')).toContain(md5('0123456789'))
    expect(textIn(whole.text, 'LastModified')).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    expect((await copy(2, { 'x-amz-copy-source-range': 'bytes=2-4' })).status).toBe(200)
    await complete(id, [1, 2])
    expect((await operations.ask('GET /b/k')).text).toBe('0123456789234')
    expect((await copy(3, { 'x-amz-copy-source-if-match': '"0"' })).code).toBeDefined()
  })

  it('answers NoSuchKey without its source and refuses a range that is malformed', async () => {
    const id = await begin()
    const headers = { 'x-amz-copy-source': 'b/none' }
    expect((await operations.ask(`PUT /b/k?uploadId=${id}&partNumber=1`, { headers })).code).toBe('NoSuchKey')
    const range = { ...headers, 'x-amz-copy-source-range': 'bytes=-5' }
    expect((await operations.ask(`PUT /b/k?uploadId=${id}&partNumber=1`, { headers: range })).code).toBe(
      'InvalidArgument',
    )
  })
})

describe('ListParts', () => {
  it('answers the elements of the specification (spec §4): Bucket with a leading slash, STANDARD, parts', async () => {
    const id = await begin()
    await put(id, 2, 'two')
    await put(id, 1, 'one')
    const { text } = await operations.ask(`GET /b/k?uploadId=${id}`)
    expect(textIn(text, 'Bucket')).toBe('/b')
    expect(textIn(text, 'Key')).toBe('k')
    expect(textIn(text, 'UploadId')).toBe(id)
    expect(textIn(text, 'StorageClass')).toBe('STANDARD')
    expect(textIn(text, 'IsTruncated')).toBe('false')
    expect(allIn(text, 'PartNumber')).toEqual(['1', '2'])
    expect(allIn(text, 'Size')).toEqual(['3', '3'])
    expect(allIn(text, 'ETag').map((etag) => etag.replaceAll(/&quot;|"/g, ''))).toEqual([md5('one'), md5('two')])
  })

  it('pages by max-parts and part-number-marker', async () => {
    const id = await begin()
    for (const part of [1, 2, 3]) await put(id, part, 'x')
    const first = (await operations.ask(`GET /b/k?uploadId=${id}&max-parts=2`)).text
    expect(allIn(first, 'PartNumber')).toEqual(['1', '2'])
    expect(textIn(first, 'IsTruncated')).toBe('true')
    const next = textIn(first, 'NextPartNumberMarker')
    const second = (await operations.ask(`GET /b/k?uploadId=${id}&part-number-marker=${next}`)).text
    expect(allIn(second, 'PartNumber')).toEqual(['3'])
    expect(textIn(second, 'IsTruncated')).toBe('false')
  })
})

describe('ListMultipartUploads', () => {
  it('answers key, id and time of each open upload (spec §4)', async () => {
    const id = await begin('a&b')
    const { text } = await operations.ask('GET /b?uploads')
    expect(textIn(text, 'Bucket')).toBe('b')
    expect(textIn(text, 'Key')).toBe('a&amp;b')
    expect(allIn(text, 'UploadId')).toEqual([id])
    expect(textIn(text, 'Initiated')).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    expect(textIn(text, 'IsTruncated')).toBe('false')
  })

  it('pages by markers, and groups by prefix and delimiter', async () => {
    for (const key of ['a/1', 'a/2', 'b', 'c/1']) await begin(key)
    const first = (await operations.ask('GET /b?uploads&delimiter=/&max-uploads=2')).text
    expect(allIn(first, 'Prefix')).toContain('a/')
    expect(allIn(first, 'Key')).toEqual(['b'])
    expect(textIn(first, 'IsTruncated')).toBe('true')
    const markers = `key-marker=${textIn(first, 'NextKeyMarker')}&upload-id-marker=${textIn(first, 'NextUploadIdMarker')}`
    const second = (await operations.ask(`GET /b?uploads&delimiter=/&${markers}`)).text
    expect(allIn(second, 'Prefix')).toContain('c/')
    expect(allIn(second, 'Key')).toEqual([])
    expect(allIn((await operations.ask('GET /b?uploads&prefix=a/')).text, 'Key')).toEqual(['a/1', 'a/2'])
  })

  it('answers NoSuchBucket without the bucket, and bad numbers with InvalidArgument', async () => {
    expect((await operations.ask('GET /none?uploads')).code).toBe('NoSuchBucket')
    expect((await operations.ask('GET /b?uploads&max-uploads=x')).code).toBe('InvalidArgument')
  })
})

describe('CompleteMultipartUpload', () => {
  it('answers Location, Bucket, Key, ETag and empty Code and Message (spec §4)', async () => {
    const id = await begin()
    await put(id, 1, 'one')
    await put(id, 2, 'two')
    const { status, text } = await complete(id, [1, 2])
    expect(status).toBe(200)
    expect(textIn(text, 'Location')).toBe('/b/k')
    expect(textIn(text, 'Bucket')).toBe('b')
    expect(textIn(text, 'Key')).toBe('k')
    expect(textIn(text, 'ETag')).toMatch(/^(&quot;|")[0-9a-f]{32}-2(&quot;|")$/)
    expect(text).toMatch(/<Code(\/>|><\/Code>)<Message(\/>|><\/Message>)/)
    expect((await operations.ask('GET /b/k')).text).toBe('onetwo')
  })

  it('serves the parts of the object by number (seen on S3)', async () => {
    const id = await begin()
    await put(id, 1, 'one')
    await put(id, 5, 'three')
    await complete(id, [1, 5])
    const second = await operations.ask('GET /b/k?partNumber=2')
    expect(second).toMatchObject({ status: 206, text: 'three' })
    expect(second.headers['x-amz-mp-parts-count']).toBe('2')
  })

  it.each([
    ['', 'MalformedXML'],
    ['nonsense', 'MalformedXML'],
    ['<CompleteMultipartUpload/>', 'MalformedXML'],
    ['<CompleteMultipartUpload><Part><PartNumber>1</PartNumber></CompleteMultipartUpload>', 'MalformedXML'],
    [partList([0]), 'InvalidArgument'],
    [partList([2, 1]), 'InvalidPartOrder'],
    [partList([1, 2]), 'InvalidPart'],
  ])('refuses %j with %s and leaves the upload open', async (body, code) => {
    const id = await begin()
    await put(id, 1, 'one')
    expect((await operations.ask(`POST /b/k?uploadId=${id}`, { body })).code).toBe(code)
    expect((await complete(id, [1])).status).toBe(200)
  })

  it('answers EntityTooSmall for a small part that is not the last (spec §7.1)', async () => {
    configure({ minPartSize: 5 * 2 ** 20 })
    const id = await begin()
    await put(id, 1, 'one')
    await put(id, 2, 'two')
    expect(await complete(id, [1, 2])).toMatchObject({ status: 400, code: 'EntityTooSmall' })
    expect((await complete(id, [2])).status).toBe(200)
  })

  it('verifies the checksum of the whole object that comes as a header, not taking it for that of the list', async () => {
    const id = await begin('k', { 'x-amz-checksum-algorithm': 'CRC32', 'x-amz-checksum-type': 'FULL_OBJECT' })
    await put(id, 1, '12345')
    await put(id, 2, '6789')
    expect((await complete(id, [1, 2], { 'x-amz-checksum-crc32': 'AAAAAA==' })).code).toBe('BadDigest')
    const { text, code } = await complete(id, [1, 2], { 'x-amz-checksum-crc32': 'y/Q5Jg==' })
    expect(code).toBeUndefined()
    expect(textIn(text, 'ChecksumCRC32')).toBe('y/Q5Jg==')
    expect(textIn(text, 'ChecksumType')).toBe('FULL_OBJECT')
  })

  it('honours If-None-Match: * and If-Match', async () => {
    await operations.ask('PUT /b/k', { body: 'old' })
    const id = await begin()
    await put(id, 1, 'new')
    expect((await complete(id, [1], { 'if-none-match': '*' })).status).toBe(412)
    expect((await complete(id, [1], { 'if-match': '"0"' })).status).toBe(412)
    expect((await complete(id, [1], { 'if-match': `"${md5('old')}"` })).status).toBe(200)
  })

  it('answers the users of other uploads AccessDenied', async () => {
    const id = await begin()
    const answer = await operations.ask(`POST /b/k?uploadId=${id}`, { body: partList([1]), as: otherUser })
    expect(answer).toMatchObject({ status: 403, code: 'AccessDenied' })
  })
})

describe('CompleteMultipartUpload with keepalive', () => {
  it('answers a fast completion at once, like without (our choice)', async () => {
    configure({ keepaliveEnabled: true })
    const id = await begin()
    await put(id, 1, 'one')
    const { status, text } = await complete(id, [1])
    expect(status).toBe(200)
    expect(text).toMatch(/^<\?xml/)
  })

  it('answers 200 and nothing when it fails (spec §7.3), and tells the operator', async () => {
    configure({ keepaliveEnabled: true })
    const id = await begin()
    await put(id, 1, 'one')
    expect(await complete(id, [1, 2])).toMatchObject({ status: 200, text: '', code: undefined })
    expect(uploads.reports).toHaveLength(1)
    expect(uploads.reports[0]).toContain(id)
    expect((await operations.ask('GET /b/k')).code).toBe('NoSuchKey')
  })

  it('still tells at once of an upload that does not exist or a list that is no list: nothing is completed then', async () => {
    configure({ keepaliveEnabled: true })
    expect((await complete('nonsense', [1])).code).toBe('NoSuchUpload')
    expect((await operations.ask(`POST /b/k?uploadId=${await begin()}`, { body: 'x' })).code).toBe('MalformedXML')
  })

  it('answers errors like without, where keepalive.errors is on and nothing has been sent', async () => {
    configure({ keepaliveEnabled: true, keepaliveErrors: true })
    const id = await begin()
    await put(id, 1, 'one')
    expect((await complete(id, [1, 2])).code).toBe('InvalidPart')
  })
})

describe('AbortMultipartUpload', () => {
  it('answers 204 and removes what was stored (spec §4)', async () => {
    const id = await begin()
    await put(id, 1, 'one')
    expect((await operations.ask(`DELETE /b/k?uploadId=${id}`)).status).toBe(204)
    expect((await operations.ask(`GET /b/k?uploadId=${id}`)).code).toBe('NoSuchUpload')
    expect((await operations.ask(`DELETE /b/k?uploadId=${id}`)).code).toBe('NoSuchUpload')
  })
})

describe('the directory of an upload', () => {
  it('is listed with its parts while the upload is open (spec §2)', async () => {
    const id = await begin()
    await put(id, 1, 'one')
    const { text } = await operations.ask('GET /b?list-type=2')
    expect(allIn(text, 'Key')).toEqual([`k_${id}/`, `k_${id}/1`])
    expect(allIn(text, 'Size')).toEqual(['0', '3'])
    expect((await operations.ask(`GET /b/k_${id}/1`)).text).toBe('one')
  })

  it('is replaced by an object that is written to its key, which ends the upload (spec §1.4)', async () => {
    const id = await begin()
    await put(id, 1, 'one')
    expect((await operations.ask(`PUT /b/k_${id}`, { body: 'object' })).status).toBe(200)
    expect((await operations.ask(`GET /b/k_${id}`)).text).toBe('object')
    expect((await put(id, 2, 'two')).code).toBe('NoSuchUpload')
  })
})
