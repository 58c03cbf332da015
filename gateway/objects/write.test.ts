import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { S3Error } from '../s3/errors.ts'
import {
  codeOf,
  contentOf,
  contentWithDigest,
  type Fixture,
  md5,
  openFixture,
  target,
  temporaryFiles,
} from './objects.fixture.ts'

let fixture: Fixture

beforeAll(async () => {
  fixture = await openFixture()
})
beforeEach(() => fixture.reset())
afterAll(() => fixture.close())

const large = Buffer.alloc(300_000, 'large object ')

describe('PutObject', () => {
  for (const [size, body] of [
    ['an empty', ''],
    ['a small', 'hello'],
    ['a large', large.toString()],
  ] as const) {
    test(`gives back the bytes, ETag, headers, metadata and tags of ${size} object (spec §2, §4)`, async () => {
      const record = {
        contentType: 'text/plain',
        cacheControl: 'no-store',
        userMetadata: { colour: 'blue' },
      }
      const written = await fixture.put('folder/key', body, { record, tags: [{ key: 'a', value: 'b' }] })
      const read = await fixture.get('folder/key')
      expect(read.content).toBe(body)
      expect(read.record).toEqual({ ...record, etag: md5(body) })
      expect(read.tags).toEqual([{ key: 'a', value: 'b' }])
      expect(written).toMatchObject({ record: read.record, size: body.length, modifiedMs: read.entry.modifiedMs })
      expect(readFileSync(join(fixture.root, 'b/folder/key'), 'utf8')).toBe(body)
    })
  }

  test('takes a body of unknown length (clients.md finding 4)', async () => {
    await fixture.objects.write(fixture.as, target('key'), contentOf(large, { length: undefined }), {
      record: {},
      tags: [],
    })
    expect((await fixture.get('key')).content).toBe(large.toString())
  })

  test('replaces what was there, with its headers and tags (spec §1.4)', async () => {
    await fixture.put('key', 'old', { record: { contentType: 'text/old' }, tags: [{ key: 'old', value: '' }] })
    await fixture.put('key', 'new')
    expect(await fixture.get('key')).toMatchObject({ content: 'new', record: { etag: md5('new') }, tags: [] })
    expect((await fixture.get('key')).record.contentType).toBeUndefined()
  })

  test('keeps the checksum the client sent (seen on S3)', async () => {
    const content = contentOf('hello', { digests: ['SHA256'], checksumAlgorithm: 'SHA256' })
    await fixture.objects.write(fixture.as, target('key'), content, { record: {}, tags: [] })
    expect((await fixture.get('key')).record).toEqual({
      etag: md5('hello'),
      checksums: { sha256: 'LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ=' },
      checksumType: 'FULL_OBJECT',
    })
  })

  for (const body of [Buffer.from('new'), large]) {
    test(`with a wrong digest leaves the old object whole and no temporary file (${body.length} bytes)`, async () => {
      await fixture.put('key', 'old')
      const content = contentWithDigest(body, Buffer.alloc(16))
      const write = fixture.objects.write(fixture.as, target('key'), content, { record: {}, tags: [] })
      expect(await codeOf(write)).toBe('BadDigest')
      expect((await fixture.get('key')).content).toBe('old')
      expect(temporaryFiles(fixture.root)).toEqual([])
    })

    test(`whose client goes away leaves the old object whole and no temporary file (${body.length} bytes)`, async () => {
      await fixture.put('key', 'old')
      const content = contentOf(body, {
        async *bytes() {
          yield body.subarray(0, body.length / 2)
          throw new S3Error('IncompleteBody')
        },
      })
      const write = fixture.objects.write(fixture.as, target('key'), content, { record: {}, tags: [] })
      expect(await codeOf(write)).toBe('IncompleteBody')
      expect((await fixture.get('key')).content).toBe('old')
      expect(temporaryFiles(fixture.root)).toEqual([])
    })
  }

  test('asks for the bytes of a large body one after the other, as the file system takes them', async () => {
    let ahead = 0
    const content = contentOf(large, {
      length: 8 * large.length,
      async *bytes() {
        for (let count = 0; count < 8; count++) {
          ahead = Math.max(ahead, count)
          yield large
        }
      },
    })
    await fixture.objects.write(fixture.as, target('key'), content, { record: {}, tags: [] })
    expect(ahead).toBe(7)
    expect((await fixture.get('key')).entry.size).toBe(8 * large.length)
  })

  for (const [how, body, more] of [
    ['large', large, {}],
    ['small body whose client waits for 100 Continue', Buffer.from('x'), { stageFirst: true }],
  ] as const) {
    const asked = (): { content: ReturnType<typeof contentOf>; wasAsked: () => boolean } => {
      let pulled = false
      const content = contentOf(body, {
        async *bytes() {
          pulled = true
          yield body
        },
      })
      return { content, wasAsked: () => pulled }
    }

    test(`into a missing bucket is refused before a byte is asked for: ${how} (issue: Expect)`, async () => {
      const { content, wasAsked } = asked()
      const missing = { bucket: 'missing', key: 'key' }
      const write = fixture.objects.write(fixture.as, missing, content, { record: {}, tags: [], ...more })
      expect(await codeOf(write)).toBe('NoSuchBucket')
      expect(wasAsked()).toBe(false)
    })

    test(`with a condition that fails is refused before a byte is asked for: ${how}`, async () => {
      await fixture.put('key', 'old')
      const { content, wasAsked } = asked()
      const write = fixture.objects.write(fixture.as, target('key'), content, {
        record: {},
        tags: [],
        ifAbsent: true,
        ...more,
      })
      expect(await codeOf(write)).toBe('PreconditionFailed')
      expect(wasAsked()).toBe(false)
    })
  }

  test('below an object is refused, and the object stays (seen on the reference as a 500)', async () => {
    await fixture.put('file', 'content')
    expect(await codeOf(fixture.put('file/below', 'x'))).toBe('ObjectParentIsFile')
    expect((await fixture.get('file')).content).toBe('content')
  })

  test('where a folder is is refused, and the folder stays (our choice; a 500 on the reference)', async () => {
    await fixture.put('folder/key', 'content')
    expect(await codeOf(fixture.put('folder', 'x'))).toBe('ExistingObjectIsDirectory')
    expect((await fixture.get('folder/key')).content).toBe('content')
    expect(temporaryFiles(fixture.root)).toEqual([])
  })

  test('takes the place of a folder that has made room (a multipart directory, spec §1.4)', async () => {
    mkdirSync(join(fixture.root, 'b/upload'))
    const { rmdirSync } = await import('node:fs')
    await fixture.put('upload', 'object', {
      async displace() {
        return async () => rmdirSync(join(fixture.root, 'b/upload'))
      },
    })
    expect((await fixture.get('upload')).content).toBe('object')
  })

  test('through two spellings of a bucket is the same object (spec §1.2)', async () => {
    mkdirSync(join(fixture.root, 'b/nested'))
    await fixture.objects.write(fixture.as, { bucket: 'b/nested', key: 'key' }, contentOf('x'), {
      record: { contentType: 'text/x' },
      tags: [],
    })
    expect(await fixture.get('nested/key')).toMatchObject({ content: 'x', record: { contentType: 'text/x' } })
  })
})

describe('a file that was not written through the gateway', () => {
  test('is an object with an ETag that is no MD5, and the default Content-Type (spec §2, design §4)', async () => {
    writeFileSync(join(fixture.root, 'b/file'), 'content')
    const read = await fixture.get('file')
    expect(read.content).toBe('content')
    expect(read.record.etag).toMatch(/^[0-9a-f]{32}-\d+$/)
    expect(read.record.contentType).toBeUndefined()
    expect((await fixture.get('file')).record.etag).toBe(read.record.etag)
  })

  test('loses the record of the object it was when it is changed from outside (design §4)', async () => {
    await fixture.put('key', 'content', { record: { contentType: 'text/plain' } })
    writeFileSync(join(fixture.root, 'b/key'), 'changed', { flag: 'a' })
    const read = await fixture.get('key')
    expect(read.content).toBe('contentchanged')
    expect(read.record.etag).toContain('-')
    expect(read.record.contentType).toBeUndefined()
  })

  test('keeps its metadata when it is renamed from outside (design §4)', async () => {
    await fixture.put('key', 'content', { record: { contentType: 'text/plain' }, tags: [{ key: 'a', value: 'b' }] })
    const { renameSync } = await import('node:fs')
    renameSync(join(fixture.root, 'b/key'), join(fixture.root, 'b/moved'))
    expect(await fixture.get('moved')).toMatchObject({
      record: { etag: md5('content'), contentType: 'text/plain' },
      tags: [{ key: 'a', value: 'b' }],
    })
  })
})

describe('folders', () => {
  test('are made by a key with a final slash, with headers, metadata and tags (spec §1.2)', async () => {
    await fixture.put('a/b/', '', {
      record: { contentType: 'application/x-directory' },
      tags: [{ key: 'k', value: 'v' }],
    })
    expect(await fixture.get('a/b/')).toMatchObject({
      content: '',
      entry: { kind: 'folder', size: 0 },
      record: { etag: md5(''), contentType: 'application/x-directory' },
      tags: [{ key: 'k', value: 'v' }],
    })
    expect(readdirSync(join(fixture.root, 'b/a/b'))).toEqual([])
  })

  test('keep their metadata while entries come and go (design §4: keyed by inode and birth time)', async () => {
    await fixture.put('a/', '', { record: { contentType: 'x/y' } })
    await fixture.put('a/b', 'content')
    expect((await fixture.get('a/')).record.contentType).toBe('x/y')
  })

  test('can be put again, with other metadata (seen on the reference)', async () => {
    await fixture.put('a/', '', { record: { contentType: 'x/y' }, tags: [{ key: 'k', value: 'v' }] })
    await fixture.put('a/', '')
    const read = await fixture.get('a/')
    expect(read.record.contentType).toBeUndefined()
    expect(read.tags).toEqual([])
  })

  test('cannot have content (our choice: 400 InvalidRequest; the reference ignores it)', async () => {
    expect(await codeOf(fixture.put('a/', 'content'))).toBe('InvalidRequest')
    expect(await codeOf(fixture.objects.head(fixture.as, target('a/')))).toBe('NoSuchKey')
    const chunked = contentOf('content', { length: undefined })
    const write = fixture.objects.write(fixture.as, target('a/'), chunked, { record: {}, tags: [] })
    expect(await codeOf(write)).toBe('InvalidRequest')
  })

  test('are not found without the slash, nor objects with one (clients.md finding 3; our choice)', async () => {
    await fixture.put('folder/', '')
    await fixture.put('file', 'content')
    for (const key of ['folder', 'file/', 'missing', 'missing/']) {
      expect(await codeOf(fixture.objects.head(fixture.as, target(key)))).toBe('NoSuchKey')
      expect(await codeOf(fixture.objects.read(fixture.as, target(key)))).toBe('NoSuchKey')
    }
  })

  test('made with If-None-Match: * are made once (seen on S3, where they are objects)', async () => {
    const codes = await Promise.all(Array.from({ length: 8 }, () => codeOf(fixture.put('a/', '', { ifAbsent: true }))))
    expect(codes.filter((code) => code === undefined)).toHaveLength(1)
    expect(codes.filter((code) => code === 'PreconditionFailed')).toHaveLength(7)
  })
})

describe('tags', () => {
  test('are replaced as a set, of objects, folders and files of others alike (spec §2)', async () => {
    await fixture.put('key', 'x', { tags: [{ key: 'old', value: '1' }] })
    await fixture.put('folder/', '')
    writeFileSync(join(fixture.root, 'b/foreign'), 'x')
    for (const key of ['key', 'folder/', 'foreign']) {
      await fixture.objects.putTags(fixture.as, target(key), [{ key: 'new', value: '2' }])
      expect((await fixture.get(key)).tags).toEqual([{ key: 'new', value: '2' }])
      await fixture.objects.putTags(fixture.as, target(key), [])
      expect((await fixture.get(key)).tags).toEqual([])
    }
    expect((await fixture.get('key')).record.etag).toBe(md5('x'))
  })

  test('of a missing object are NoSuchKey (seen on the reference)', async () => {
    expect(await codeOf(fixture.objects.putTags(fixture.as, target('missing'), []))).toBe('NoSuchKey')
  })
})
