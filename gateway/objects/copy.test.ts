import { linkSync, lstatSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { S3Error } from '../s3/errors.ts'
import { codeOf, contentOf, type Fixture, md5, openFixture, target, temporaryFiles } from './objects.fixture.ts'
import type { CopySource, CopyTarget } from './objects.ts'

let fixture: Fixture

beforeAll(async () => {
  fixture = await openFixture()
})
beforeEach(() => fixture.reset())
afterAll(() => fixture.close())

const record = { contentType: 'text/plain', userMetadata: { colour: 'blue' } }
const tags = [{ key: 'k', value: 'v' }]

function copy(from: string, to: string, object: Partial<CopyTarget> = {}, source: Partial<CopySource> = {}) {
  return fixture.objects.copy(fixture.as, { target: target(from), ...source }, target(to), {
    record: undefined,
    tags: undefined,
    ...object,
  })
}

describe('CopyObject', () => {
  for (const body of ['', 'small', 'large '.repeat(50_000)]) {
    test(`copies bytes, ETag, headers, metadata and tags (${body.length} bytes; seen on S3)`, async () => {
      await fixture.put('from', body, { record, tags })
      const copied = await copy('from', 'folder/to')
      const read = await fixture.get('folder/to')
      expect(read).toMatchObject({ content: body, record: { ...record, etag: md5(body) }, tags })
      expect(copied).toMatchObject({ record: read.record, modifiedMs: read.entry.modifiedMs, size: body.length })
      expect(read.entry.id).not.toBe((await fixture.get('from')).entry.id)
      expect(temporaryFiles(fixture.root)).toEqual([])
    })
  }

  test('replaces headers and metadata, or tags, or both by directive (spec §4)', async () => {
    await fixture.put('from', 'body', { record, tags })
    await copy('from', 'a', { record: { contentType: 'x/y' } })
    expect(await fixture.get('a')).toMatchObject({ record: { etag: md5('body'), contentType: 'x/y' }, tags })
    expect((await fixture.get('a')).record.userMetadata).toBeUndefined()
    await copy('from', 'b', { tags: [] })
    expect(await fixture.get('b')).toMatchObject({ record, tags: [] })
  })

  test('of a file that has no record gets an MD5 by reading it (design §4)', async () => {
    writeFileSync(join(fixture.root, 'b/foreign'), 'content')
    await copy('foreign', 'to')
    expect((await fixture.get('to')).record).toEqual({ etag: md5('content') })
  })

  test('of a multipart object gets an MD5, because it has no parts (seen on S3)', async () => {
    await putMultipart('multi', 'content')
    await copy('multi', 'to')
    expect((await fixture.get('to')).record).toEqual({ ...record, etag: md5('content') })
  })

  test('keeps a checksum of the whole, and computes the one asked for (seen on S3)', async () => {
    const content = contentOf('hello', { digests: ['CRC32'], checksumAlgorithm: 'CRC32' })
    await fixture.objects.write(fixture.as, target('from'), content, { record: {}, tags: [] })
    const crc32 = { etag: md5('hello'), checksums: { crc32: 'NhCmhg==' }, checksumType: 'FULL_OBJECT' }
    expect((await copy('from', 'a')).record).toEqual(crc32)
    const sha256 = { sha256: 'LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ=' }
    expect((await copy('from', 'b', { checksumAlgorithm: 'SHA256' })).record).toEqual({ ...crc32, checksums: sha256 })
  })

  test('copies a range, with the ETag of what it copied (seen on the reference)', async () => {
    await fixture.put('from', '0123456789')
    await copy('from', 'to', {}, { range: { start: 2, length: 3 } })
    expect(await fixture.get('to')).toMatchObject({ content: '234', record: { etag: md5('234') } })
    const beyond = copy('from', 'to', {}, { range: { start: 8, length: 3 } })
    expect(await codeOf(beyond)).toBe('InvalidArgument')
    expect((await fixture.get('to')).content).toBe('234')
  })

  test('asks the conditions of the source, and of the target (seen on S3)', async () => {
    await fixture.put('from', 'body')
    const refuse = () => {
      throw new S3Error('PreconditionFailed')
    }
    expect(await codeOf(copy('from', 'to', {}, { condition: refuse }))).toBe('PreconditionFailed')
    expect(await codeOf(copy('from', 'to', { condition: refuse }))).toBe('PreconditionFailed')
    expect(await codeOf(fixture.objects.head(fixture.as, target('to')))).toBe('NoSuchKey')
    await copy('from', 'to', { ifAbsent: true })
    expect(await codeOf(copy('from', 'to', { ifAbsent: true }))).toBe('PreconditionFailed')
    expect(temporaryFiles(fixture.root)).toEqual([])
  })

  test('of a missing source is NoSuchKey, into a missing bucket NoSuchBucket', async () => {
    expect(await codeOf(copy('missing', 'to'))).toBe('NoSuchKey')
    await fixture.put('from', 'body')
    const into = fixture.objects.copy(
      fixture.as,
      { target: target('from') },
      { bucket: 'missing', key: 'to' },
      {
        record: undefined,
        tags: undefined,
      },
    )
    expect(await codeOf(into)).toBe('NoSuchBucket')
  })

  test('of a folder is a folder, with its metadata and tags but without its entries (S3A renames so)', async () => {
    await fixture.put('from/', '', { record, tags })
    await fixture.put('from/entry', 'x')
    await copy('from/', 'to/')
    expect(await fixture.get('to/')).toMatchObject({ entry: { kind: 'folder' }, record, tags })
    expect(await codeOf(fixture.objects.head(fixture.as, target('to/entry')))).toBe('NoSuchKey')
  })

  test('of a folder can be an empty object, and the copy of an empty object a folder (as objects of S3 can)', async () => {
    await fixture.put('folder/', '', { record })
    await copy('folder/', 'file')
    expect(await fixture.get('file')).toMatchObject({ content: '', entry: { kind: 'file' }, record })
    await copy('file', 'other/')
    expect((await fixture.get('other/')).record).toMatchObject(record)
    await fixture.put('full', 'body')
    expect(await codeOf(copy('full', 'third/'))).toBe('InvalidRequest')
  })
})

describe('CopyObject onto itself', () => {
  test('without new metadata is refused (seen on S3)', async () => {
    await fixture.put('key', 'body')
    expect(await codeOf(copy('key', 'key'))).toBe('InvalidRequest')
    expect(await codeOf(copy('key', 'key', { tags: [] }))).toBe('InvalidRequest')
  })

  test('replaces the metadata without new bytes: the file stays the same (design §4)', async () => {
    await fixture.put('key', 'body', { record, tags })
    const path = join(fixture.root, 'b/key')
    const before = { ino: statSync(path).ino, id: (await fixture.get('key')).entry.id }
    const copied = await copy('key', 'key', { record: { contentType: 'x/y' } })
    const read = await fixture.get('key')
    expect(read).toMatchObject({ content: 'body', record: { etag: md5('body'), contentType: 'x/y' }, tags })
    expect(read.record.userMetadata).toBeUndefined()
    expect(statSync(path).ino).toBe(before.ino)
    expect(read.entry.id).not.toBe(before.id)
    expect(copied.modifiedMs).toBe(read.entry.modifiedMs)
  })

  test('replaces the tags too, when both directives say so (spec §4)', async () => {
    await fixture.put('key', 'body', { record, tags })
    await copy('key', 'key', { record: {}, tags: [{ key: 'new', value: '' }] })
    expect((await fixture.get('key')).tags).toEqual([{ key: 'new', value: '' }])
  })

  test('of a multipart object keeps its parts and ETag, as its bytes stay (our choice)', async () => {
    await putMultipart('key', 'content')
    await copy('key', 'key', { record: { contentType: 'x/y' } })
    expect((await fixture.get('key')).record).toMatchObject({ etag: 'abc-1', parts: [7], contentType: 'x/y' })
  })

  test('works for a file without a record, which gets one (design §4: falls back to a copy)', async () => {
    writeFileSync(join(fixture.root, 'b/foreign'), 'content')
    await copy('foreign', 'foreign', { record: { contentType: 'x/y' } })
    expect(await fixture.get('foreign')).toMatchObject({
      content: 'content',
      record: { etag: md5('content'), contentType: 'x/y' },
    })
  })

  test('of a folder replaces its metadata (our choice)', async () => {
    await fixture.put('folder/', '', { record })
    await copy('folder/', 'folder/', { record: { contentType: 'x/y' } })
    expect((await fixture.get('folder/')).record).toEqual({ etag: md5(''), contentType: 'x/y' })
  })

  test('through another spelling of the bucket is the same object (spec §1.2)', async () => {
    await fixture.put('nested/key', 'body')
    const object = { record: undefined, tags: undefined }
    const source = { target: { bucket: 'b/nested', key: 'key' } }
    expect(await codeOf(fixture.objects.copy(fixture.as, source, target('nested/key'), object))).toBe('InvalidRequest')
  })

  test('of a file that has other names (hard links) leaves those as they are: it is copied (our choice)', async () => {
    await fixture.put('key', 'body', { record })
    linkSync(join(fixture.root, 'b/key'), join(fixture.root, 'b/link'))
    await copy('key', 'key', { record: { contentType: 'x/y' } })
    expect((await fixture.get('key')).record).toEqual({ etag: md5('body'), contentType: 'x/y' })
    expect((await fixture.get('link')).record).toEqual({ ...record, etag: md5('body') })
  })

  test('of a symlink leaves what it leads to, another key, as it is: a copy replaces the link (our choice)', async () => {
    await fixture.put('key', 'body', { record })
    const before = await fixture.get('key')
    symlinkSync('key', join(fixture.root, 'b/link'))
    await copy('link', 'link', { record: { contentType: 'x/y' } })
    expect(lstatSync(join(fixture.root, 'b/link')).isFile()).toBe(true)
    expect(await fixture.get('link')).toMatchObject({
      content: 'body',
      record: { etag: md5('body'), contentType: 'x/y' },
    })
    expect(await fixture.get('key')).toEqual(before)
  })
})

/** Puts an object whose record is that of a multipart one, as CompleteMultipartUpload publishes it. */
async function putMultipart(key: string, body: string) {
  const staged = await fixture.namespace.stage(fixture.as, target(key), { digests: [], bytes: Buffer.from(body) })
  const file = await staged.finish({ sync: false })
  await fixture.objects.publish(fixture.as, target(key), staged, file, {
    record: { ...record, etag: 'abc-1', parts: [body.length] },
    tags: [],
  })
}
