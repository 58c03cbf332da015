import { spawn } from 'node:child_process'
import { chmodSync, mkdirSync, readdirSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test, vi } from 'vitest'
import { holdLease } from './lease.fixture.ts'
import { alice, bob, codeOf, makeRoot, openFixture, root, testConfig } from './namespace.fixture.ts'
import { openNamespace } from './posix.ts'

// Threads start slowly on a machine with much to do.
vi.setConfig({ testTimeout: 60_000 })

describe('start', () => {
  test('makes the root and closes what is kept centrally to all but the process user', async () => {
    const directory = join(makeRoot(), 'new/data')
    const fixture = await openFixture({ root: directory })
    const modes = ['.s3proxy', '.s3proxy/users', '.s3proxy/buckets'].map((path) => statSync(join(directory, path)).mode)
    expect(modes.map((mode) => mode & 0o7777)).toEqual([0o700, 0o700, 0o700])
    expect(readdirSync(join(directory, '.s3proxy')).sort()).toEqual(['buckets', 'users'])
    expect(await fixture.namespace.listBuckets(root)).toEqual([])
    await fixture.close()
  })

  test('removes what killed processes have left, and nothing else', async () => {
    const directory = makeRoot()
    const old = ['.s3proxy-bucket', '.s3proxy-full', '.s3proxy/.s3proxy-probe', '.s3proxy/metadata', 'bucket']
    for (const path of [...old, '.s3proxy-new']) mkdirSync(join(directory, path), { recursive: true })
    for (const path of ['.s3proxy-full/file', '.s3proxy/.s3proxy-probe/first']) writeFileSync(join(directory, path), '')
    for (const path of old) utimesSync(join(directory, path), 1, 1)
    await (await openFixture({ root: directory })).namespace.close()
    expect(readdirSync(directory).sort()).toEqual(['.s3proxy', '.s3proxy-full', '.s3proxy-new', 'bucket'])
    expect(readdirSync(join(directory, '.s3proxy')).sort()).toEqual(['buckets', 'metadata', 'users'])
  })

  test('leaves a read-only root as it is, and reads it', async () => {
    const directory = makeRoot()
    mkdirSync(join(directory, 'b'))
    writeFileSync(join(directory, 'b/k'), 'x')
    chmodSync(join(directory, 'b/k'), 0o600)
    const fixture = await openFixture({ root: directory, readOnly: true })
    expect(readdirSync(directory)).toEqual(['b'])
    expect(fixture.namespace.features).toEqual({ tmpfile: false, enforcedIdentity: true })
    expect(await fixture.get(root, { bucket: 'b', key: 'k' })).toBe('x')
    expect(await codeOf(fixture.get(alice, { bucket: 'b', key: 'k' }))).toBe('AccessDenied')
    expect((await fixture.namespace.listBuckets(root)).map(({ path }) => path)).toEqual(['b'])
    await fixture.close()
  })

  test('fails with a sentence where the root is a file, or missing and read-only', async () => {
    const directory = makeRoot()
    writeFileSync(join(directory, 'file'), '')
    await expect(openNamespace({ config: testConfig({ root: join(directory, 'file') }) })).rejects.toThrow(/file/)
    const missing = testConfig({ root: join(directory, 'missing'), readOnly: true })
    await expect(openNamespace({ config: missing })).rejects.toThrow(/missing/)
  })

  test('without capabilities everything is the process user’s, and enforced identity is refused with a sentence', async () => {
    const directory = makeRoot()
    const output = await runWithoutCapabilities(
      `
      const { openFixture, root, bob } = await import(${JSON.stringify(new URL('./namespace.fixture.ts', import.meta.url).href)})
      const overrides = { root: ${JSON.stringify(directory)} }
      const refusal = await openFixture({ ...overrides, identityMode: 'enforced' }).catch((error) => error.message)
      const { namespace, put } = await openFixture(overrides)
      const bucket = await namespace.createBucket(bob, 'b')
      await put(bob, { bucket: 'b', key: 'd/k' }, 'x')
      await namespace.close()
      console.log(JSON.stringify({ refusal, features: namespace.features, owner: bucket.uid }))`,
    )
    const { refusal, features, owner } = JSON.parse(output)
    expect(refusal).toMatch(/svc\.proxy\.identity\.mode is enforced.*SETUID.*or set the mode/)
    expect(features).toEqual({ tmpfile: true, enforcedIdentity: false })
    expect(owner).toBe(bob.uid)
    expect(statSync(join(directory, 'b/d/k')).uid).toBe(process.getuid?.())
  })
})

/** As a pod that drops all capabilities would, and is still uid 0. */
async function runWithoutCapabilities(script: string): Promise<string> {
  const file = join(makeRoot(), 'script.mjs')
  writeFileSync(file, script)
  const child = spawn('setpriv', ['--bounding-set', '-all', '--inh-caps', '-all', process.execPath, file])
  let output = ''
  child.stderr.on('data', (chunk) => {
    output += chunk
  })
  for await (const chunk of child.stdout) output += chunk
  return output
}

describe('a file system that hangs', () => {
  test('costs its own step a 503, and no other step; its thread is replaced', async () => {
    const fixture = await openFixture({ stepTimeoutMs: 400, namespaceThreads: 2, identityMode: 'process' })
    for (const name of ['fine', 'stuck']) await fixture.namespace.createBucket(alice, name)
    await fixture.put(alice, { bucket: 'fine', key: 'k' }, 'x')
    const { id } = await fixture.namespace.statBucket(alice, 'stuck')
    await fixture.namespace.close()

    const other = await openFixture({ ...fixture.config })
    // The record of the bucket's owner is leased to us: whoever opens it waits in the kernel.
    const lease = holdLease(join(fixture.root, '.s3proxy/buckets', id))
    const begun = performance.now()
    const stuck = Array.from({ length: 2 }, () => codeOf(other.namespace.statBucket(alice, 'stuck')))
    const beside = Array.from({ length: 40 }, () => other.get(alice, { bucket: 'fine', key: 'k' }))
    expect(await Promise.all(stuck)).toEqual(['ServiceUnavailable', 'ServiceUnavailable'])
    expect(performance.now() - begun).toBeGreaterThan(350)
    expect(await Promise.all(beside)).toEqual(Array(40).fill('x'))
    expect(await other.namespace.check(5000)).toBe(true)
    lease.release()
    expect((await other.namespace.statBucket(alice, 'stuck')).uid).toBe(alice.uid)
    await other.close()
  })

  test('is told by the check in time', async () => {
    const fixture = await openFixture()
    expect(await fixture.namespace.check(5000)).toBe(true)
    await fixture.namespace.close()
    expect(await fixture.namespace.check(100)).toBe(false)
  })
})

test('after close nothing is answered, and nothing hangs', async () => {
  const fixture = await openFixture()
  await fixture.namespace.createBucket(alice, 'b')
  const under = Array.from({ length: 50 }, () => codeOf(fixture.namespace.statBucket(alice, 'b')))
  await fixture.namespace.close()
  for (const code of await Promise.all(under)) expect([undefined, 'ServiceUnavailable']).toContain(code)
  expect(await codeOf(fixture.namespace.statBucket(alice, 'b'))).toBe('ServiceUnavailable')
  await fixture.namespace.close()
})

test('no descriptor is left open, whatever became of the requests', async () => {
  const fixture = await openFixture()
  const bucket = await fixture.bucket(alice)
  const at = (key: string) => ({ bucket, key })
  const work = async (round: number) => {
    const { namespace } = fixture
    await fixture.put(alice, at(`d/${round}`), 'x')
    await codeOf(fixture.put(bob, at(`d/${round}`), 'x'))
    await codeOf(fixture.put(alice, at('d'), 'x'))
    await codeOf(fixture.get(bob, at('d/missing')))
    await codeOf(namespace.stat(alice, at('missing/x')))
    const { file } = await namespace.open(alice, at(`d/${round}`))
    if (file === undefined) throw new Error('not open')
    const copy = await namespace.copy(alice, file, undefined, at('copy'), { digests: ['MD5'] })
    await copy.finish({ sync: true })
    await copy.publish({ ifAbsent: false, sync: true })
    file.close()
    file.close()
    const refused = await namespace.stage(alice, at('copy'), { digests: [], bytes: Buffer.alloc(1) })
    await codeOf(refused.publish({ ifAbsent: true, sync: false }))
    await refused.discard()
    const given = await namespace.stage(alice, at(`large-${round}`), { digests: ['MD5'] })
    await given.write(Buffer.alloc(700_000))
    await given.discard()
    await namespace.list(alice, { bucket, prefix: '', delimiter: '', after: '', maxKeys: 2 })
    await codeOf(namespace.list(alice, { bucket: 'missing', prefix: '', delimiter: '', after: '', maxKeys: 2 }))
    const { id } = await namespace.stat(alice, at('copy'))
    await namespace.renew(alice, at('copy'), id, async () => {})
    await expect(namespace.renew(alice, at('copy'), `${id}x`, async () => {})).resolves.toBeUndefined()
    const temp = namespace.tempName(at('adopted'))
    const part = await namespace.stat(alice, at(`d/${round}`))
    const adopted = await namespace.adopt(alice, at(`d/${round}`), at('adopted'), { temp, expected: part.id })
    await adopted?.release()
    await (await namespace.restage(alice, temp, at('adopted'), 'x'))?.discard()
    await namespace.makeFolder(alice, at(`f${round}/g/`))
    await namespace.remove(alice, at(`f${round}/g/`))
    await codeOf(namespace.createBucket(alice, bucket))
    await codeOf(namespace.removeBucket(alice, bucket))
  }
  await work(0)
  await settled()
  const before = openDescriptors()
  for (let round = 1; round < 6; round += 1) await work(round)
  await settled()
  expect(openDescriptors()).toEqual(before)
  await fixture.close()
})

/** What descriptors below the temporary directory are open, with how many each. */
function openDescriptors(): number {
  return readdirSync('/proc/self/fd').length
}

/** Descriptors are closed on other threads. */
function settled(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 200))
}
