import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { codeOf, type Fixture, openFixture, target } from './objects.fixture.ts'

let fixture: Fixture

beforeAll(async () => {
  fixture = await openFixture()
})
beforeEach(() => fixture.reset())
afterAll(() => fixture.close())

const remove = (key: string) => fixture.objects.remove(fixture.as, target(key))
const exists = (path: string) => existsSync(join(fixture.root, 'b', path))

describe('DeleteObject', () => {
  test('removes an object; a missing one is fine (spec §4, seen on S3)', async () => {
    await fixture.put('key', 'body')
    await remove('key')
    expect(await codeOf(fixture.get('key'))).toBe('NoSuchKey')
    await remove('key')
    await remove('no/such/folder')
  })

  test('in a missing bucket is NoSuchBucket (seen on the reference)', async () => {
    expect(await codeOf(fixture.objects.remove(fixture.as, { bucket: 'missing', key: 'key' }))).toBe('NoSuchBucket')
  })

  test('leaves the folders above, which came with the object (seen on the reference)', async () => {
    await fixture.put('a/b/key', 'body')
    await remove('a/b/key')
    expect(exists('a/b')).toBe(true)
  })

  test('with more than one final slash removes the folder too, as rclone purge asks (seen on the reference)', async () => {
    await fixture.put('folder/', '')
    await remove('folder//')
    expect(exists('folder')).toBe(false)
  })

  test('with a final slash removes an empty folder, never an object (seen on the reference; objects: our choice)', async () => {
    await fixture.put('folder/', '')
    await fixture.put('file', 'body')
    await remove('folder/')
    await remove('file/')
    expect(exists('folder')).toBe(false)
    expect(exists('file')).toBe(true)
  })

  test('without a final slash removes no folder: keys are exact on S3 (our choice; the reference removes it)', async () => {
    await fixture.put('folder/', '')
    await remove('folder')
    expect(exists('folder')).toBe(true)
  })

  test('of the last entry leaves a folder that was not deleted itself', async () => {
    await fixture.put('folder/', '')
    await fixture.put('folder/key', 'body')
    await remove('folder/key')
    expect(exists('folder')).toBe(true)
  })
})

describe('a folder deleted while it has entries (design §4: aws s3 rb --force, rclone purge)', () => {
  test('stays, and goes with its last entry', async () => {
    await fixture.put('a/1', 'x')
    await fixture.put('a/2', 'x')
    await remove('a/')
    expect(exists('a/1')).toBe(true)
    await remove('a/1')
    expect(exists('a')).toBe(true)
    await remove('a/2')
    expect(exists('a')).toBe(false)
  })

  test('goes upwards through remembered folders, in the order of a listing', async () => {
    await fixture.put('a/b/c/key', 'x')
    await fixture.put('a/b/d/key', 'x')
    for (const key of ['a/', 'a/b/', 'a/b/c/', 'a/b/c/key', 'a/b/d/', 'a/b/d/key']) await remove(key)
    expect(exists('a')).toBe(false)
  })

  test('stops at a folder that was not deleted', async () => {
    await fixture.put('a/b/key', 'x')
    await remove('a/b/')
    await remove('a/b/key')
    expect(exists('a/b')).toBe(false)
    expect(exists('a')).toBe(true)
  })

  test('goes when a remembered folder above becomes empty by the removal of a folder', async () => {
    await fixture.put('a/b/', '')
    await remove('a/')
    await remove('a/b/')
    expect(exists('a')).toBe(false)
  })

  test('is wanted again after a PUT below it', async () => {
    await fixture.put('a/1', 'x')
    await remove('a/')
    await fixture.put('a/2', 'x')
    await remove('a/1')
    await remove('a/2')
    expect(exists('a')).toBe(true)
  })

  test('is wanted again after a PUT of the folder itself, and then those above it are', async () => {
    await fixture.put('a/b/1', 'x')
    await remove('a/')
    await remove('a/b/')
    await fixture.put('a/b/', '')
    await remove('a/b/1')
    expect(exists('a/b')).toBe(true)
    await remove('a/b/')
    expect(exists('a')).toBe(true)
  })

  test('does not count as deleted once it was made anew from outside', async () => {
    await fixture.put('a/1', 'x')
    await remove('a/')
    await remove('a/1')
    mkdirSync(join(fixture.root, 'b/a'))
    await fixture.put('a/1', 'x')
    await remove('a/1')
    expect(exists('a')).toBe(true)
  })

  test('stays while a file of others is in it', async () => {
    await fixture.put('a/1', 'x')
    writeFileSync(join(fixture.root, 'b/a/foreign'), 'x')
    await remove('a/')
    await remove('a/1')
    expect(exists('a/foreign')).toBe(true)
  })

  test('goes although its entries and it are deleted at the same time, in any order', async () => {
    for (let round = 0; round < 20; round++) {
      const keys = Array.from({ length: 10 }, (_, index) => `a/b/${index}`)
      for (const key of keys) await fixture.put(key, 'x')
      const deleted = ['a/', ...keys, 'a/b/']
      deleted.sort(() => Math.random() - 0.5)
      await Promise.all(deleted.map(remove))
      expect(exists('a')).toBe(false)
    }
  })
})

describe('DeleteObjects', () => {
  const removeAll = (keys: readonly string[]) => fixture.objects.removeAll(fixture.as, 'b', keys)

  test('removes children before parents whatever their order (seen on the reference)', async () => {
    await fixture.put('a/b/1', 'x')
    await fixture.put('a/2', 'x')
    const keys = ['a/', 'a/b/', 'a/b/1', 'missing', 'a/2']
    expect(await removeAll(keys)).toEqual(keys.map(() => undefined))
    expect(exists('a')).toBe(false)
  })

  test('tells the error of each key, in the order given', async () => {
    await fixture.put('key', 'x')
    const errors = await removeAll(['../outside', 'key', 'a//b'])
    expect(errors.map((error) => error?.code)).toEqual(['InvalidArgument', undefined, 'InvalidArgument'])
    expect(exists('key')).toBe(false)
  })

  test('takes a thousand keys, some of them twice', async () => {
    const keys = Array.from({ length: 1000 }, (_, index) => `k/${index % 900}`)
    for (const key of keys.slice(0, 900)) await fixture.put(key, 'x')
    expect((await removeAll([...keys, 'k/'])).every((error) => error === undefined)).toBe(true)
    expect(exists('k')).toBe(false)
  })
})
