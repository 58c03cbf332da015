import { execFileSync } from 'node:child_process'
import { chmodSync, closeSync, mkdirSync, readFileSync, readSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { CachedReads } from './cached-reads.ts'
import { keyPath } from './key-path.ts'
import { alice, bob, codeOf, type Fixture, openFixture, root, user } from './namespace.fixture.ts'
import type { Namespace, Opened } from './namespace.ts'
import { openNamespace } from './posix.ts'

let fixture: Fixture
let threads: Namespace
let reads: CachedReads
let directory: string

const none: readonly number[] = []
const aliceActs = { uid: alice.uid, gid: alice.gid, groups: none }
const bobActs = { uid: bob.uid, gid: bob.gid, groups: none }

beforeAll(async () => {
  fixture = await openFixture()
  threads = await openNamespace({ config: fixture.config, cachedReads: false })
  reads = openReads()
  await fixture.namespace.createBucket(alice, 'bucket')
  directory = join(fixture.root, 'bucket')
  chmodSync(directory, 0o755)
})
afterAll(async () => {
  reads.close()
  await threads.close()
  await fixture.close()
})

function openReads({ openat2 = true, at = fixture.root } = {}): CachedReads {
  const modes = { fileMode: 0o644, directoryMode: 0o755, bucketMode: 0o770 }
  return new CachedReads({ root: at, enforced: true, ...modes, listMemory: 0, clockOffset: 0n, openat2 })
}

function identity(): string {
  const status = readFileSync('/proc/thread-self/status', 'latin1')
  return [...status.matchAll(/^([UG]id|Groups):.*$/gm)].map(([line]) => line.trim()).join('; ')
}

describe('a file in memory', () => {
  beforeEach(async () => {
    await fixture.put(alice, { bucket: 'bucket', key: 'a/small' }, 'content')
    await fixture.get(alice, { bucket: 'bucket', key: 'a/small' })
  })

  test('is read without a thread', async () => {
    const found = await reads.open(aliceActs, 'bucket', keyPath('a/small'), 100)
    expect(found?.bytes?.toString()).toBe('content')
    expect((await reads.stat(aliceActs, 'bucket', keyPath('a/small')))?.entry).toEqual(found?.entry)
  })

  test('that is larger than wanted inline comes as a descriptor, which reads it', async () => {
    const found = await reads.open(aliceActs, 'bucket', keyPath('a/small'), 6)
    expect(found?.bytes).toBeUndefined()
    const bytes = Buffer.alloc(20)
    const fd = found?.fd ?? -1
    expect(bytes.toString('utf8', 0, readSync(fd, bytes))).toBe('content')
    closeSync(fd)
  })

  test('is closed to others as on the threads, and the event loop is itself again', async () => {
    chmodSync(join(directory, 'a/small'), 0o600)
    const before = identity()
    const key = keyPath('a/small')
    const found = await Promise.all([
      reads.open(aliceActs, 'bucket', key, 100),
      reads.open(bobActs, 'bucket', key, 100),
      reads.stat(bobActs, 'bucket', key),
      reads.stat(undefined, 'bucket', key),
      reads.open(aliceActs, 'bucket', key, 100),
    ])
    expect(found.map((one) => one?.entry[2])).toEqual([7, undefined, undefined, 7, 7])
    expect(identity()).toBe(before)
    expect(await codeOf(fixture.namespace.open(bob, { bucket: 'bucket', key: 'a/small' }))).toBe('AccessDenied')
    expect(await codeOf(fixture.namespace.stat(bob, { bucket: 'bucket', key: 'a/small' }))).toBe('AccessDenied')
    expect((await fixture.namespace.stat(root, { bucket: 'bucket', key: 'a/small' })).size).toBe(7)
  })

  test('is open to who has its group among the supplementary ones, and not to the next', async () => {
    const member = user('member', 20_077, { groups: [20_077, alice.gid] })
    chmodSync(join(directory, 'a/small'), 0o640)
    const key = keyPath('a/small')
    const acting = { uid: member.uid, gid: member.gid, groups: [alice.gid] }
    const found = await Promise.all([acting, bobActs, acting].map((as) => reads.open(as, 'bucket', key, 100)))
    expect(found.map((one) => one?.bytes?.length)).toEqual([7, undefined, 7])
  })

  test('has the bytes of its own when many are read in one turn, and they stay so', async () => {
    const keys = Array.from({ length: 60 }, (_, index) => `many/${index}`)
    const contents = keys.map((key, index) => key.padEnd(1 + index * 400, '.'))
    await Promise.all(keys.map((key, index) => fixture.put(alice, { bucket: 'bucket', key }, contents[index] ?? '')))
    const found = await Promise.all(keys.map((key) => reads.open(aliceActs, 'bucket', keyPath(key), 1 << 20)))
    await Promise.all(keys.map((key) => reads.open(aliceActs, 'bucket', keyPath(key), 1 << 20)))
    expect(found.map((one) => one?.bytes?.toString())).toEqual(contents)
  })
})

describe('is left to the threads', () => {
  test('what is missing, a folder, what is no file, and what leads elsewhere', async () => {
    mkdirSync(join(directory, 'odd/folder'), { recursive: true })
    execFileSync('mkfifo', [join(directory, 'odd/fifo')])
    const socket = createServer().listen(join(directory, 'odd/socket'))
    symlinkSync('/etc/passwd', join(directory, 'odd/out'))
    for (const key of ['odd/missing', 'odd/folder', 'odd/folder/', 'odd/fifo', 'odd/socket', 'odd/out', 'odd/out/x']) {
      expect([key, await reads.open(undefined, 'bucket', keyPath(key), 100)]).toEqual([key, undefined])
      expect([key, await reads.stat(undefined, 'bucket', keyPath(key))]).toEqual([key, undefined])
    }
    socket.close()
  })

  test('everything on kernels without openat2, and on other file systems', async () => {
    expect(reads.isUsable).toBe(true)
    for (const other of [openReads({ openat2: false }), openReads({ at: '/proc' })]) {
      expect(other.isUsable).toBe(false)
      expect(await other.stat(undefined, 'bucket', keyPath('a/small'))).toBeUndefined()
      other.close()
    }
  })

  test('another file system below the root, which might wait', async () => {
    const whole = openReads({ at: '/' })
    expect(await whole.stat(undefined, 'proc/self', keyPath('status'))).toBeUndefined()
    expect((await whole.stat(undefined, 'etc', keyPath('passwd')))?.entry[0]).toBe(false)
    whole.close()
  })
})

test('every read answers alike on the event loop and on the threads', async () => {
  const bucket = 'alike'
  await fixture.namespace.createBucket(alice, bucket)
  const at = join(fixture.root, bucket)
  chmodSync(at, 0o755)
  for (const [name, size, mode] of [
    ['empty', 0, 0o644],
    ['one', 1, 0o644],
    ['closed', 10, 0o600],
    ['unreadable', 10, 0o000],
    ['mid', 16_385, 0o640],
    ['large', 70_000, 0o644],
    ['d/inner', 5, 0o644],
    ['shut/inner', 5, 0o644],
    ['é ü%20', 5, 0o644],
  ] as const) {
    await fixture.put(alice, { bucket, key: name }, Buffer.alloc(size, name))
    chmodSync(join(at, name), mode)
  }
  chmodSync(join(at, 'shut'), 0o700)
  writeFileSync(join(at, 'foreign'), 'of root')
  symlinkSync('one', join(at, 'link'))
  symlinkSync('d', join(at, 'folder-link'))
  symlinkSync('nowhere', join(at, 'broken'))
  symlinkSync('loop', join(at, 'loop'))
  symlinkSync('../../../../etc/passwd', join(at, 'out'))
  symlinkSync(join(at, 'one'), join(at, 'absolute'))
  execFileSync('mkfifo', [join(at, 'fifo')])
  const keys = ['empty', 'one', 'closed', 'unreadable', 'mid', 'large', 'd', 'd/', 'd/inner', 'd/missing', 'shut/inner']
  keys.push('shut/missing', 'é ü%20', 'foreign', 'link', 'folder-link', 'folder-link/inner', 'broken', 'loop', 'out')
  keys.push(
    'absolute',
    'fifo',
    'one/',
    'one/x',
    'n'.repeat(255),
    'n'.repeat(256),
    'p/'.repeat(2100),
    '.s3proxy/x',
    '..',
  )
  const outcome = async (namespace: Namespace, look: (namespace: Namespace) => Promise<unknown>) => {
    try {
      return await look(namespace)
    } catch (error) {
      return String(error)
    }
  }
  const bytesOf = ({ entry, bytes, file }: Opened) => {
    file?.close()
    return { entry, bytes: bytes?.toString('latin1'), size: file?.size }
  }
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...keys),
      fc.constantFrom(alice, bob, root),
      fc.constantFrom(bucket, 'no-such-bucket', `${bucket}/d`, `${bucket}/one`),
      fc.constantFrom(undefined, 0, 1, 20_000, 1 << 20),
      async (key, as, where, inlineBytes) => {
        const target = { bucket: where, key }
        const options = inlineBytes === undefined ? {} : { inlineBytes }
        for (const look of [
          (namespace: Namespace) => namespace.stat(as, target),
          (namespace: Namespace) => namespace.open(as, target, options).then(bytesOf),
        ]) {
          expect(await outcome(fixture.namespace, look)).toEqual(await outcome(threads, look))
        }
      },
    ),
    { numRuns: 400 },
  )
})
