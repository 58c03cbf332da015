import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { type Config, properties } from '../config/properties.ts'
import { S3Error } from '../s3/errors.ts'
import { parseAccounts } from './accounts.ts'
import { openAllocatedUsers } from './allocated-users.ts'
import { openUsers } from './users.ts'

let directory: string
let config: Config

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 's3proxy-users-'))
  mkdirSync(join(directory, 'data'))
  writeFileSync(
    join(directory, 'passwd'),
    'root:x:0:0:root:/root:/bin/sh\nalice:x:1001:1001::/:/bin/sh\ndaemon:x:2:2::/:/bin/false\nalias:x:0:0::/:/bin/sh\n',
  )
  writeFileSync(join(directory, 'group'), 'alice:x:1001:\nteam:x:2000:bob,alice\nmore:x:2001:alice\n')
  const defaults = Object.fromEntries(
    Object.entries(properties).map(([name, property]) => [name, property.parse(property.default)]),
  ) as Config
  config = {
    ...defaults,
    root: join(directory, 'data'),
    passwdFile: join(directory, 'passwd'),
    groupFile: join(directory, 'group'),
  }
})
afterEach(() => {
  vi.restoreAllMocks()
  rmSync(directory, { recursive: true, force: true })
})

async function codeOf(promise: Promise<unknown>): Promise<string | undefined> {
  try {
    await promise
    return undefined
  } catch (error) {
    if (error instanceof S3Error) return error.code
    throw error
  }
}

describe('a name', () => {
  test('of the passwd file has its uid, gid and groups', async () => {
    const users = await openUsers({ config })
    expect(await users.identify('alice')).toEqual({
      name: 'alice',
      uid: 1001,
      gid: 1001,
      groups: [1001, 2000, 2001],
      authenticated: true,
      superuser: false,
    })
  })

  test('that nobody gave is the process user, and not authenticated (spec §5.5, §5.6)', async () => {
    const users = await openUsers({ config })
    const identity = await users.identify(undefined)
    expect(identity).toMatchObject({ uid: userInfo().uid, authenticated: false, superuser: true })
    expect(await users.identify(identity.name)).toEqual({ ...identity, authenticated: true })
  })

  test('of the process user’s uid is the process user, whichever it is', async () => {
    const users = await openUsers({ config })
    expect(await users.identify('alias')).toMatchObject({ name: 'alias', uid: 0, superuser: true, authenticated: true })
  })

  test('that no file knows gets a uid and a group of its own, and keeps them', async () => {
    const users = await openUsers({ config })
    const carol = await users.identify('carol')
    const dave = await users.identify('dave')
    expect(carol.uid).not.toBe(dave.uid)
    expect(carol).toMatchObject({ gid: carol.uid, groups: [carol.uid], authenticated: true, superuser: false })
    expect(carol.uid).toBeGreaterThanOrEqual(1_900_000_000)
    const later = await openUsers({ config })
    expect((await later.identify('carol')).uid).toBe(carol.uid)
    expect(later.nameOf(carol.uid)).toBe('carol')
    expect(later.nameOf(dave.uid)).toBe('dave')
  })

  test.each(['Ünïcode', '50%', 'a*b', '.', '..', '-', 'name with spaces', 'CAROL', '*', '%2A'])(
    'may be %j',
    async (name) => {
      const users = await openUsers({ config })
      const { uid } = await users.identify(name)
      const again = await openUsers({ config })
      expect((await again.identify(name)).uid).toBe(uid)
      expect(again.nameOf(uid)).toBe(name)
    },
  )

  test('is never taken for one that only looks like it', async () => {
    const users = await openUsers({ config })
    const names = ['carol', 'Carol', 'carol ', '*', '%2A', 'é', 'e\u0301', '.', '..']
    const uids = await Promise.all(names.map(async (name) => (await users.identify(name)).uid))
    expect(new Set(uids).size).toBe(names.length)
  })

  test.each(['', 'a/b', 'a:b', 'a\nb', 'a\0', '\ud800', 'x'.repeat(81)])(
    'that is %j is refused, as no user could have it',
    async (name) => {
      const users = await openUsers({ config })
      expect(await codeOf(users.identify(name))).toBe('AccessDenied')
    },
  )

  test('of a uid below the configured minimum is refused, but not the process user’s', async () => {
    const users = await openUsers({ config: { ...config, uidMin: 1000 } })
    expect(await codeOf(users.identify('daemon'))).toBe('AccessDenied')
    expect(await codeOf(users.identify('alice'))).toBeUndefined()
    expect(await codeOf(users.identify(undefined))).toBeUndefined()
    expect(await codeOf(users.identify('root'))).toBeUndefined()
    expect(await codeOf(users.identify('anybody'))).toBeUndefined()
  })
})

test('the files are read again when they change', async () => {
  const users = await openUsers({ config })
  const before = await users.identify('erin')
  writeFileSync(join(directory, 'passwd'), 'erin:x:3000:3000::/:/bin/sh\nroot:x:0:0::/:/bin/sh\n')
  const now = performance.now()
  vi.spyOn(performance, 'now').mockReturnValue(now + 10_000)
  await vi.waitFor(async () => expect((await users.identify('erin')).uid).toBe(3000))
  expect(before.uid).not.toBe(3000)
  expect(users.nameOf(3000)).toBe('erin')
  expect(users.nameOf(1001)).toBe('1001')
})

test('names that another process has allocated are heard of', async () => {
  const users = await openUsers({ config })
  const { uid } = await (await openUsers({ config })).identify('frank')
  expect(users.nameOf(uid)).toBe(String(uid))
  const now = performance.now()
  vi.spyOn(performance, 'now').mockReturnValue(now + 10_000)
  await users.identify(undefined)
  await vi.waitFor(() => expect(users.nameOf(uid)).toBe('frank'))
})

test('missing files name nobody, and everybody gets a uid', async () => {
  const users = await openUsers({ config: { ...config, passwdFile: join(directory, 'none'), groupFile: '/nowhere' } })
  expect((await users.identify('alice')).uid).toBeGreaterThanOrEqual(1_900_000_000)
  expect((await users.identify(undefined)).superuser).toBe(true)
})

test('what is allocated is closed to others', async () => {
  const users = await openUsers({ config })
  await users.identify('carol')
  const allocated = join(config.root, '.s3proxy/users')
  expect(statSync(allocated).mode & 0o777).toBe(0o700)
  expect(readdirSync(allocated).map((name) => statSync(join(allocated, name)).mode & 0o777)).toEqual([0o600, 0o600])
})

test('a read-only gateway knows the names of before and refuses new ones', async () => {
  const users = await openUsers({ config })
  const { uid } = await users.identify('carol')
  const reader = await openUsers({ config: { ...config, readOnly: true } })
  expect((await reader.identify('carol')).uid).toBe(uid)
  expect(await codeOf(reader.identify('dave'))).toBe('AccessDenied')
})

describe('allocation', () => {
  test('by several processes at once gives each name one uid, and no two names the same', async () => {
    const script = `
      const { openAllocatedUsers } = await import(${JSON.stringify(new URL('./allocated-users.ts', import.meta.url).href)})
      const users = await openAllocatedUsers({ root: ${JSON.stringify(config.root)}, readOnly: false })
      const names = Array.from({ length: 40 }, (_, index) => 'user-' + index).sort(() => Math.random() - 0.5)
      const found = await Promise.all(names.map(async (name) => [name, await users.uidOf(name, () => false)]))
      console.log(JSON.stringify(Object.fromEntries(found)))`
    const outputs = await Promise.all(
      Array.from({ length: 4 }, async () => {
        const child = spawn(process.execPath, ['--input-type=module', '-e', script])
        let output = ''
        for await (const chunk of child.stdout) output += chunk
        return JSON.parse(output)
      }),
    )
    for (const output of outputs) expect(output).toEqual(outputs[0])
    expect(new Set(Object.values(outputs[0])).size).toBe(40)
    const claims = readdirSync(join(config.root, '.s3proxy/users')).filter((name) => name.startsWith('uid-'))
    for (const claim of claims) {
      const name = readFileSync(join(config.root, '.s3proxy/users', claim), 'utf8')
      expect(outputs[0][name]).toBe(Number(claim.slice(4)))
    }
  }, 60_000)

  test('goes on to the next uid where one is claimed by another name or known to passwd', async () => {
    const first = await openAllocatedUsers({ root: config.root, readOnly: false })
    const uid = await first.uidOf('carol', () => false)
    rmSync(join(config.root, '.s3proxy/users/name-carol'))
    const second = await openAllocatedUsers({ root: config.root, readOnly: false })
    expect(await second.uidOf('carol', (candidate) => candidate === uid + 1)).toBe(uid + 2)
  })
})

test('passwd and group are read as the C library does', () => {
  const passwd =
    '# comment\n\nbad line\na:x:1:2:::\na:x:9:9:::\nb:x:x:2:::\nc:x:1:3:::\nd:x:4294967295:1:::\ne:x:-1:1:::\n'
  const { byName, names, groups } = parseAccounts(passwd, 'g:x:5:a,,c\nh:x:bad:a\ni:x:6:a\n')
  expect([...byName]).toEqual([
    ['a', { uid: 1, gid: 2 }],
    ['c', { uid: 1, gid: 3 }],
  ])
  expect([...names]).toEqual([[1, 'a']])
  expect([...groups]).toEqual([
    ['a', [5, 6]],
    ['c', [5]],
  ])
})
