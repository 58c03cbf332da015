import { spawn } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { alice, bob, codeOf, type Fixture, makeRoot, openFixture, root, user } from './namespace.fixture.ts'
import { setDefaultAcl } from './posix-acl.fixture.ts'

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
  chmodSync(directory, 0o755)
})

function at(key: string) {
  return { bucket, key }
}

test('the kernel enforces who acts here, or these tests would prove nothing', () => {
  expect(fixture.namespace.features).toEqual({ tmpfile: true, enforcedIdentity: true })
})

describe('an acting user', () => {
  test('owns what it makes, folders too', async () => {
    await fixture.put(alice, at('d/k'), 'x')
    const owners = ['d', 'd/k'].map((path) => [
      statSync(join(directory, path)).uid,
      statSync(join(directory, path)).gid,
    ])
    expect(owners).toEqual([
      [alice.uid, alice.gid],
      [alice.uid, alice.gid],
    ])
  })

  test('is stopped at what is closed to it (spec §5.7)', async () => {
    await fixture.put(alice, at('d/k'), 'secret')
    chmodSync(join(directory, 'd/k'), 0o600)
    expect(await codeOf(fixture.get(bob, at('d/k')))).toBe('AccessDenied')
    expect(await codeOf(fixture.namespace.stat(bob, at('d/k')))).toBe('AccessDenied')
    expect(await codeOf(fixture.put(bob, at('d/k'), 'x'))).toBe('AccessDenied')
    expect(await codeOf(fixture.put(bob, at('d/new'), 'x'))).toBe('AccessDenied')
    expect(await codeOf(fixture.put(bob, at('new/deep'), 'x'))).toBe('AccessDenied')
    expect(await codeOf(fixture.namespace.remove(bob, at('d/k')))).toBe('AccessDenied')
    expect(await codeOf(fixture.namespace.makeFolder(bob, at('f/')))).toBe('AccessDenied')
    expect(await fixture.get(alice, at('d/k'))).toBe('secret')
    expect(await fixture.get(root, at('d/k'))).toBe('secret')
  })

  test('does not learn what is in a folder it may not search', async () => {
    await fixture.put(alice, at('d/k'), 'x')
    chmodSync(join(directory, 'd'), 0o700)
    expect(await codeOf(fixture.get(bob, at('d/k')))).toBe('AccessDenied')
    expect(await codeOf(fixture.get(bob, at('d/missing')))).toBe('AccessDenied')
    expect((await fixture.namespace.stat(bob, at('d/'))).kind).toBe('folder')
  })

  test('may what its supplementary groups may', async () => {
    const team = 20_010
    mkdirSync(join(directory, 'shared'))
    chownSync(join(directory, 'shared'), 0, team)
    chmodSync(join(directory, 'shared'), 0o770)
    const member = user('bob', bob.uid, { groups: [bob.gid, team] })
    expect(await codeOf(fixture.put(bob, at('shared/k'), 'x'))).toBe('AccessDenied')
    expect(await codeOf(fixture.put(member, at('shared/k'), 'x'))).toBeUndefined()
  })

  test('takes nothing of the one before it on the same thread', async () => {
    await fixture.put(alice, at('k'), 'x')
    chmodSync(join(directory, 'k'), 0o600)
    const codes = await Promise.all(
      Array.from({ length: 400 }, (_, index) => codeOf(fixture.get([alice, bob, root][index % 3] ?? bob, at('k')))),
    )
    expect(codes).toEqual(codes.map((_, index) => (index % 3 === 1 ? 'AccessDenied' : undefined)))
  })

  test('needs write permission to change tags (forChange)', async () => {
    await fixture.put(alice, at('k'), 'x')
    await fixture.namespace.makeFolder(alice, at('f/'))
    for (const key of ['k', 'f/']) {
      expect(await codeOf(fixture.namespace.stat(bob, at(key), { forChange: true }))).toBe('AccessDenied')
      expect(await codeOf(fixture.namespace.stat(bob, at(key)))).toBeUndefined()
      expect(await codeOf(fixture.namespace.stat(alice, at(key), { forChange: true }))).toBeUndefined()
    }
    expect(await codeOf(fixture.namespace.statBucket(bob, bucket, { forChange: true }))).toBe('AccessDenied')
    expect(await codeOf(fixture.namespace.statBucket(alice, bucket, { forChange: true }))).toBeUndefined()
  })

  test('cannot replace another’s file in a sticky directory', async () => {
    mkdirSync(join(directory, 'tmp'))
    chmodSync(join(directory, 'tmp'), 0o1777)
    await fixture.put(alice, at('tmp/k'), 'alice')
    expect(await codeOf(fixture.put(bob, at('tmp/k'), 'bob'))).toBe('AccessDenied')
    expect(await codeOf(fixture.namespace.remove(bob, at('tmp/k')))).toBe('AccessDenied')
    expect(readdirSync(join(directory, 'tmp'))).toEqual(['k'])
  })
})

describe('new files', () => {
  test('get the group of a setgid directory, and new folders go on with it', async () => {
    chownSync(directory, alice.uid, 20_011)
    chmodSync(directory, 0o2775)
    await fixture.put(alice, at('k'), 'x')
    await fixture.put(alice, at('d/k'), 'x')
    expect(['k', 'd', 'd/k'].map((path) => statSync(join(directory, path)).gid)).toEqual([20_011, 20_011, 20_011])
    expect(statSync(join(directory, 'd')).mode & 0o2000).toBe(0o2000)
  })

  test.each([false, true])('get the default ACL of their directory, not the umask (named: %s)', async (named) => {
    const acl = { owner: 7, user: [bob.uid, 7], group: 0, mask: 7, other: 0 } as const
    setDefaultAcl(directory, acl)
    const temp = named ? { temp: fixture.namespace.tempName(at('k')) } : {}
    const staged = await fixture.namespace.stage(alice, at('k'), { digests: [], bytes: Buffer.from('x'), ...temp })
    await staged.finish({ sync: false })
    await staged.publish({ ifAbsent: false, sync: false })
    // The mode's group bits are the ACL's mask, cut by the configured 0644 as open(2) does: read for the named user.
    expect(statSync(join(directory, 'k')).mode & 0o777).toBe(0o640)
    expect(await fixture.get(bob, at('k'))).toBe('x')
    expect(await codeOf(fixture.get(user('carol', 20_003), at('k')))).toBe('AccessDenied')
    await fixture.put(alice, at('d/k'), 'x')
    chmodSync(directory, 0o755)
    expect(await fixture.get(bob, at('d/k'))).toBe('x')
  })

  test('get the modes of the configuration exactly', async () => {
    const other = await openFixture({ fileMode: '0666', directoryMode: '2777', bucketMode: '0707' })
    await other.namespace.createBucket(alice, 'b')
    await other.put(alice, { bucket: 'b', key: 'd/k' }, 'x')
    const modes = ['b', 'b/d', 'b/d/k'].map((path) => statSync(join(other.root, path)).mode & 0o777)
    expect(modes).toEqual([0o707, 0o777, 0o666])
    await other.close()
  })
})

describe('symlinks', () => {
  test('out of the namespace lead nowhere, for reading and writing, files and parents', async () => {
    const outside = makeRoot()
    writeFileSync(join(outside, 'secret'), 'secret')
    chmodSync(outside, 0o777)
    symlinkSync(join(outside, 'secret'), join(directory, 'file'))
    symlinkSync(outside, join(directory, 'folder'))
    symlinkSync('../../../../../../../../etc', join(directory, 'relative'))
    symlinkSync('/proc/self/root', join(directory, 'magic'))
    for (const key of ['file', 'folder/secret', 'relative/passwd', 'magic/etc/passwd']) {
      expect(await codeOf(fixture.get(root, at(key)))).toBe('NoSuchKey')
      expect(await codeOf(fixture.namespace.stat(root, at(key)))).toBe('NoSuchKey')
    }
    for (const key of ['folder/new', 'relative/new', 'magic/tmp/new', 'folder/a/b']) {
      expect(await codeOf(fixture.put(root, at(key), 'x'))).toBe('AccessDenied')
      expect(await codeOf(fixture.namespace.makeFolder(root, at(`${key}/`)))).toBe('AccessDenied')
      expect(await fixture.namespace.remove(root, at(key))).toEqual({ outcome: 'missing' })
    }
    expect(readdirSync(outside)).toEqual(['secret'])
    expect(await codeOf(fixture.namespace.list(root, query({ prefix: 'folder/' })))).toBeUndefined()
    expect((await fixture.namespace.list(root, query({ prefix: 'folder/' }))).contents).toEqual([])
    expect(await codeOf(fixture.namespace.statBucket(root, `${bucket}/folder`))).toBe('NoSuchBucket')
  })

  test.each([true, false])('do not lead to what is reserved (openat2: %s)', async (openat2) => {
    const other = await openFixture({}, openat2)
    await other.namespace.createBucket(root, 'b')
    mkdirSync(join(other.root, 'b/.s3proxy-x'))
    writeFileSync(join(other.root, '.s3proxy/users/name-x'), '7')
    for (const [name, target] of [
      ['central', '../.s3proxy'],
      ['users', join(other.root, '.s3proxy/users')],
      ['record', '../.s3proxy/users/name-x'],
      ['hidden', '.s3proxy-x'],
      ['up', '..'],
    ] as const) {
      symlinkSync(target, join(other.root, 'b', name))
    }
    symlinkSync('.s3proxy', join(other.root, 'bucket'))
    const at = (key: string) => ({ bucket: 'b', key })
    for (const key of ['central/users/name-x', 'users/name-x', 'record']) {
      expect([key, await codeOf(other.get(root, at(key)))]).toEqual([key, 'NoSuchKey'])
      expect([key, await codeOf(other.namespace.stat(root, at(key)))]).toEqual([key, 'NoSuchKey'])
    }
    for (const key of ['central/new', 'users/new', 'hidden/new']) {
      expect([key, await codeOf(other.put(root, at(key), 'x'))]).toEqual([key, 'AccessDenied'])
    }
    expect(await codeOf(other.namespace.statBucket(root, 'bucket'))).toBe('NoSuchBucket')
    const page = await other.namespace.list(root, { bucket: 'b', prefix: '', delimiter: '', after: '', maxKeys: 100 })
    expect(page.contents.map(({ key }) => key)).toEqual(['up/'])
    expect(readdirSync(join(other.root, '.s3proxy/users'))).toEqual(['name-x'])
    await other.close()
  })

  test('are replaced, not written through, by a PUT of their own key', async () => {
    await fixture.put(alice, at('target'), 'old')
    symlinkSync('target', join(directory, 'link'))
    await fixture.put(alice, at('link'), 'new')
    expect([await fixture.get(alice, at('target')), await fixture.get(alice, at('link'))]).toEqual(['old', 'new'])
  })

  test('go themselves when they are deleted, as what they are shown as', async () => {
    mkdirSync(join(directory, 'real'))
    writeFileSync(join(directory, 'real/k'), 'x')
    symlinkSync('real', join(directory, 'folder'))
    symlinkSync('real/k', join(directory, 'file'))
    symlinkSync('nowhere', join(directory, 'broken'))
    const remove = async (key: string) => (await fixture.namespace.remove(alice, at(key))).outcome
    expect([await remove('folder'), await remove('file/'), await remove('broken')]).toEqual(Array(3).fill('missing'))
    expect([await remove('folder/'), await remove('file')]).toEqual(['removed', 'removed'])
    expect(readdirSync(directory).sort()).toEqual(['broken', 'real'])
    expect(existsSync(join(directory, 'real/k'))).toBe(true)
  })

  test.each([true, false])(
    'that a parent is swapped for meanwhile never let a byte out (openat2: %s)',
    async (openat2) => {
      const outside = makeRoot()
      chmodSync(outside, 0o777)
      const other = await openFixture({ root: makeRoot() }, openat2)
      const inside = join(other.root, 'b')
      mkdirSync(join(inside, 'real'), { recursive: true })
      symlinkSync('real', join(inside, 'p'))
      const swapper = spawn(process.execPath, ['-e', swapForEver, inside, outside])
      await new Promise((resolve) => swapper.stdout.once('data', resolve))
      const codes = new Set<string | undefined>()
      const end = performance.now() + 1500
      while (performance.now() < end) {
        const keys = Array.from({ length: 20 }, (_, index) => ({ bucket: 'b', key: `p/k${index}` }))
        for (const code of await Promise.all(keys.map((key) => codeOf(other.put(root, key, 'x'))))) codes.add(code)
        for (const code of await Promise.all(keys.map((key) => codeOf(other.get(root, key))))) codes.add(code)
        await Promise.all(keys.map((key) => codeOf(other.namespace.remove(root, key))))
      }
      const ended = new Promise((resolve) => swapper.once('exit', resolve))
      swapper.kill('SIGKILL')
      await ended
      await other.close()
      expect(codes).toEqual(new Set([undefined, 'AccessDenied', 'NoSuchKey']))
      expect(readdirSync(outside)).toEqual([])
    },
  )
})

/** Lets `p` lead inside and outside by turns, atomically, as fast as it can. */
const swapForEver = `
  const { renameSync, symlinkSync } = require('node:fs')
  const [inside, outside] = process.argv.slice(1)
  console.log('swapping')
  for (;;) {
    for (const target of [outside, 'real']) {
      symlinkSync(target, inside + '/next')
      renameSync(inside + '/next', inside + '/p')
    }
  }`

function query(more: { prefix: string }, of = bucket) {
  return { bucket: of, delimiter: '', after: '', maxKeys: 1000, ...more }
}

describe('without enforced identity', () => {
  let plain: Fixture
  beforeAll(async () => {
    plain = await openFixture({ identityMode: 'process' })
  })
  afterAll(() => plain.close())

  test('everything belongs to the process user, and the owner of the bucket decides', async () => {
    expect(plain.namespace.features.enforcedIdentity).toBe(false)
    const made = await plain.namespace.createBucket(alice, 'owned')
    expect(made.uid).toBe(alice.uid)
    const target = { bucket: 'owned', key: 'd/k' }
    await plain.put(alice, target, 'x')
    expect(statSync(join(plain.root, 'owned/d/k')).uid).toBe(process.getuid?.())
    expect(await plain.get(bob, target)).toBe('x')
    expect((await plain.namespace.list(bob, query({ prefix: '' }, 'owned'))).contents).toHaveLength(2)
    expect(await codeOf(plain.put(bob, target, 'y'))).toBe('AccessDenied')
    expect(await codeOf(plain.namespace.remove(bob, target))).toBe('AccessDenied')
    expect(await codeOf(plain.namespace.makeFolder(bob, { bucket: 'owned', key: 'f/' }))).toBe('AccessDenied')
    expect(await codeOf(plain.namespace.stat(bob, target, { forChange: true }))).toBe('AccessDenied')
    expect(await codeOf(plain.namespace.statBucket(bob, 'owned', { forChange: true }))).toBe('AccessDenied')
    expect(await codeOf(plain.namespace.createBucket(bob, 'owned/nested'))).toBe('AccessDenied')
    expect(await codeOf(plain.namespace.removeBucket(bob, 'owned'))).toBe('AccessDenied')
    expect(await codeOf(plain.put(root, target, 'z'))).toBeUndefined()
    expect(await plain.namespace.remove(alice, target)).toMatchObject({ outcome: 'removed' })
  })

  test('a nested bucket belongs to the owner of the bucket it lies in', async () => {
    await plain.namespace.createBucket(alice, 'outer')
    expect((await plain.namespace.createBucket(alice, 'outer/inner')).path).toBe('outer/inner')
    expect(await codeOf(plain.put(alice, { bucket: 'outer/inner', key: 'k' }, 'x'))).toBeUndefined()
    expect(await codeOf(plain.put(bob, { bucket: 'outer/inner', key: 'k' }, 'x'))).toBe('AccessDenied')
  })

  test('who owns the bucket that a path really lies in decides, whatever links lead there', async () => {
    await plain.namespace.createBucket(alice, 'hers')
    await plain.namespace.createBucket(bob, 'his')
    await plain.put(alice, { bucket: 'hers', key: 'd/x' }, 'x')
    const his = join(plain.root, 'his')
    symlinkSync('../hers', join(his, 'to'))
    symlinkSync('../hers/d/x', join(his, 'file'))
    symlinkSync('..', join(his, 'up'))
    symlinkSync('hers/d', join(plain.root, 'linked'))
    const denied = [
      plain.put(bob, { bucket: 'his', key: 'to/evil' }, 'x'),
      plain.put(bob, { bucket: 'his', key: 'to/new/deep/evil' }, 'x'),
      plain.put(bob, { bucket: 'his/to', key: 'evil' }, 'x'),
      plain.put(bob, { bucket: 'his', key: 'up/evil' }, 'x'),
      plain.put(bob, { bucket: 'his', key: 'up/hers/evil' }, 'x'),
      plain.put(bob, { bucket: 'linked', key: 'evil' }, 'x'),
      plain.namespace.remove(bob, { bucket: 'his', key: 'to/d/x' }),
      plain.namespace.removeParts(bob, { bucket: 'his', key: 'to/d/' }),
      plain.namespace.makeFolder(bob, { bucket: 'his', key: 'to/evil/' }),
      plain.namespace.stat(bob, { bucket: 'his', key: 'file' }, { forChange: true }),
      plain.namespace.statBucket(bob, 'his/to', { forChange: true }),
      plain.namespace.createBucket(bob, 'his/to/evil'),
      plain.namespace.removeBucket(bob, 'his/to/d'),
    ]
    expect(await Promise.all(denied.map(codeOf))).toEqual(denied.map(() => 'AccessDenied'))
    expect(readdirSync(join(plain.root, 'hers'), { recursive: true }).sort()).toEqual(['d', 'd/x'])
    expect(await codeOf(plain.put(alice, { bucket: 'his', key: 'to/hers' }, 'x'))).toBeUndefined()
    expect(await codeOf(plain.put(alice, { bucket: 'linked', key: 'k' }, 'x'))).toBeUndefined()
    expect(await codeOf(plain.put(bob, { bucket: 'his', key: 'new/deep/k' }, 'x'))).toBeUndefined()
    expect(await plain.namespace.remove(bob, { bucket: 'his', key: 'to/' })).toMatchObject({ outcome: 'removed' })
    expect(await codeOf(plain.put(alice, { bucket: 'his', key: 'k' }, 'x'))).toBe('AccessDenied')
  })

  test('who owns a bucket survives a restart and a rename, and ends with the bucket', async () => {
    const directory = makeRoot()
    const first = await openFixture({ root: directory, identityMode: 'process' })
    await first.namespace.createBucket(alice, 'b')
    await first.namespace.close()
    renameSync(join(directory, 'b'), join(directory, 'c'))
    const second = await openFixture({ root: directory, identityMode: 'process' })
    expect((await second.namespace.listBuckets(root)).map(({ path, uid }) => [path, uid])).toEqual([['c', alice.uid]])
    await second.namespace.removeBucket(alice, 'c')
    expect((await second.namespace.createBucket(bob, 'c')).uid).toBe(bob.uid)
    expect(await codeOf(second.put(alice, { bucket: 'c', key: 'k' }, 'x'))).toBe('AccessDenied')
    await second.close()
  })

  test('a directory that was made by others belongs to whom the file system says', async () => {
    mkdirSync(join(plain.root, 'foreign'))
    chownSync(join(plain.root, 'foreign'), bob.uid, bob.gid)
    expect((await plain.namespace.statBucket(bob, 'foreign')).uid).toBe(bob.uid)
    expect(await codeOf(plain.put(bob, { bucket: 'foreign', key: 'k' }, 'x'))).toBeUndefined()
    expect(await codeOf(plain.put(alice, { bucket: 'foreign', key: 'k' }, 'x'))).toBe('AccessDenied')
  })
})
