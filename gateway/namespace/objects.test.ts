import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  appendFileSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { alice, codeOf, type Fixture, openFixture, root } from './namespace.fixture.ts'
import type { OpenFile } from './namespace.ts'

let fixture: Fixture
let bucket: string
let directory: string

beforeAll(async () => {
  fixture = await openFixture()
})
afterAll(() => fixture.close())
beforeEach(async () => {
  bucket = await fixture.bucket(alice)
  directory = join(fixture.root, bucket)
})

function at(key: string) {
  return { bucket, key }
}

function put(key: string, content: string | Buffer = key) {
  return fixture.put(alice, at(key), content)
}

function get(key: string) {
  return fixture.get(alice, at(key))
}

function hiddenFiles(): string[] {
  return readdirSync(fixture.root, { recursive: true, encoding: 'utf8' }).filter((path) => path.includes('.s3proxy-'))
}

function readAll(file: OpenFile): Buffer {
  const bytes = Buffer.alloc(file.size)
  for (let done = 0; done < bytes.length; ) {
    const count = readSync(file.fd, bytes, done, bytes.length - done, done)
    if (count === 0) break
    done += count
  }
  file.close()
  return bytes
}

describe('an object', () => {
  test('is a plain file, and reads back with its identity, size and digest', async () => {
    const made = await put('a/b/c.txt', 'hello')
    expect(readFileSync(join(directory, 'a/b/c.txt'), 'utf8')).toBe('hello')
    const { entry, bytes } = await fixture.namespace.open(alice, at('a/b/c.txt'), { inlineBytes: 100 })
    expect(bytes?.toString()).toBe('hello')
    expect(entry).toMatchObject({
      kind: 'file',
      id: made.id,
      size: 5,
      modifiedMs: made.modifiedMs,
      uid: alice.uid,
      links: 1,
    })
    expect(made.digests.get('MD5')).toEqual(createHash('md5').update('hello').digest())
    expect(await fixture.namespace.stat(alice, at('a/b/c.txt'))).toEqual(entry)
  })

  test('that is empty comes inline, without a descriptor', async () => {
    await put('empty', '')
    const { bytes, file, entry } = await fixture.namespace.open(alice, at('empty'), { inlineBytes: 0 })
    expect([bytes?.length, file, entry.size]).toEqual([0, undefined, 0])
  })

  test('larger than what comes inline comes as an open file', async () => {
    await put('big', 'x'.repeat(1000))
    const { bytes, file } = await fixture.namespace.open(alice, at('big'), { inlineBytes: 999 })
    expect(bytes).toBeUndefined()
    expect(file && readAll(file).toString()).toBe('x'.repeat(1000))
  })

  test('without inlineBytes is never inline', async () => {
    await put('empty', '')
    const { bytes, file } = await fixture.namespace.open(alice, at('empty'))
    expect(bytes).toBeUndefined()
    file?.close()
    expect(file?.size).toBe(0)
  })

  test('may have any name that a file can have', async () => {
    const keys = ['ü/é', 'a b', '%2F', 'a:b', '\\', '🙂', 'a\tb', '-', '...', '*?"<>|', "'", 'x'.repeat(255)]
    for (const key of keys) {
      await put(key)
      expect(await get(key)).toBe(key)
    }
  })

  test('with a part over 255 bytes is too long to be made and nowhere to be found', async () => {
    const key = `a/${'x'.repeat(256)}`
    expect(await codeOf(put(key))).toBe('KeyTooLongError')
    expect(await codeOf(get(key))).toBe('NoSuchKey')
    expect(await fixture.namespace.remove(alice, at(key))).toEqual({ outcome: 'missing' })
  })

  test('of a missing bucket, or of a file in its place, is NoSuchBucket', async () => {
    writeFileSync(join(fixture.root, 'file'), '')
    for (const name of ['missing', 'file', 'missing/nested']) {
      const target = { bucket: name, key: 'k' }
      expect(await codeOf(fixture.get(alice, target))).toBe('NoSuchBucket')
      expect(await codeOf(fixture.namespace.stat(alice, target))).toBe('NoSuchBucket')
      expect(await codeOf(fixture.put(alice, target, ''))).toBe('NoSuchBucket')
      expect(await codeOf(fixture.namespace.remove(alice, target))).toBe('NoSuchBucket')
      expect(await codeOf(fixture.namespace.makeFolder(alice, { bucket: name, key: 'k/' }))).toBe('NoSuchBucket')
    }
  })

  test('is not below another object', async () => {
    await put('file')
    expect(await codeOf(get('file/below'))).toBe('NoSuchKey')
    expect(await codeOf(put('file/below'))).toBe('ObjectParentIsFile')
    expect(await codeOf(put('file/below/deep'))).toBe('ObjectParentIsFile')
    expect(await fixture.namespace.remove(alice, at('file/below'))).toEqual({ outcome: 'missing' })
  })

  test('is not a folder, and a folder no object', async () => {
    await put('folder/below')
    expect(await codeOf(get('folder'))).toBe('NoSuchKey')
    expect(await codeOf(fixture.namespace.stat(alice, at('folder')))).toBe('NoSuchKey')
    expect(await codeOf(put('folder'))).toBe('ExistingObjectIsDirectory')
    expect(await fixture.namespace.remove(alice, at('folder'))).toEqual({ outcome: 'missing' })
    expect(await codeOf(fixture.namespace.stat(alice, at('folder/below/')))).toBe('NoSuchKey')
    expect(await fixture.namespace.remove(alice, at('folder/below/'))).toEqual({ outcome: 'missing' })
    expect(await get('folder/below')).toBe('folder/below')
  })

  test('that became a folder after it was staged is refused at publish and leaves nothing', async () => {
    const staged = await fixture.namespace.stage(alice, at('k'), { digests: [], bytes: Buffer.from('x') })
    await staged.finish({ sync: false })
    mkdirSync(join(directory, 'k'))
    expect(await codeOf(staged.publish({ ifAbsent: false, sync: false }))).toBe('ExistingObjectIsDirectory')
    await staged.discard()
    expect(hiddenFiles()).toEqual([])
  })

  test('is nothing but a regular file: FIFO, socket and device do not hang or exist', async () => {
    execFileSync('mkfifo', [join(directory, 'fifo')])
    execFileSync('mknod', [join(directory, 'null'), 'c', '1', '3'])
    for (const key of ['fifo', 'null']) {
      expect(await codeOf(get(key))).toBe('NoSuchKey')
      expect(await codeOf(fixture.namespace.stat(root, at(key)))).toBe('NoSuchKey')
      expect(await fixture.namespace.remove(root, at(key))).toEqual({ outcome: 'missing' })
    }
    await fixture.put(root, at('fifo'), 'replaced')
    expect(await get('fifo')).toBe('replaced')
  })
})

describe('an overwrite', () => {
  test('names what it has replaced', async () => {
    const first = await put('k', '1')
    const second = await put('k', '2')
    expect([first.replaced, second.replaced]).toEqual([undefined, first.id])
    expect(await get('k')).toBe('2')
    expect(hiddenFiles()).toEqual([])
  })

  test('does not name a file that lives on under another name', async () => {
    await put('k', '1')
    linkSync(join(directory, 'k'), join(directory, 'other'))
    expect((await put('k', '2')).replaced).toBeUndefined()
    expect([await get('k'), await get('other')]).toEqual(['2', '1'])
  })

  test('leaves who reads the old object with the old object', async () => {
    await put('k', 'old'.repeat(1000))
    const { file } = await fixture.namespace.open(alice, at('k'))
    await put('k', 'new')
    expect(file && readAll(file).toString()).toBe('old'.repeat(1000))
  })

  test('that is given up leaves the old object whole', async () => {
    await put('k', 'old')
    const staged = await fixture.namespace.stage(alice, at('k'), { digests: ['MD5'] })
    await staged.write(Buffer.alloc(3_000_000))
    await staged.discard()
    expect(await get('k')).toBe('old')
    expect(hiddenFiles()).toEqual([])
  })

  test('gives each content an identity of its own, however fast and however alike', async () => {
    const ids = new Set<string>()
    for (let round = 0; round < 300; round += 1) ids.add((await put('hot', 'same')).id)
    expect(ids.size).toBe(300)
  })

  test('is not mistaken for the old content where the kernel stamps are as coarse as 4 ms', async () => {
    // What a kernel before 6.13 would have written: the same time on both, were it not set by the gateway.
    const first = await put('k', '1')
    const coarse = Math.floor(Date.now() / 4) * 4
    utimesSync(join(directory, 'k'), coarse / 1000, coarse / 1000)
    const stamped = await fixture.namespace.stat(alice, at('k'))
    const second = await put('k', '2')
    expect(new Set([first.id, stamped.id, second.id]).size).toBe(3)
  })
})

describe('publishing only what is absent', () => {
  test('is refused where anything is', async () => {
    await put('k', 'first')
    const staged = await fixture.namespace.stage(alice, at('k'), { digests: [], bytes: Buffer.from('second') })
    await staged.finish({ sync: false })
    expect(await codeOf(staged.publish({ ifAbsent: true, sync: false }))).toBe('PreconditionFailed')
    await staged.discard()
    expect(await get('k')).toBe('first')
  })

  test.each([false, true])('lets exactly one of many at once win (named: %s)', async (named) => {
    const staged = await Promise.all(
      Array.from({ length: 30 }, (_, index) => {
        const temp = named ? { temp: fixture.namespace.tempName(at('race')) } : {}
        return fixture.namespace.stage(alice, at('race'), { digests: [], bytes: Buffer.from(String(index)), ...temp })
      }),
    )
    await Promise.all(staged.map((each) => each.finish({ sync: false })))
    const codes = await Promise.all(staged.map((each) => codeOf(each.publish({ ifAbsent: true, sync: false }))))
    await Promise.all(staged.map((each) => each.discard()))
    expect(codes.filter((code) => code === undefined)).toHaveLength(1)
    expect(codes.filter((code) => code === 'PreconditionFailed')).toHaveLength(29)
    expect(await get('race')).toBe(String(codes.indexOf(undefined)))
    expect(hiddenFiles()).toEqual([])
  })
})

test('of many writers of one key the last rename wins, whole, and what is named as replaced is gone', async () => {
  const made = await Promise.all(Array.from({ length: 60 }, (_, index) => put('contended', `${index}`.repeat(500))))
  const content = await get('contended')
  expect(content.length % 500).toBe(0)
  expect(content).toBe(content.slice(0, content.length / 500).repeat(500))
  const replaced = made.map((each) => each.replaced).filter((id) => id !== undefined)
  expect(replaced.length).toBeGreaterThan(0)
  const { id } = await fixture.namespace.stat(alice, at('contended'))
  expect(replaced).not.toContain(id)
  expect(hiddenFiles()).toEqual([])
})

describe('a large object', () => {
  test('is written in blocks, with all its digests', async () => {
    const content = Buffer.alloc(5_000_003, 'abcdefghi')
    const staged = await fixture.namespace.stage(alice, at('large'), { digests: ['MD5', 'SHA256', 'CRC32'] })
    for (let done = 0; done < content.length; done += 65_537) await staged.write(content.subarray(done, done + 65_537))
    const file = await staged.finish({ sync: true })
    await staged.publish({ ifAbsent: false, sync: true })
    expect(file.size).toBe(content.length)
    expect(file.digests.get('MD5')).toEqual(createHash('md5').update(content).digest())
    expect(file.digests.get('SHA256')).toEqual(createHash('sha256').update(content).digest())
    expect(readFileSync(join(directory, 'large')).equals(content)).toBe(true)
    expect((await fixture.namespace.stat(alice, at('large'))).id).toBe(file.id)
  })

  test('does not mix with others that are written at the same time', async () => {
    await Promise.all(
      Array.from({ length: 40 }, async (_, index) => {
        const staged = await fixture.namespace.stage(alice, at(`mixed-${index}`), { digests: ['MD5'] })
        const block = Buffer.alloc(100_000, index)
        for (let count = 0; count < 12; count += 1) await staged.write(block)
        const file = await staged.finish({ sync: false })
        await staged.publish({ ifAbsent: false, sync: false })
        expect(file.digests.get('MD5')).toEqual(createHash('md5').update(Buffer.alloc(1_200_000, index)).digest())
      }),
    )
    const content = readFileSync(join(directory, 'mixed-7'))
    expect(content.equals(Buffer.alloc(1_200_000, 7))).toBe(true)
  })

  test('may be empty, and is there with its parents after a synced publish', async () => {
    const staged = await fixture.namespace.stage(alice, at('x/y/z'), { digests: ['MD5'] })
    expect((await staged.finish({ sync: true })).size).toBe(0)
    const { parent } = await staged.publish({ ifAbsent: false, sync: true })
    expect((await fixture.namespace.stat(alice, at('x/y/'))).id).toBe(parent)
  })
})

describe('a directory that vanishes', () => {
  test('between staging and publishing is made again', async () => {
    const staged = await fixture.namespace.stage(alice, at('p/q/r'), { digests: [], bytes: Buffer.from('r') })
    await staged.finish({ sync: false })
    rmSync(join(directory, 'p'), { recursive: true })
    await staged.publish({ ifAbsent: false, sync: true })
    expect(await get('p/q/r')).toBe('r')
  })

  test('all the time loses no object', async () => {
    let isOver = false
    const removing = (async () => {
      while (!isOver) {
        await fixture.namespace.remove(alice, at('v/w/'))
        await fixture.namespace.remove(alice, at('v/'))
      }
    })()
    for (let round = 0; round < 60; round += 1) {
      await put('v/w/k', String(round))
      expect(await get('v/w/k')).toBe(String(round))
      await fixture.namespace.remove(alice, at('v/w/k'))
    }
    isOver = true
    await removing
  })
})

describe('named temporary files', () => {
  test('are where their name says, hidden, and gone after publish', async () => {
    const temp = fixture.namespace.tempName(at('d/k'))
    const staged = await fixture.namespace.stage(alice, at('d/k'), { digests: [], bytes: Buffer.from('x'), temp })
    expect(staged.temp).toBe(temp)
    expect(hiddenFiles()).toEqual([temp])
    await staged.finish({ sync: false })
    await staged.publish({ ifAbsent: false, sync: false })
    expect(hiddenFiles()).toEqual([])
    expect(await get('d/k')).toBe('x')
  })

  test('that are left over are collected, and nothing else is', async () => {
    const temp = fixture.namespace.tempName(at('d/k'))
    const staged = await fixture.namespace.stage(alice, at('d/k'), { digests: [], temp })
    await staged.finish({ sync: false })
    await staged.release()
    await put('d/other', 'stays')
    mkdirSync(join(directory, 'outside'))
    writeFileSync(join(directory, 'outside/.s3proxyx'), 'stays')
    await fixture.namespace.collect([
      temp,
      temp,
      `${bucket}/d/other`,
      `${bucket}/nothing/.s3proxy-1`,
      `${bucket}/d/../d/.s3proxy-1`,
      '.s3proxy/users',
      '.s3proxy-1',
    ])
    expect(hiddenFiles()).toEqual([])
    expect(readdirSync(join(directory, 'd'))).toEqual(['other'])
    expect(readdirSync(join(directory, 'outside'))).toEqual(['.s3proxyx'])
  })

  test('are taken up again by name and identity, also after they were published', async () => {
    const temp = fixture.namespace.tempName(at('d/k'))
    const staged = await fixture.namespace.stage(alice, at('d/k'), { digests: [], bytes: Buffer.from('x'), temp })
    const { id } = await staged.finish({ sync: false })
    await staged.release()
    const wrong = await fixture.namespace.restage(alice, temp, at('d/k'), `${id}0`)
    expect(wrong).toBeUndefined()
    const again = await fixture.namespace.restage(alice, temp, at('d/k'), id)
    expect((await again?.finish({ sync: true }))?.id).toBe(id)
    await again?.publish({ ifAbsent: true, sync: true })
    expect((await fixture.namespace.stat(alice, at('d/k'))).id).toBe(id)
    expect(await fixture.namespace.restage(alice, temp, at('d/k'), id)).toBeUndefined()
  })

  test('that two take up at once are published once, and the second notices', async () => {
    const temp = fixture.namespace.tempName(at('twice'))
    const staged = await fixture.namespace.stage(alice, at('twice'), { digests: [], bytes: Buffer.from('x'), temp })
    const { id } = await staged.finish({ sync: false })
    const again = await fixture.namespace.restage(alice, temp, at('twice'), id)
    await again?.publish({ ifAbsent: false, sync: false })
    await staged.publish({ ifAbsent: false, sync: false })
    await put('twice', 'new')
    const late = await fixture.namespace.restage(alice, temp, at('twice'), id)
    expect(late).toBeUndefined()
    expect(await get('twice')).toBe('new')
  })
})

describe('copies', () => {
  async function open(key: string): Promise<OpenFile> {
    const { file } = await fixture.namespace.open(alice, at(key))
    if (file === undefined) throw new Error('not open')
    return file
  }

  test.each([[[]], [['MD5' as const]]])('have the bytes, with digests %j', async (digests) => {
    const content = Buffer.alloc(9_000_001, 'copy me ')
    await put('source', content)
    const file = await open('source')
    const staged = await fixture.namespace.copy(alice, file, undefined, at('to/target'), { digests })
    const made = await staged.finish({ sync: false })
    await staged.publish({ ifAbsent: false, sync: false })
    file.close()
    expect(made.size).toBe(content.length)
    expect(readFileSync(join(directory, 'to/target')).equals(content)).toBe(true)
    if (digests.length > 0) expect(made.digests.get('MD5')).toEqual(createHash('md5').update(content).digest())
  })

  test('of a range have that range', async () => {
    await put('source', '0123456789')
    const file = await open('source')
    const staged = await fixture.namespace.copy(alice, file, { start: 3, length: 4 }, at('range'), { digests: ['MD5'] })
    await staged.finish({ sync: false })
    await staged.publish({ ifAbsent: false, sync: false })
    file.close()
    expect(await get('range')).toBe('3456')
  })

  test('of a source that was cut meanwhile are as long as what was there', async () => {
    await put('source', '0123456789')
    const file = await open('source')
    truncateSync(join(directory, 'source'), 4)
    const staged = await fixture.namespace.copy(alice, file, undefined, at('cut'), { digests: [] })
    expect((await staged.finish({ sync: false })).size).toBe(4)
    await staged.discard()
    file.close()
  })

  test('put together are the parts in order, with progress', async () => {
    const parts = ['a', 'b', 'c'].map((name, index) => Buffer.alloc(1_000_000 + index, name))
    for (const [index, part] of parts.entries()) await put(`parts/${index + 1}`, part)
    const progress: number[] = []
    const temp = fixture.namespace.tempName(at('whole'))
    const staged = await fixture.namespace.assemble(
      alice,
      ['1', '2', '3'].map((n) => at(`parts/${n}`)),
      at('whole'),
      {
        temp,
        onProgress: (bytes) => progress.push(bytes),
      },
    )
    expect((await staged.finish({ sync: true })).size).toBe(3_000_003)
    await staged.publish({ ifAbsent: false, sync: true })
    expect(readFileSync(join(directory, 'whole')).equals(Buffer.concat(parts))).toBe(true)
    expect(progress.at(-1)).toBe(3_000_003)
    expect(hiddenFiles()).toEqual([])
  })

  test('put together of a missing part, or aborted, leave nothing', async () => {
    await put('parts/1', 'x')
    const options = { temp: fixture.namespace.tempName(at('whole')) }
    const missing = [at('parts/1'), at('parts/2')]
    expect(await codeOf(fixture.namespace.assemble(alice, missing, at('whole'), options))).toBe('NoSuchKey')
    const signal = AbortSignal.abort(new Error('enough'))
    await expect(
      fixture.namespace.assemble(alice, [at('parts/1')], at('whole'), { ...options, signal }),
    ).rejects.toThrow('enough')
    expect(hiddenFiles()).toEqual([])
  })
})

describe('an adopted file', () => {
  test('becomes the object with a new identity, and keeps its old name', async () => {
    const part = await put('up/1', 'part')
    const temp = fixture.namespace.tempName(at('object'))
    const staged = await fixture.namespace.adopt(alice, at('up/1'), at('object'), { temp, expected: part.id })
    const file = await staged?.finish({ sync: true })
    expect(file?.size).toBe(4)
    expect((await fixture.namespace.stat(alice, at('up/1'))).id).toBe(part.id)
    await staged?.publish({ ifAbsent: false, sync: true })
    const { id } = await fixture.namespace.stat(alice, at('object'))
    expect(id).toBe(file?.id)
    expect(id).not.toBe(part.id)
    expect(readdirSync(join(directory, 'up'))).toEqual(['1'])
  })

  test('that is discarded is what it was', async () => {
    const part = await put('up/1', 'part')
    const temp = fixture.namespace.tempName(at('object'))
    const staged = await fixture.namespace.adopt(alice, at('up/1'), at('object'), { temp, expected: part.id })
    await staged?.finish({ sync: false })
    await staged?.discard()
    expect((await fixture.namespace.stat(alice, at('up/1'))).id).toBe(part.id)
    expect(hiddenFiles()).toEqual([])
  })

  test('can be published by another process, before or after its identity was set', async () => {
    const part = await put('up/1', 'part')
    const temp = fixture.namespace.tempName(at('object'))
    const staged = await fixture.namespace.adopt(alice, at('up/1'), at('object'), { temp, expected: part.id })
    const file = await staged?.finish({ sync: false })
    await staged?.release()
    const again = await fixture.namespace.restage(alice, temp, at('object'), file?.id ?? '')
    await again?.publish({ ifAbsent: true, sync: false })
    expect((await fixture.namespace.stat(alice, at('object'))).id).toBe(file?.id)
  })

  test('that is not the one expected, or gone, or another user’s, is not adopted', async () => {
    const part = await put('up/1', 'part')
    const other = await put('up/1', 'other')
    const temp = fixture.namespace.tempName(at('object'))
    const adopt = (key: string, expected: string) =>
      fixture.namespace.adopt(alice, at(key), at('object'), { temp, expected })
    expect(await adopt('up/1', part.id)).toBeUndefined()
    expect(await adopt('up/2', part.id)).toBeUndefined()
    const foreign = await fixture.put(root, at('foreign'), 'x')
    expect(await adopt('foreign', foreign.id)).toBeUndefined()
    expect(await adopt('up/1', other.id)).toBeDefined()
  })
})

describe('renewal', () => {
  test('gives the same bytes a new identity, announced before it is there', async () => {
    const { id } = await put('k', 'content')
    let announced = ''
    const entry = await fixture.namespace.renew(alice, at('k'), id, async (next) => {
      announced = next
      expect((await fixture.namespace.stat(alice, at('k'))).id).toBe(id)
    })
    expect(entry?.id).toBe(announced)
    expect(announced).not.toBe(id)
    expect((await fixture.namespace.stat(alice, at('k'))).id).toBe(announced)
    expect(await get('k')).toBe('content')
  })

  test('is not for another’s file, another content, a file of two names, or one that changed meanwhile', async () => {
    const renew = (key: string, id: string, write = async () => {}) =>
      fixture.namespace.renew(alice, at(key), id, write)
    const { id } = await put('k', 'content')
    const foreign = await fixture.put(root, at('foreign'), 'x')
    expect(await renew('foreign', foreign.id)).toBeUndefined()
    expect(await renew('k', `${id}1`)).toBeUndefined()
    const changing = await renew('k', id, async () => appendFileSync(join(directory, 'k'), 'more'))
    expect(changing).toBeUndefined()
    const now = await fixture.namespace.stat(alice, at('k'))
    linkSync(join(directory, 'k'), join(directory, 'linked'))
    expect(await renew('k', now.id)).toBeUndefined()
    expect(await codeOf(renew('missing', id))).toBe('NoSuchKey')
    await expect(renew('k', now.id, () => Promise.reject(new Error('no')))).resolves.toBeUndefined()
  })
})

describe('removal', () => {
  test('of a file names it and the folder it was in', async () => {
    const made = await put('f/k')
    await put('f/l')
    const folder = await fixture.namespace.stat(alice, at('f/'))
    expect(await fixture.namespace.remove(alice, at('f/k'))).toEqual({
      outcome: 'removed',
      id: made.id,
      parent: { key: 'f/', id: folder.id, empty: false },
    })
    expect(await fixture.namespace.remove(alice, at('f/l'))).toMatchObject({ parent: { empty: true } })
    expect(await fixture.namespace.remove(alice, at('f/l'))).toEqual({ outcome: 'missing' })
    expect(await fixture.namespace.remove(alice, at('f/'))).toEqual({ outcome: 'removed', id: folder.id })
  })

  test('of a file with another name does not say that its content is gone', async () => {
    await put('k')
    linkSync(join(directory, 'k'), join(directory, 'l'))
    expect(await fixture.namespace.remove(alice, at('k'))).toEqual({ outcome: 'removed' })
  })

  test('of a folder with entries does nothing but say so', async () => {
    await put('f/k')
    const { id } = await fixture.namespace.stat(alice, at('f/'))
    expect(await fixture.namespace.remove(alice, at('f/'))).toEqual({ outcome: 'notEmpty', id })
    expect(await get('f/k')).toBe('f/k')
  })

  test('by many at once succeeds once', async () => {
    await put('k')
    const removed = await Promise.all(Array.from({ length: 20 }, () => fixture.namespace.remove(alice, at('k'))))
    expect(removed.filter(({ outcome }) => outcome === 'removed')).toHaveLength(1)
  })
})

describe('a folder', () => {
  test('is made with its parents, and again', async () => {
    const made = await fixture.namespace.makeFolder(alice, at('x/y/z/'))
    expect(made).toMatchObject({ kind: 'folder', size: 0, uid: alice.uid })
    expect(await fixture.namespace.makeFolder(alice, at('x/y/z/'))).toEqual(made)
    expect((await fixture.namespace.open(alice, at('x/y/z/'))).file).toBeUndefined()
  })

  test('is not made in the place of a file or below one', async () => {
    await put('file')
    expect(await codeOf(fixture.namespace.makeFolder(alice, at('file/')))).toBe('ExistingObjectIsFile')
    expect(await codeOf(fixture.namespace.makeFolder(alice, at('file/x/')))).toBe('ObjectParentIsFile')
  })

  test('keeps its identity while files come and go, and a new one of its name has another', async () => {
    const { id } = await fixture.namespace.makeFolder(alice, at('f/'))
    await put('f/k')
    expect((await fixture.namespace.stat(alice, at('f/'))).id).toBe(id)
    rmSync(join(directory, 'f'), { recursive: true })
    expect((await fixture.namespace.makeFolder(alice, at('f/'))).id).not.toBe(id)
  })
})

describe('parts', () => {
  test('are the numbered files of a directory, by number', async () => {
    for (const key of ['1', '2', '10', '10000', '9', '010', '0', '10001', 'x', '1x']) await put(`up/${key}`, key)
    mkdirSync(join(directory, 'up/3'))
    const parts = await fixture.namespace.parts(alice, at('up/'))
    expect(parts.map(({ number, entry }) => [number, entry.size])).toEqual([
      [1, 1],
      [2, 1],
      [9, 1],
      [10, 2],
      [10_000, 5],
    ])
  })

  test('go with their directory, unless others have put something there', async () => {
    await put('up/1')
    await put('up/foreign')
    await fixture.namespace.removeParts(alice, at('up/'))
    expect(readdirSync(join(directory, 'up'))).toEqual(['foreign'])
    rmSync(join(directory, 'up/foreign'))
    await fixture.namespace.removeParts(alice, at('up/'))
    await fixture.namespace.removeParts(alice, at('up/'))
    expect(await codeOf(fixture.namespace.parts(alice, at('up/')))).toBe('NoSuchUpload')
  })
})

describe('the file system beside the gateway', () => {
  test('a file made by others is an object', async () => {
    writeFileSync(join(directory, 'foreign'), 'by cp')
    expect(await get('foreign')).toBe('by cp')
  })

  test('a file renamed by others keeps its identity', async () => {
    const { id } = await put('k', 'content')
    mkdirSync(join(directory, 'moved'))
    renameSync(join(directory, 'k'), join(directory, 'moved/k'))
    expect((await fixture.namespace.stat(root, at('moved/k'))).id).toBe(id)
  })

  test('a file changed by others has another identity', async () => {
    const { id } = await put('k', 'content')
    appendFileSync(join(directory, 'k'), '!')
    const appended = await fixture.namespace.stat(alice, at('k'))
    writeFileSync(join(directory, 'k'), 'contend!')
    const rewritten = await fixture.namespace.stat(alice, at('k'))
    expect(new Set([id, appended.id, rewritten.id]).size).toBe(3)
  })

  test('modes are those of the configuration, whatever the umask was', async () => {
    await put('d/k')
    expect(statSync(join(directory, 'd/k')).mode & 0o7777).toBe(0o644)
    expect(statSync(join(directory, 'd')).mode & 0o7777).toBe(0o755)
    expect(statSync(directory).mode & 0o7777).toBe(0o770)
  })

  test('symlinks are followed inside the namespace', async () => {
    await put('real/k', 'x')
    symlinkSync('real', join(directory, 'link'))
    symlinkSync(join(directory, 'real/k'), join(directory, 'absolute'))
    expect(await get('link/k')).toBe('x')
    expect(await get('absolute')).toBe('x')
    await put('link/new', 'y')
    expect(readFileSync(join(directory, 'real/new'), 'utf8')).toBe('y')
  })
})
