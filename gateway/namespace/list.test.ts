import { execFileSync, spawn } from 'node:child_process'
import { chmodSync, mkdirSync, readdirSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Identity } from '../identity/identity.ts'
import { alice, bob, codeOf, type Fixture, openFixture, root } from './namespace.fixture.ts'
import type { ListQuery } from './namespace.ts'

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

/** Makes the files and folders of these keys, as other programs would. */
function make(keys: readonly string[]): void {
  for (const key of keys) {
    const path = join(directory, key)
    if (key.endsWith('/')) mkdirSync(path, { recursive: true })
    else {
      mkdirSync(join(path, '..'), { recursive: true })
      writeFileSync(path, key)
    }
  }
}

function list(query: Partial<ListQuery> = {}, as: Identity = root) {
  return fixture.namespace.list(as, { bucket, prefix: '', delimiter: '', after: '', maxKeys: 1000, ...query })
}

/** All keys and common prefixes of a listing, taken in pages of this size. */
async function listAll(query: Partial<ListQuery> = {}, maxKeys = 1000) {
  const keys: string[] = []
  const prefixes: string[] = []
  let after = query.after ?? ''
  for (;;) {
    const page = await list({ ...query, after, maxKeys })
    const found = [...page.contents.map(({ key }) => key), ...page.commonPrefixes]
    expect(found.length).toBeLessThanOrEqual(maxKeys)
    keys.push(...page.contents.map(({ key }) => key))
    prefixes.push(...page.commonPrefixes)
    if (page.next === undefined) return { keys, prefixes }
    expect(found).toHaveLength(maxKeys)
    expect(found.sort(byBytes).at(-1)).toBe(page.next)
    after = page.next
  }
}

function byBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b))
}

/** What S3 would answer for these files, were every parent folder an object `name/` (spec §1.2). */
function model(files: readonly string[], { prefix = '', delimiter = '', after = '' }: Partial<ListQuery>) {
  const all = new Set<string>()
  for (const file of files) {
    for (let slash = file.indexOf('/'); slash >= 0; slash = file.indexOf('/', slash + 1))
      all.add(file.slice(0, slash + 1))
    all.add(file)
  }
  const keys: string[] = []
  const prefixes = new Set<string>()
  for (const key of [...all].sort(byBytes)) {
    if (!key.startsWith(prefix)) continue
    const at = delimiter === '' ? -1 : key.indexOf(delimiter, prefix.length)
    if (at >= 0) {
      const rolled = key.slice(0, at + delimiter.length)
      if (byBytes(rolled, after) > 0) prefixes.add(rolled)
    } else if (byBytes(key, after) > 0) keys.push(key)
  }
  return { keys, prefixes: [...prefixes] }
}

describe('the order', () => {
  test('is that of the bytes of full keys, folders with their slash (spec §1.2, order seen on S3)', async () => {
    make(['b-', 'b/1', 'b0', 'a', 'c/', 'b/0/x', 'b/0-', 'é', '\u{1f600}', '\uffee'])
    const { keys } = await listAll()
    expect(keys).toEqual(['a', 'b-', 'b/', 'b/0-', 'b/0/', 'b/0/x', 'b/1', 'b0', 'c/', 'é', '\uffee', '\u{1f600}'])
  })

  test('holds for names of any length and any common beginning', async () => {
    const names = Array.from({ length: 600 }, (_, index) => 'n'.repeat(index % 17) + 'x'.repeat(index % 120) + index)
    make([...names, ...names.map((name) => `${name}-folder/`)])
    expect((await listAll()).keys).toEqual(model([...names, ...names.map((name) => `${name}-folder/`)], {}).keys)
  })
})

test('any listing in pages of any size equals the whole listing, and the model', async () => {
  const segment = fc.constantFrom('a', 'b', 'b-', 'b0', 'c', '-', 'é', 'b--', 'ab', '+')
  const key = fc.array(segment, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('/'))
  const query = fc.record({
    prefix: fc.oneof(
      fc.constant(''),
      key,
      key.map((text) => `${text}/`),
      fc.constantFrom('a/b', 'b', '-', 'z', '/', 'a//', '.', 'é', 'b/b/b/b'),
    ),
    delimiter: fc.constantFrom('', '/', '-', 'b', '/b', '--', 'é', 'b/', 'zz', 'a/b'),
    after: fc.oneof(
      fc.constant(''),
      key,
      key.map((text) => `${text}/`),
      fc.constantFrom('b/', 'b.', 'c0', '~', '\u{1f600}'),
    ),
  })
  let round = 0
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(key, fc.boolean()), { maxLength: 25 }),
      fc.array(query, { minLength: 6, maxLength: 6 }),
      fc.integer({ min: 1, max: 7 }),
      async (entries, queries, maxKeys) => {
        round += 1
        bucket = `property-${round}`
        directory = join(fixture.root, bucket)
        mkdirSync(directory)
        // A file cannot be where a folder is: what would be in the way is left out.
        const made: string[] = []
        for (const [path, isFolder] of entries) {
          const name = isFolder ? `${path}/` : path
          const isInTheWay = made.some(
            (other) =>
              other.startsWith(`${path}/`) || path.startsWith(`${other}/`) || other.replace(/\/$/, '') === path,
          )
          if (isInTheWay && !(isFolder && made.some((other) => other.startsWith(`${path}/`)))) continue
          make([name])
          made.push(name)
        }
        for (const each of queries) {
          const expected = model(made, each)
          expect(await listAll(each)).toEqual(expected)
          expect(await listAll(each, maxKeys)).toEqual(expected)
        }
        rmSync(directory, { recursive: true })
      },
    ),
    { numRuns: 60 },
  )
}, 120_000)

describe('a page', () => {
  test('has entries with identity, size and time', async () => {
    const made = await fixture.put(alice, { bucket, key: 'f/k' }, 'hello')
    const { contents } = await list()
    expect(contents.map(({ key, entry }) => [key, entry.kind, entry.size, entry.uid, entry.links])).toEqual([
      ['f/', 'folder', 0, alice.uid, 2],
      ['f/k', 'file', 5, alice.uid, 1],
    ])
    expect(contents[1]?.entry).toMatchObject({ id: made.id, modifiedMs: made.modifiedMs })
    expect(contents[0]?.entry.id).toBe((await fixture.namespace.stat(alice, { bucket, key: 'f/' })).id)
  })

  test('that is just full is not cut (spec §4 listing rule 3)', async () => {
    make(['a', 'b', 'c'])
    expect((await list({ maxKeys: 3 })).next).toBeUndefined()
    expect((await list({ maxKeys: 2 })).next).toBe('b')
  })

  test('of no keys is empty and not cut', async () => {
    make(['a'])
    expect(await list({ maxKeys: 0 })).toEqual({ contents: [], commonPrefixes: [], next: undefined })
  })

  test('of a folder begins with the folder itself (S3A needs it)', async () => {
    make(['d/', 'e/x'])
    expect((await listAll({ prefix: 'd/' })).keys).toEqual(['d/'])
    expect((await listAll({ prefix: 'e/', delimiter: '/' })).keys).toEqual(['e/', 'e/x'])
    expect((await listAll({ prefix: 'e' })).keys).toEqual(['e/', 'e/x'])
  })

  test.each(['missing/', 'missing/x', 'file/', 'file/x', '/', 'a//', '../', '.s3proxy/', './', 'x\0y/'])(
    'of the prefix %j, which no key can have, is empty (S3A needs it)',
    async (prefix) => {
      make(['file', 'a/b'])
      expect(await listAll({ prefix })).toEqual({ keys: [], prefixes: [] })
    },
  )

  test('of a missing bucket is NoSuchBucket, whatever the prefix', async () => {
    for (const prefix of ['', 'a/', '../', '/']) {
      expect(await codeOf(list({ bucket: 'missing', prefix }))).toBe('NoSuchBucket')
    }
  })

  test('goes on where the marker lies in the middle of a common prefix', async () => {
    make(['a/1', 'a/2', 'b'])
    expect(await listAll({ delimiter: '/', after: 'a/1' })).toEqual({ keys: ['b'], prefixes: [] })
  })
})

describe('what is no object', () => {
  test('is not shown: FIFOs, hidden and reserved names, names that are no text', async () => {
    make(['k', '.hidden', '.s3proxy-temp', '.s3proxyfolder/x', 'd/.s3proxy-1'])
    execFileSync('mkfifo', [join(directory, 'fifo')])
    writeFileSync(Buffer.concat([Buffer.from(`${directory}/`), Buffer.from([0x66, 0xff])]), '')
    writeFileSync(join(directory, 'control\x01'), '')
    writeFileSync(join(directory, 'not-a-character\uffff'), '')
    writeFileSync(join(directory, 'tab\t'), '')
    expect((await listAll()).keys).toEqual(['.hidden', 'd/', 'k', 'tab\t'])
  })

  test('symlinks to files are shown, those to folders are not gone into, others not shown', async () => {
    make(['real/k'])
    symlinkSync('real/k', join(directory, 'link'))
    symlinkSync('real', join(directory, 'folder'))
    symlinkSync('.', join(directory, 'loop'))
    symlinkSync('nowhere', join(directory, 'broken'))
    symlinkSync('/etc/passwd', join(directory, 'outside'))
    symlinkSync('/etc', join(directory, 'outside-folder'))
    expect((await listAll()).keys).toEqual(['folder/', 'link', 'loop/', 'real/', 'real/k'])
    expect(await listAll({ delimiter: '/' })).toEqual({ keys: ['link'], prefixes: ['folder/', 'loop/', 'real/'] })
    expect((await listAll({ prefix: 'folder/' })).keys).toEqual(['folder/', 'folder/k'])
    expect((await list({ prefix: 'link' })).contents[0]?.entry).toMatchObject({ kind: 'file', size: 6 })
  })

  test('a symlink whose target changes its kind is shown as what it is now', async () => {
    make(['target'])
    symlinkSync('target', join(directory, 'link'))
    await settle()
    expect((await listAll()).keys).toEqual(['link', 'target'])
    rmSync(join(directory, 'target'))
    make(['target/x'])
    expect((await listAll()).keys).toEqual(['link/', 'target/', 'target/x'])
  })
})

/** Makes the bucket's directory look unchanged for long, so that listings of it are kept. */
async function settle(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 2100))
}

describe('permissions', () => {
  test('a bucket that cannot be read is AccessDenied, for the same kept listing too', async () => {
    make(['k'])
    chmodSync(directory, 0o700)
    await settle()
    expect((await list({}, alice)).contents).toHaveLength(1)
    expect(await codeOf(list({}, bob))).toBe('AccessDenied')
    chmodSync(directory, 0o755)
    expect((await list({}, bob)).contents).toHaveLength(1)
  })

  test('a folder that cannot be read is an entry without contents, and AccessDenied as a prefix', async () => {
    make(['a', 'closed/k', 'z'])
    chmodSync(directory, 0o755)
    chmodSync(join(directory, 'closed'), 0o700)
    const keys = (await list({}, bob)).contents.map(({ key }) => key)
    expect(keys).toEqual(['a', 'closed/', 'z'])
    expect(await codeOf(list({ prefix: 'closed/' }, bob))).toBe('AccessDenied')
  })

  test('a folder that can be read but not searched has no contents either', async () => {
    make(['a', 'names/k', 'names/l', 'z'])
    chmodSync(directory, 0o755)
    chmodSync(join(directory, 'names'), 0o744)
    const keys = (await list({}, bob)).contents.map(({ key }) => key)
    expect(keys).toEqual(['a', 'names/', 'z'])
    expect(await codeOf(list({ prefix: 'names/' }, bob))).toBe('AccessDenied')
  })
})

describe('a kept listing', () => {
  test('is not believed once the directory has changed, also when its modification time was set back', async () => {
    make(['a', 'b'])
    await settle()
    expect((await listAll()).keys).toEqual(['a', 'b'])
    make(['c'])
    utimesSync(directory, 1, 1)
    expect((await listAll()).keys).toEqual(['a', 'b', 'c'])
    renameSync(join(directory, 'a'), join(directory, 'd'))
    expect((await listAll()).keys).toEqual(['b', 'c', 'd'])
  })

  test('never hides a change, however fast changes and listings follow each other', async () => {
    for (let round = 0; round < 200; round += 1) {
      const key = `k${round % 10}`
      if (round % 20 < 10) {
        make([key])
        expect((await listAll()).keys).toContain(key)
      } else {
        rmSync(join(directory, key))
        expect((await listAll()).keys).not.toContain(key)
      }
    }
  })
})

describe('a large folder that changes all the time', () => {
  const names = Array.from({ length: 800 }, (_, index) => `name-${index}`)

  test('is listed as it is at every moment, whoever changes it', async () => {
    make(names)
    const files = new Set(names)
    const expectAll = async () => expect(await listAll()).toEqual(model([...files], {}))
    await expectAll()
    await expectAll()
    for (let round = 0; round < 120; round += 1) {
      const [old, next] = [`name-${(round * 37) % 800}`, `new-${round}`]
      if (round % 4 === 0) {
        make([next])
        files.add(next)
      } else if (round % 4 === 1) {
        rmSync(join(directory, old), { force: true, recursive: true })
        files.delete(old)
      } else if (round % 4 === 2 && files.has(old)) {
        renameSync(join(directory, old), join(directory, `moved-${old}`))
        files.delete(old)
        files.add(`moved-${old}`)
      } else {
        await fixture.put(root, { bucket, key: `put/${next}` }, 'x')
        await fixture.put(root, { bucket, key: next }, 'x')
        files.add(`put/${next}`).add(next)
      }
      await expectAll()
    }
    expect(await listAll({ delimiter: '/' }, 100)).toEqual(model([...files], { delimiter: '/' }))
    expect(await listAll({ prefix: 'new-1', delimiter: '-' }, 7)).toEqual(
      model([...files], { prefix: 'new-1', delimiter: '-' }),
    )
  })

  test('has new symlinks, folders and odd names as any other', async () => {
    make(names)
    await listAll()
    make(['zz-1'])
    await listAll()
    make(['zz-folder/x', '.s3proxy-hidden'])
    symlinkSync('zz-folder', join(directory, 'zz-link'))
    symlinkSync('zz-1', join(directory, 'zz-file'))
    symlinkSync('nowhere', join(directory, 'zz-broken'))
    execFileSync('mkfifo', [join(directory, 'zz-fifo')])
    writeFileSync(Buffer.concat([Buffer.from(`${directory}/zz`), Buffer.from([0xff])]), '')
    const { keys } = await listAll({ prefix: 'zz' })
    expect(keys).toEqual(['zz-1', 'zz-file', 'zz-folder/', 'zz-folder/x', 'zz-link/'])
    rmSync(join(directory, 'zz-link'))
    make(['zz-link'])
    expect((await listAll({ prefix: 'zz-l' })).keys).toEqual(['zz-link'])
  })

  test('is listed whole while another process turns it over', async () => {
    make([...names, ...names.slice(0, 50).map((name) => `d/${name}`)])
    await listAll()
    const churn = spawn(process.execPath, ['-e', turnOver, directory])
    await new Promise((resolve) => churn.stdout.once('data', resolve))
    for (let round = 0; round < 40; round += 1) {
      const { keys } = await listAll({}, 300)
      expect(keys.filter((key) => key.startsWith('name-'))).toEqual([...names].sort(byBytes))
      expect([...keys].sort(byBytes)).toEqual(keys)
    }
    const ended = new Promise((resolve) => churn.once('exit', resolve))
    churn.kill('SIGKILL')
    await ended
    expect((await listAll()).keys).toEqual(model(filesBelow(directory), {}).keys)
  })
})

/** Makes and removes files and folders as fast as it can. */
const turnOver = `
  const fs = require('node:fs'), dir = process.argv[1]
  console.log('turning')
  for (let n = 0; ; n += 1) {
    const path = dir + '/churn-' + (n % 300)
    if (n % 3 === 0) { fs.mkdirSync(path); fs.writeFileSync(path + '/x', ''); fs.rmSync(path, { recursive: true }) }
    else { fs.writeFileSync(path, ''); fs.renameSync(path, dir + '/d/' + n % 7); if (n % 5) fs.rmSync(dir + '/d/' + n % 7) }
  }`

function filesBelow(path: string): string[] {
  const entries = readdirSync(path, { recursive: true, withFileTypes: true })
  return entries.map((entry) => {
    const key = relative(path, join(entry.parentPath, entry.name))
    return entry.isDirectory() ? `${key}/` : key
  })
}

describe('with little memory for listings', () => {
  let small: Fixture
  beforeAll(async () => {
    small = await openFixture({ listMemory: 8192 })
  })
  afterAll(() => small.close())

  test.each([0, 2100])('a large directory is listed whole, %i ms after its last change', async (pause) => {
    const names = Array.from({ length: 3000 }, (_, index) => (index * 7919) % 3000).map((n) => `name-${n}`)
    const name = `large-${pause}`
    await small.namespace.createBucket(alice, name)
    for (const file of names) {
      if (file.endsWith('7')) mkdirSync(join(small.root, name, file))
      else writeFileSync(join(small.root, name, file), '')
    }
    await new Promise((resolve) => setTimeout(resolve, pause))
    const keys: string[] = []
    for (let after: string | undefined = ''; after !== undefined; ) {
      const page = await small.namespace.list(alice, { bucket: name, prefix: '', delimiter: '', after, maxKeys: 400 })
      keys.push(...page.contents.map(({ key }) => key))
      after = page.next
    }
    expect(keys).toEqual(names.map((file) => (file.endsWith('7') ? `${file}/` : file)).sort(byBytes))
    const rolled = await small.namespace.list(alice, {
      bucket: name,
      prefix: 'name-',
      delimiter: '1',
      after: '',
      maxKeys: 1000,
    })
    expect(rolled.commonPrefixes.length).toBeGreaterThan(10)
    expect(new Set(rolled.commonPrefixes).size).toBe(rolled.commonPrefixes.length)
  })
})
