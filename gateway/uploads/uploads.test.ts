import {
  appendFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import fc from 'fast-check'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { codeOf, contentOf, contentWithDigest, md5, target, temporaryFiles } from '../objects/objects.fixture.ts'
import { createDigest } from '../s3/checksum.ts'
import { S3Error } from '../s3/errors.ts'
import { multipartEtag } from '../s3/etag.ts'
import { newUploadId } from './upload-id.ts'
import { openUploadsFixture, otherUser, owner, type UploadsFixture } from './uploads.fixture.ts'

let fixture: UploadsFixture
beforeAll(async () => {
  fixture = await openUploadsFixture()
})
afterEach(() => {
  for (const name of readdirSync(path(''))) rmSync(path(name), { recursive: true })
  expect(fixture.reports.splice(0)).toEqual([])
})
afterAll(() => fixture.close())

/** Everything in the bucket, as the file system shows it. */
function tree(): string[] {
  return readdirSync(join(fixture.root, 'b'), { recursive: true, encoding: 'utf8' }).sort()
}

function path(key: string): string {
  return join(fixture.root, 'b', key)
}

describe('an open upload', () => {
  it('shows as a directory <key>_<UploadId> with a file for each part (spec §2)', async () => {
    const upload = await fixture.create('a/k')
    await fixture.part(upload, 2, 'two')
    await fixture.part(upload, 1, 'one')
    expect(tree()).toEqual(['a', `a/k_${upload.id}`, `a/k_${upload.id}/1`, `a/k_${upload.id}/2`])
    expect((await fixture.get(`a/k_${upload.id}/2`)).content).toBe('two')
  })

  it('keeps the last write of a part number (spec §3)', async () => {
    const upload = await fixture.create('k')
    await fixture.part(upload, 1, 'old')
    await fixture.part(upload, 1, 'new')
    await fixture.complete(upload, [1])
    expect((await fixture.get('k')).content).toBe('new')
  })

  it('takes a plain PUT onto the path of a part as that part (spec §1.4)', async () => {
    const upload = await fixture.create('k')
    await fixture.part(upload, 1, 'old')
    await fixture.put(`k_${upload.id}/1`, 'put')
    await fixture.put(`k_${upload.id}/2`, 'too')
    await fixture.complete(upload, [1, 2])
    expect((await fixture.get('k')).content).toBe('puttoo')
  })

  it('can be of a key whose name has 255 bytes (issue: such a key can still be uploaded)', async () => {
    const key = `${'é'.repeat(127)}x`
    const upload = await fixture.create(key)
    await fixture.part(upload, 1, 'one')
    await fixture.part(upload, 2, 'two')
    await fixture.complete(upload, [1, 2])
    expect((await fixture.get(key)).content).toBe('onetwo')
    expect(tree()).toEqual([key])
  })

  it('is refused at once for a name that is too long to become an object', async () => {
    expect(await codeOf(fixture.create('x'.repeat(256)))).toBe('KeyTooLongError')
    expect(tree()).toEqual([])
  })

  it('is refused for a bucket that is not there, and below an object', async () => {
    await fixture.put('file', 'x')
    expect(await codeOf(fixture.create('file/k'))).toBe('ObjectParentIsFile')
    const nowhere = fixture.uploads.create(fixture.as, { bucket: 'none', key: 'k' }, 'none', {
      record: {},
      tags: [],
      checksumAlgorithm: undefined,
      checksumType: undefined,
    })
    expect(await codeOf(nowhere)).toBe('NoSuchBucket')
  })

  it('is refused for a key that names a folder (our choice)', async () => {
    expect(await codeOf(fixture.create('k/'))).toBe('InvalidArgument')
  })

  it('is known by its id together with its key and bucket only (seen on the reference)', async () => {
    const upload = await fixture.create('k')
    const wrong = (key: string, id: string) => codeOf(fixture.uploads.abort(fixture.as, target(key), id))
    expect(await wrong('other', upload.id)).toBe('NoSuchUpload')
    expect(await wrong('k', newUploadId())).toBe('NoSuchUpload')
    expect(await wrong('k', 'nonsense')).toBe('NoSuchUpload')
    expect(await wrong('k', '')).toBe('NoSuchUpload')
    const nowhere = fixture.uploads.abort(fixture.as, { bucket: 'none', key: 'k' }, upload.id)
    expect(await codeOf(nowhere)).toBe('NoSuchBucket')
  })

  it('takes no parts, is not listed and cannot be ended once its directory is gone from the file system', async () => {
    const upload = await fixture.create('k')
    await fixture.part(upload, 1, 'one')
    rmSync(path(upload.directory), { recursive: true })
    expect(await codeOf(fixture.part(upload, 2, 'two'))).toBe('NoSuchUpload')
    expect(tree()).toEqual([])
    expect(await codeOf(fixture.complete(upload, [1]))).toBe('NoSuchUpload')
    expect(await codeOf(fixture.uploads.abort(fixture.as, target('k'), upload.id))).toBe('NoSuchUpload')
  })

  it('disappears from the list together with its directory', async () => {
    const upload = await fixture.create('k')
    expect((await list()).uploads).toHaveLength(1)
    rmSync(path(upload.directory), { recursive: true })
    expect((await list()).uploads).toEqual([])
    // It may be about to be made, as far as a list can tell; later it is not.
    expect(await fixture.metadata.upload(upload.id)).toBeDefined()
    vi.setSystemTime(Date.now() + 61_000)
    expect((await list()).uploads).toEqual([])
    vi.useRealTimers()
    expect(await fixture.metadata.upload(upload.id)).toBeUndefined()
  })

  it('is not forgotten while its bucket is away: the whole file system may be (our choice)', async () => {
    const upload = await fixture.create('k')
    await fixture.part(upload, 1, 'one')
    const bucket = join(fixture.root, 'b')
    renameSync(bucket, join(fixture.root, 'away'))
    vi.setSystemTime(Date.now() + 61_000)
    expect(await codeOf(list())).toBe('NoSuchBucket')
    expect(await codeOf(fixture.part(upload, 2, 'two'))).toBe('NoSuchBucket')
    await fixture.uploads.scan()
    vi.useRealTimers()
    renameSync(join(fixture.root, 'away'), bucket)
    await fixture.complete(upload, [1])
    expect((await fixture.get('k')).content).toBe('one')
  })

  it('refuses a part whose checksum is of another algorithm than it was opened with (seen on S3)', async () => {
    const upload = await fixture.create('k', { checksumAlgorithm: 'SHA1', checksumType: 'COMPOSITE' })
    const content = contentOf('x', { digests: ['CRC32'], checksumAlgorithm: 'CRC32' })
    const part = fixture.uploads.storePart(fixture.as, target('k'), upload.id, 1, content)
    expect(await codeOf(part)).toBe('InvalidRequest')
  })

  it('computes the checksum it was opened with for a part that comes without one', async () => {
    const upload = await fixture.create('k', { checksumAlgorithm: 'CRC32C', checksumType: 'FULL_OBJECT' })
    const { record } = await fixture.part(upload, 1, '123456789')
    expect(record.checksums).toEqual({ crc32c: '4waSgw==' })
  })
})

function list(query: Partial<Parameters<UploadsFixture['uploads']['list']>[1]> = {}, as = fixture.as) {
  const all = { bucket: 'b', prefix: '', delimiter: '', afterKey: '', afterId: '', limit: 1000 }
  return fixture.uploads.list(as, { ...all, ...query })
}

describe('the users of uploads', () => {
  it('are kept apart: parts, list, abort and completion of a foreign upload answer AccessDenied', async () => {
    const upload = await fixture.uploads.create(owner, target('k'), 'b', {
      record: {},
      tags: [],
      checksumAlgorithm: undefined,
      checksumType: undefined,
    })
    const at = target('k')
    const { uploads } = fixture
    const source = { target: target('x') }
    expect(await codeOf(uploads.storePart(otherUser, at, upload.id, 1, contentOf('x')))).toBe('AccessDenied')
    expect(await codeOf(uploads.copyPart(otherUser, at, upload.id, 1, source))).toBe('AccessDenied')
    expect(await codeOf(uploads.parts(otherUser, at, upload.id, { after: 0, limit: 1 }))).toBe('AccessDenied')
    expect(await codeOf(uploads.abort(otherUser, at, upload.id))).toBe('AccessDenied')
    expect(await codeOf(uploads.complete(otherUser, at, upload.id, { parts: [{ number: 1 }] }))).toBe('AccessDenied')
    expect(await codeOf(uploads.displace(otherUser, target(upload.directory)))).toBe('AccessDenied')
  })

  it('see their own uploads in the list, and the process user sees all', async () => {
    const open = { record: {}, tags: [], checksumAlgorithm: undefined, checksumType: undefined }
    await fixture.uploads.create(owner, target('mine'), 'b', open)
    await fixture.uploads.create(otherUser, target('theirs'), 'b', open)
    const seen = async (as: typeof owner) => (await list({}, as)).uploads.map(({ key }) => key)
    expect(await seen(owner)).toEqual(['mine'])
    expect(await seen(otherUser)).toEqual(['theirs'])
    expect(await seen(fixture.as)).toEqual(['mine', 'theirs'])
  })

  it('let the process user do everything', async () => {
    const open = { record: {}, tags: [], checksumAlgorithm: undefined, checksumType: undefined }
    const upload = await fixture.uploads.create(owner, target('k'), 'b', open)
    await fixture.part(upload, 1, 'one')
    await fixture.complete(upload, [1])
    expect((await fixture.get('k')).content).toBe('one')
  })
})

describe('listing parts', () => {
  it('shows number, size and ETag, in order of number', async () => {
    const upload = await fixture.create('k')
    for (const n of [10, 9, 100]) await fixture.part(upload, n, 'x'.repeat(n))
    const page = await fixture.uploads.parts(fixture.as, target('k'), upload.id, { after: 0, limit: 1000 })
    expect(page.parts.map(({ number, size, etag }) => ({ number, size, etag }))).toEqual(
      [9, 10, 100].map((n) => ({ number: n, size: n, etag: md5('x'.repeat(n)) })),
    )
    expect(page.truncated).toBe(false)
  })

  it('pages through all of them, whatever the size of a page', async () => {
    const upload = await fixture.create('k')
    for (let n = 1; n <= 7; n++) await fixture.part(upload, n * 3, 'x')
    for (let limit = 1; limit <= 8; limit++) {
      const found: number[] = []
      for (let after = 0, more = true; more; ) {
        const page = await fixture.uploads.parts(fixture.as, target('k'), upload.id, { after, limit })
        found.push(...page.parts.map(({ number }) => number))
        after = found.at(-1) ?? 0
        more = page.truncated
      }
      expect(found).toEqual([3, 6, 9, 12, 15, 18, 21])
    }
  })

  it('announces nothing after a page of none', async () => {
    const upload = await fixture.create('k')
    await fixture.part(upload, 1, 'x')
    const page = await fixture.uploads.parts(fixture.as, target('k'), upload.id, { after: 0, limit: 0 })
    expect(page).toMatchObject({ parts: [], truncated: false })
  })

  it('does not trip over what others put into the directory (the reference answers 500)', async () => {
    const upload = await fixture.create('k')
    await fixture.part(upload, 1, 'one')
    for (const name of ['notes.txt', '01', '10001', '-1', '1.0'])
      writeFileSync(path(`${upload.directory}/${name}`), 'x')
    mkdirSync(path(`${upload.directory}/3`))
    const page = await fixture.uploads.parts(fixture.as, target('k'), upload.id, { after: 0, limit: 1000 })
    expect(page.parts.map(({ number }) => number)).toEqual([1])
  })
})

describe('listing uploads', () => {
  const keys = ['a', 'a/1', 'a/2', 'b/c/1', 'b/c/2', 'b/d', 'c', 'é', '😀']

  async function pages(query: { prefix?: string; delimiter?: string; limit: number }) {
    const found: string[] = []
    let afterKey = ''
    let afterId = ''
    for (;;) {
      const page = await list({ ...query, afterKey, afterId })
      const entries = [...page.uploads.map(({ key, id }) => `${key} ${id}`), ...page.commonPrefixes]
      expect(entries.length).toBeLessThanOrEqual(query.limit)
      found.push(...entries)
      if (page.next === undefined) return found.sort()
      afterKey = page.next.key
      afterId = page.next.uploadId
    }
  }

  it('gives each upload once, whatever the size of a page, prefix and delimiter', async () => {
    const opened: { key: string; id: string }[] = []
    for (const key of [...keys, 'a/1', 'a/1']) opened.push(await fixture.create(key))
    for (const prefix of ['', 'a', 'a/', 'b/', 'none']) {
      for (const delimiter of ['', '/', '/c/']) {
        const expected = new Set(
          opened
            .filter(({ key }) => key.startsWith(prefix))
            .map(({ key, id }) => {
              const end = delimiter === '' ? -1 : key.indexOf(delimiter, prefix.length)
              return end < 0 ? `${key} ${id}` : key.slice(0, end + delimiter.length)
            }),
        )
        for (const limit of [1, 2, 3, 100]) {
          expect(await pages({ prefix, delimiter, limit })).toEqual([...expected].sort())
        }
      }
    }
  })

  it('is in byte order of keys, and for one key in order of initiation (seen on S3)', async () => {
    const opened: { key: string; id: string }[] = []
    for (const key of ['😀', 'é', 'z', 'Z', '\u{e000}', 'z']) opened.push(await fixture.create(key))
    const { uploads } = await list()
    expect(uploads.map(({ key }) => key)).toEqual(['Z', 'z', 'z', 'é', '\u{e000}', '😀'])
  })

  it('leaves out what is completed or aborted', async () => {
    const done = await fixture.create('done')
    await fixture.part(done, 1, 'x')
    await fixture.complete(done, [1])
    const aborted = await fixture.create('aborted')
    await fixture.uploads.abort(fixture.as, target('aborted'), aborted.id)
    expect(await list()).toEqual({ uploads: [], commonPrefixes: [], next: undefined })
  })
})

describe('completing', () => {
  it('makes one object of the listed parts, with ETag, headers, tags and part sizes (spec §3)', async () => {
    const upload = await fixture.create('k', {
      record: { contentType: 'text/plain', userMetadata: { colour: 'red' } },
      tags: [{ key: 't', value: 'v' }],
    })
    for (const [n, body] of ['one', 'two', 'three'].entries()) await fixture.part(upload, n + 1, body)
    const { etag } = await fixture.complete(upload, [1, 2, 3])
    const { content, record, tags } = await fixture.get('k')
    expect(content).toBe('onetwothree')
    expect(etag).toBe(multipartEtag([md5('one'), md5('two'), md5('three')]))
    expect(record).toEqual({ etag, contentType: 'text/plain', userMetadata: { colour: 'red' }, parts: [3, 3, 5] })
    expect(tags).toEqual([{ key: 't', value: 'v' }])
    expect(tree()).toEqual(['k'])
  })

  it('uses only the parts that are listed (the reference uses all)', async () => {
    const upload = await fixture.create('k')
    for (const n of [1, 2, 3]) await fixture.part(upload, n, String(n))
    await fixture.complete(upload, [1, 3])
    expect((await fixture.get('k')).content).toBe('13')
    expect(tree()).toEqual(['k'])
  })

  it('publishes a single part without copying it: the inode is the part', async () => {
    const upload = await fixture.create('folder/k', { record: { contentType: 'text/csv' } })
    await fixture.part(upload, 7, 'only')
    const { ino } = statSync(path(`${upload.directory}/7`))
    const { etag } = await fixture.complete(upload, [7])
    expect(statSync(path('folder/k'))).toMatchObject({ ino, nlink: 1 })
    expect(etag).toBe(multipartEtag([md5('only')]))
    expect((await fixture.get('folder/k')).record).toEqual({ etag, contentType: 'text/csv', parts: [4] })
  })

  it('of a single part that has another name too leaves the content under that name', async () => {
    const upload = await fixture.create('k')
    await fixture.part(upload, 1, 'only')
    linkSync(path(`${upload.directory}/1`), path('link'))
    await fixture.complete(upload, [1])
    expect((await fixture.get('k')).content).toBe('only')
    expect((await fixture.get('link')).content).toBe('only')
  })

  it('replaces an object that is there, record and all', async () => {
    await fixture.put('k', 'old', { record: { contentType: 'text/old' }, tags: [{ key: 'a', value: 'b' }] })
    const upload = await fixture.create('k')
    await fixture.part(upload, 1, 'one')
    await fixture.part(upload, 2, 'two')
    await fixture.complete(upload, [1, 2])
    const { content, record, tags } = await fixture.get('k')
    expect({ content, tags, type: record.contentType }).toEqual({ content: 'onetwo', tags: [], type: undefined })
  })

  it('of empty parts makes an empty object', async () => {
    const upload = await fixture.create('k')
    await fixture.part(upload, 1, '')
    await fixture.part(upload, 2, '')
    await fixture.complete(upload, [1, 2])
    expect((await fixture.get('k')).content).toBe('')
  })

  it('answers a repeated request with the same result, and another list with NoSuchUpload', async () => {
    const upload = await fixture.create('k')
    await fixture.part(upload, 1, 'one')
    await fixture.part(upload, 2, 'two')
    const first = await fixture.complete(upload, [1, 2])
    await fixture.put('k', 'newer')
    expect(await fixture.complete(upload, [1, 2])).toEqual(first)
    expect((await fixture.get('k')).content).toBe('newer')
    expect(await codeOf(fixture.complete(upload, [1]))).toBe('NoSuchUpload')
    expect(await codeOf(fixture.part(upload, 3, 'x'))).toBe('NoSuchUpload')
    expect(await codeOf(fixture.uploads.abort(fixture.as, target('k'), upload.id))).toBe('NoSuchUpload')
  })

  it('asked twice at once makes one object and gives one answer', async () => {
    const upload = await fixture.create('k')
    await fixture.part(upload, 1, 'a'.repeat(100_000))
    await fixture.part(upload, 2, 'b'.repeat(100_000))
    const [one, two] = await Promise.all([fixture.complete(upload, [1, 2]), fixture.complete(upload, [1, 2])])
    expect(one).toEqual(two)
    expect(tree()).toEqual(['k'])
  })

  it('asked again at any moment gives the same answer', async () => {
    for (let round = 0; round < 10; round++) {
      const upload = await fixture.create(`k${round}`)
      const numbers = round % 2 === 0 ? [1] : [1, 2]
      for (const n of numbers) await fixture.part(upload, n, 'x')
      const answers = await Promise.all(
        Array.from({ length: 6 }, async (_, n) => {
          await pause(n * round * 0.7)
          return fixture.complete(upload, numbers)
        }),
      )
      expect(new Set(answers.map(({ etag }) => etag)).size).toBe(1)
      expect(tree()).toEqual(Array.from({ length: round + 1 }, (_, n) => `k${n}`))
    }
  })

  it('asked for two different lists at once does one of them and refuses the other', async () => {
    const upload = await fixture.create('k')
    for (const n of [1, 2]) await fixture.part(upload, n, String(n))
    const outcomes = await Promise.all([
      codeOf(fixture.complete(upload, [1, 2])),
      codeOf(fixture.complete(upload, [2])),
    ])
    expect(outcomes).toContain(undefined)
    expect(['OperationAborted', 'NoSuchUpload']).toContain(outcomes.find((code) => code !== undefined))
    expect((await fixture.get('k')).content).toBe(outcomes[0] === undefined ? '12' : '2')
  })

  it('refused leaves the upload open, so that the client can mend it and ask for the same again', async () => {
    const upload = await fixture.create('k')
    await fixture.part(upload, 1, 'one')
    expect(await codeOf(fixture.complete(upload, [1, 2]))).toBe('InvalidPart')
    await fixture.part(upload, 2, 'two')
    await fixture.complete(upload, [1, 2])
    expect((await fixture.get('k')).content).toBe('onetwo')
  })

  it('onto a folder is refused and keeps upload and folder (the reference: 404)', async () => {
    await fixture.put('k/below', 'x')
    const upload = await fixture.create('k')
    for (const numbers of [[1], [1, 2]]) {
      for (const n of numbers) await fixture.part(upload, n, String(n))
      expect(await codeOf(fixture.complete(upload, numbers))).toBe('ExistingObjectIsDirectory')
    }
    expect(tree()).toEqual(['k', `k_${upload.id}`, `k_${upload.id}/1`, `k_${upload.id}/2`, 'k/below'].sort())
    const page = await fixture.uploads.parts(fixture.as, target('k'), upload.id, { after: 0, limit: 9 })
    expect(page.parts.map(({ etag }) => etag)).toEqual([md5('1'), md5('2')])
    expect(page.upload).toMatchObject({ state: 'open', record: { etag: '' } })
    rmSync(path('k'), { recursive: true })
    await fixture.complete(upload, [1, 2])
    expect((await fixture.get('k')).content).toBe('12')
  })

  it('checks the size of parts when there is a minimum (spec §3)', async () => {
    const upload = await fixture.create('k')
    await fixture.part(upload, 1, 'one')
    await fixture.part(upload, 2, 'two')
    Object.assign(fixture.config, { minPartSize: 4 })
    expect(await codeOf(fixture.complete(upload, [1, 2]))).toBe('EntityTooSmall')
    expect(await codeOf(fixture.complete(upload, [2]))).toBeUndefined()
    Object.assign(fixture.config, { minPartSize: 0 })
  })

  it('keeps what others put into the directory, as a plain folder', async () => {
    const upload = await fixture.create('k')
    await fixture.part(upload, 1, 'one')
    writeFileSync(path(`${upload.directory}/notes.txt`), 'mine')
    await fixture.complete(upload, [1])
    expect(tree()).toEqual(['k', upload.directory, `${upload.directory}/notes.txt`])
  })

  it('takes a part that a client of the file system has put there or changed, by its bytes', async () => {
    const upload = await fixture.create('k', { checksumAlgorithm: 'CRC32', checksumType: 'FULL_OBJECT' })
    await fixture.part(upload, 1, 'on')
    appendFileSync(path(`${upload.directory}/1`), 'e')
    writeFileSync(path(`${upload.directory}/2`), 'two')
    const etags = [md5('one'), md5('two')]
    const parts = etags.map((etag, n) => ({ number: n + 1, etag }))
    const { done } = await fixture.uploads.complete(fixture.as, target('k'), upload.id, { parts })
    const crc32 = createDigest('CRC32')
    crc32.update(Buffer.from('onetwo'))
    expect(await done).toMatchObject({
      etag: multipartEtag(etags),
      checksums: { crc32: crc32.digest().toString('base64') },
    })
    expect((await fixture.get('k')).content).toBe('onetwo')
  })

  it('refuses a changed part whose old ETag is listed', async () => {
    const upload = await fixture.create('k')
    await fixture.part(upload, 1, 'one')
    appendFileSync(path(`${upload.directory}/1`), '!')
    const parts = [{ number: 1, etag: md5('one') }]
    const { done } = await fixture.uploads.complete(fixture.as, target('k'), upload.id, { parts })
    expect(await codeOf(done)).toBe('InvalidPart')
    expect(await fixture.metadata.upload(upload.id)).toMatchObject({ state: 'open' })
  })

  it('with If-None-Match: * does not replace an object, with If-Match only the one named', async () => {
    const { etag } = (await fixture.put('k', 'old')).record
    const upload = await fixture.create('k')
    await fixture.part(upload, 1, 'new')
    expect(await codeOf(fixture.complete(upload, [1], { ifNoneMatch: '*' }))).toBe('PreconditionFailed')
    expect(await codeOf(fixture.complete(upload, [1], { ifMatch: '"0"' }))).toBe('PreconditionFailed')
    expect((await fixture.get('k')).content).toBe('old')
    await fixture.complete(upload, [1], { ifMatch: `"${etag}"` })
    expect((await fixture.get('k')).content).toBe('new')
  })

  it('with If-None-Match: * makes an object where there is none', async () => {
    const upload = await fixture.create('k')
    await fixture.part(upload, 1, 'new')
    await fixture.part(upload, 2, 'er')
    await fixture.complete(upload, [1, 2], { ifNoneMatch: '*' })
    expect((await fixture.get('k')).content).toBe('newer')
  })

  it('takes parts copied from other objects, and ranges of them', async () => {
    await fixture.put('source', '0123456789')
    const upload = await fixture.create('k')
    const copy = (part: number, range?: { start: number; length: number }) =>
      fixture.uploads.copyPart(fixture.as, target('k'), upload.id, part, { target: target('source'), range })
    expect((await copy(1)).record.etag).toBe(md5('0123456789'))
    expect((await copy(2, { start: 3, length: 4 })).record.etag).toBe(md5('3456'))
    const { etag } = await fixture.complete(upload, [2, 1].sort())
    expect(etag).toBe(multipartEtag([md5('0123456789'), md5('3456')]))
    expect((await fixture.get('k')).content).toBe('01234567893456')
  })

  it('equals the concatenation of the parts, in whatever order they came and were replaced', async () => {
    const write = fc.record({ number: fc.integer({ min: 1, max: 12 }), body: fc.string({ maxLength: 40 }) })
    let round = 0
    await fc.assert(
      fc.asyncProperty(fc.array(write, { minLength: 1, maxLength: 20 }), fc.boolean(), async (writes, all) => {
        const key = `property-${round++}`
        const upload = await fixture.create(key)
        const last = new Map<number, string>()
        for (const { number, body } of writes) {
          await fixture.part(upload, number, body)
          last.set(number, body)
        }
        const numbers = [...last.keys()].sort((a, b) => a - b).filter((_, n) => all || n % 2 === 0)
        const { etag } = await fixture.complete(upload, numbers)
        const bodies = numbers.map((number) => last.get(number) ?? '')
        const { content, record } = await fixture.get(key)
        expect(content).toBe(bodies.join(''))
        expect(record.parts).toEqual(bodies.map((body) => Buffer.byteLength(body)))
        expect(etag).toBe(multipartEtag(bodies.map(md5)))
      }),
      { numRuns: 30 },
    )
    expect(temporaryFiles(fixture.root)).toEqual([])
    expect(tree().filter((name) => name.includes('_'))).toEqual([])
  })
})

describe('aborting', () => {
  it('removes the parts and their directory (spec §3)', async () => {
    const upload = await fixture.create('a/k')
    await fixture.part(upload, 1, 'one')
    await fixture.uploads.abort(fixture.as, target('a/k'), upload.id)
    expect(tree()).toEqual(['a'])
    expect(await codeOf(fixture.uploads.abort(fixture.as, target('a/k'), upload.id))).toBe('NoSuchUpload')
    expect(await codeOf(fixture.part(upload, 2, 'two'))).toBe('NoSuchUpload')
  })

  it('leaves nothing of a part that is still coming in', async () => {
    const upload = await fixture.create('k')
    let abort = async () => {}
    const slow = contentOf('slow', {
      async *bytes() {
        yield Buffer.from('sl')
        await abort()
        yield Buffer.from('ow')
      },
      length: undefined,
    })
    abort = () => fixture.uploads.abort(fixture.as, target('k'), upload.id)
    expect(await codeOf(fixture.uploads.storePart(fixture.as, target('k'), upload.id, 1, slow))).toBe('NoSuchUpload')
    expect(tree()).toEqual([])
    expect(temporaryFiles(fixture.root)).toEqual([])
  })

  it('keeps what others put into the directory', async () => {
    const upload = await fixture.create('k')
    writeFileSync(path(`${upload.directory}/notes.txt`), 'mine')
    await fixture.uploads.abort(fixture.as, target('k'), upload.id)
    expect(readFileSync(path(`${upload.directory}/notes.txt`), 'utf8')).toBe('mine')
  })
})

describe('a write to the key of a multipart directory (spec §1.4)', () => {
  it('aborts that upload and takes its place', async () => {
    const upload = await fixture.create('k')
    await fixture.part(upload, 1, 'one')
    const displace = () => fixture.uploads.displace(fixture.as, target(upload.directory))
    await fixture.put(upload.directory, 'object', { displace })
    expect((await fixture.get(upload.directory)).content).toBe('object')
    expect(await codeOf(fixture.part(upload, 2, 'two'))).toBe('NoSuchUpload')
    expect((await list()).uploads).toEqual([])
  })

  it.each(['inline', 'streamed'])('that is refused leaves the upload as it was (%s)', async (way) => {
    const upload = await fixture.create('k')
    await fixture.part(upload, 1, 'one')
    const at = target(upload.directory)
    const displace = () => fixture.uploads.displace(fixture.as, at)
    const object = { record: {}, tags: [], displace, stageFirst: way === 'streamed' }
    const wrong = contentWithDigest('object', Buffer.alloc(16))
    const write = fixture.objects.write(fixture.as, at, wrong, object)
    expect(await codeOf(write)).toBe('BadDigest')
    const condition = () => {
      throw new S3Error('PreconditionFailed')
    }
    expect(await codeOf(fixture.put(upload.directory, 'object', { ...object, condition }))).toBe('PreconditionFailed')
    writeFileSync(path(`${upload.directory}/foreign`), 'mine')
    expect(await codeOf(fixture.put(upload.directory, 'object', object))).toBe('ExistingObjectIsDirectory')
    rmSync(path(`${upload.directory}/foreign`))
    mkdirSync(path(`${upload.directory}/7`))
    expect(await codeOf(fixture.put(upload.directory, 'object', object))).toBe('ExistingObjectIsDirectory')
    rmdirSync(path(`${upload.directory}/7`))
    expect(temporaryFiles(fixture.root)).toEqual([])
    await fixture.complete(upload, [1])
    expect((await fixture.get('k')).content).toBe('one')
  })

  it('leaves it as it was when something else came into the directory while the body came in', async () => {
    const upload = await fixture.create('k')
    await fixture.part(upload, 1, 'one')
    const at = target(upload.directory)
    const slow = contentOf('', {
      length: undefined,
      async *bytes() {
        yield Buffer.from('object')
        writeFileSync(path(`${upload.directory}/foreign`), 'mine')
      },
    })
    const displace = () => fixture.uploads.displace(fixture.as, at)
    const write = fixture.objects.write(fixture.as, at, slow, { record: {}, tags: [], displace })
    expect(await codeOf(write)).toBe('ExistingObjectIsDirectory')
    await fixture.complete(upload, [1])
    expect((await fixture.get('k')).content).toBe('one')
  })

  it('does so as the completion of another upload too', async () => {
    const first = await fixture.create('k')
    await fixture.part(first, 1, 'one')
    const second = await fixture.create(first.directory)
    await fixture.part(second, 1, 'a')
    await fixture.part(second, 2, 'b')
    await fixture.complete(second, [1, 2])
    expect((await fixture.get(first.directory)).content).toBe('ab')
    expect(await codeOf(fixture.complete(first, [1]))).toBe('NoSuchUpload')
  })

  it('does not happen to other folders', async () => {
    const folder = `k_${newUploadId()}`
    mkdirSync(path(folder))
    expect(await fixture.uploads.displace(fixture.as, target(folder))).toBeUndefined()
    expect(await fixture.uploads.displace(fixture.as, target('k'))).toBeUndefined()
    expect(existsSync(path(folder))).toBe(true)
  })
})
