import { chmodSync, chownSync, mkdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Identity } from '../identity/identity.ts'
import { codeOf, contentOf, type Fixture, md5, openFixture, target } from './objects.fixture.ts'

const isRoot = process.getuid?.() === 0

function user(uid: number): Identity {
  return { name: `user${uid}`, uid, gid: uid, groups: [], authenticated: true, superuser: false }
}

const alice = user(41_001)
const bob = user(41_002)

// Acting as other users needs uid 0: everywhere else there is only the process user.
describe.runIf(isRoot)('the permissions of the acting user (spec §5.7)', () => {
  let fixture: Fixture

  beforeAll(async () => {
    fixture = await openFixture()
    chmodSync(join(fixture.root, '..'), 0o755)
    chmodSync(fixture.root, 0o755)
  })
  beforeEach(async () => {
    await fixture.reset()
    chownSync(join(fixture.root, 'b'), alice.uid, alice.gid)
    chmodSync(join(fixture.root, 'b'), 0o755)
  })
  afterAll(() => fixture.close())

  const put = (as: Identity, key: string, body: string, object = {}) =>
    fixture.objects.write(as, target(key), contentOf(body), { record: {}, tags: [], ...object })

  test('decide who may put, and what is put belongs to the user', async () => {
    await put(alice, 'folder/key', 'x')
    expect(statSync(join(fixture.root, 'b/folder/key'))).toMatchObject({ uid: alice.uid, gid: alice.gid })
    expect(statSync(join(fixture.root, 'b/folder')).uid).toBe(alice.uid)
    expect(await codeOf(put(bob, 'key', 'x'))).toBe('AccessDenied')
  })

  test('decide who may get', async () => {
    await put(alice, 'key', 'x')
    expect((await fixture.objects.read(bob, target('key'))).entry.size).toBe(1)
    chmodSync(join(fixture.root, 'b/key'), 0o600)
    expect(await codeOf(fixture.objects.read(bob, target('key')))).toBe('AccessDenied')
    expect(await codeOf(fixture.objects.head(bob, target('key')))).toBe('AccessDenied')
    const copy = fixture.objects.copy(bob, { target: target('key') }, target('copy'), {
      record: undefined,
      tags: undefined,
    })
    expect(await codeOf(copy)).toBe('AccessDenied')
  })

  test('decide who may delete, one key at a time (spec §7.2)', async () => {
    await put(alice, 'key', 'x')
    mkdirSync(join(fixture.root, 'b/open'), { mode: 0o777 })
    chmodSync(join(fixture.root, 'b/open'), 0o777)
    writeFileSync(join(fixture.root, 'b/open/key'), 'x')
    const errors = await fixture.objects.removeAll(bob, 'b', ['key', 'open/key', 'missing'])
    expect(errors.map((error) => error?.code)).toEqual(['AccessDenied', undefined, undefined])
    expect(errors[0]?.message).toBe('Access Denied')
    expect((await fixture.get('key')).content).toBe('x')
  })

  test('let others read the tags, but not write them (seen on the reference)', async () => {
    await put(alice, 'key', 'x', { tags: [{ key: 'a', value: 'b' }] })
    await put(alice, 'folder/', '')
    expect((await fixture.objects.head(bob, target('key'))).tags).toEqual([{ key: 'a', value: 'b' }])
    for (const key of ['key', 'folder/']) {
      expect(await codeOf(fixture.objects.putTags(bob, target(key), []))).toBe('AccessDenied')
      expect(await codeOf(fixture.objects.putTags(alice, target(key), [{ key: 'c', value: 'd' }]))).toBeUndefined()
    }
    expect((await fixture.get('key')).tags).toEqual([{ key: 'c', value: 'd' }])
  })

  test('let a copy onto itself by another user be a copy that is theirs (design §4)', async () => {
    chmodSync(join(fixture.root, 'b'), 0o777)
    await put(alice, 'key', 'x', { record: { contentType: 'a/b' } })
    const source = { target: target('key') }
    await fixture.objects.copy(bob, source, target('key'), { record: { contentType: 'c/d' }, tags: undefined })
    expect(statSync(join(fixture.root, 'b/key')).uid).toBe(bob.uid)
    expect((await fixture.get('key')).record).toEqual({ etag: md5('x'), contentType: 'c/d' })
  })

  test('keep another user from remembering a folder for deletion', async () => {
    await put(alice, 'folder/key', 'x')
    expect(await codeOf(fixture.objects.remove(bob, target('folder/')))).toBe('AccessDenied')
    await fixture.objects.remove(alice, target('folder/key'))
    expect((await fixture.get('folder/')).entry.kind).toBe('folder')
  })
})
