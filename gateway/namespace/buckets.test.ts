import { chmodSync, mkdirSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { alice, bob, codeOf, type Fixture, openFixture, root } from './namespace.fixture.ts'

let fixture: Fixture

beforeAll(async () => {
  fixture = await openFixture()
})
afterAll(() => fixture.close())

describe('a new bucket', () => {
  test('is a directory of its owner, with the configured mode', async () => {
    const made = await fixture.namespace.createBucket(alice, 'mine')
    const status = statSync(join(fixture.root, 'mine'))
    expect([status.uid, status.gid, status.mode & 0o7777]).toEqual([alice.uid, alice.gid, 0o770])
    expect(made).toMatchObject({ path: 'mine', uid: alice.uid })
    expect(Math.abs(made.createdMs - Date.now())).toBeLessThan(60_000)
    expect(await fixture.namespace.statBucket(alice, 'mine')).toEqual(made)
    expect(await fixture.namespace.statBucket(bob, 'mine')).toEqual(made)
  })

  test('is refused where there is one, saying whose it is', async () => {
    await fixture.namespace.createBucket(alice, 'taken')
    expect(await codeOf(fixture.namespace.createBucket(alice, 'taken'))).toBe('BucketAlreadyOwnedByYou')
    expect(await codeOf(fixture.namespace.createBucket(bob, 'taken'))).toBe('BucketAlreadyExists')
    expect(await codeOf(fixture.namespace.createBucket(root, 'taken'))).toBe('BucketAlreadyExists')
  })

  test('is refused where a file or anything else is', async () => {
    writeFileSync(join(fixture.root, 'plain-file'), '')
    symlinkSync('nowhere', join(fixture.root, 'broken'))
    for (const name of ['plain-file', 'broken', '..', '.s3proxy', 'a//b']) {
      expect(await codeOf(fixture.namespace.createBucket(alice, name))).toBe('InvalidBucketName')
    }
  })

  test('made by many at once is made once', async () => {
    const codes = await Promise.all(
      Array.from({ length: 30 }, (_, index) => codeOf(fixture.namespace.createBucket(index % 2 ? alice : bob, 'race'))),
    )
    expect(codes.filter((code) => code === undefined)).toHaveLength(1)
    const owner = (await fixture.namespace.statBucket(root, 'race')).uid
    for (const [index, code] of codes.entries()) {
      const isOwner = owner === (index % 2 ? alice : bob).uid
      expect([undefined, isOwner ? 'BucketAlreadyOwnedByYou' : 'BucketAlreadyExists']).toContain(code)
    }
    expect(readdirSync(fixture.root).filter((name) => name.startsWith('.s3proxy-'))).toEqual([])
  })

  test('in another is made by who may write there', async () => {
    await fixture.namespace.createBucket(alice, 'outer')
    chmodSync(join(fixture.root, 'outer'), 0o755)
    expect((await fixture.namespace.createBucket(alice, 'outer/inner')).uid).toBe(alice.uid)
    expect(await codeOf(fixture.namespace.createBucket(bob, 'outer/other'))).toBe('AccessDenied')
    expect(await codeOf(fixture.namespace.createBucket(bob, 'missing/other'))).toBe('NoSuchBucket')
    await fixture.put(alice, { bucket: 'outer/inner', key: 'k' }, 'x')
    expect(await fixture.get(alice, { bucket: 'outer', key: 'inner/k' })).toBe('x')
  })
})

describe('a bucket', () => {
  test('that is missing, or a file, is NoSuchBucket', async () => {
    writeFileSync(join(fixture.root, 'a-file'), '')
    for (const name of ['missing', 'a-file', 'missing/nested', 'a-file/nested']) {
      expect(await codeOf(fixture.namespace.statBucket(root, name))).toBe('NoSuchBucket')
      expect(await codeOf(fixture.namespace.removeBucket(root, name))).toBe('NoSuchBucket')
    }
  })

  test('is removed by its owner or the process user, when it is empty', async () => {
    for (const [name, owner] of [
      ['r1', alice],
      ['r2', root],
    ] as const) {
      await fixture.namespace.createBucket(alice, name)
      await fixture.put(alice, { bucket: name, key: 'k' }, 'x')
      expect(await codeOf(fixture.namespace.removeBucket(bob, name))).toBe('AccessDenied')
      expect(await codeOf(fixture.namespace.removeBucket(owner, name))).toBe('BucketNotEmpty')
      await fixture.namespace.remove(alice, { bucket: name, key: 'k' })
      await fixture.namespace.removeBucket(owner, name)
      expect(await codeOf(fixture.namespace.statBucket(root, name))).toBe('NoSuchBucket')
    }
  })

  test('in another is removed by who may write there', async () => {
    await fixture.namespace.createBucket(alice, 'nest')
    chmodSync(join(fixture.root, 'nest'), 0o755)
    await fixture.namespace.createBucket(alice, 'nest/egg')
    expect(await codeOf(fixture.namespace.removeBucket(bob, 'nest/egg'))).toBe('AccessDenied')
    await fixture.namespace.removeBucket(alice, 'nest/egg')
  })

  test('of the same name as a removed one is another', async () => {
    const first = await fixture.namespace.createBucket(alice, 'again')
    await fixture.namespace.removeBucket(alice, 'again')
    expect((await fixture.namespace.createBucket(alice, 'again')).id).not.toBe(first.id)
  })
})

test('all top-level directories are buckets, in byte order; nothing else is (spec §1.2)', async () => {
  const other = await openFixture()
  for (const name of ['b', 'a', 'é', 'Z', '.hidden', 'b-', 'b0']) mkdirSync(join(other.root, name))
  mkdirSync(join(other.root, 'b/nested'))
  mkdirSync(Buffer.concat([Buffer.from(`${other.root}/x`), Buffer.from([0xff])]))
  writeFileSync(join(other.root, 'file'), '')
  symlinkSync('b', join(other.root, 'link'))
  const paths = (await other.namespace.listBuckets(alice)).map(({ path }) => path)
  expect(paths).toEqual(['.hidden', 'Z', 'a', 'b-', 'b', 'b0', 'é'])
  await other.close()
})
