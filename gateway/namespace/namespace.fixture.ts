import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Config, properties } from '../config/properties.ts'
import type { Identity } from '../identity/identity.ts'
import { S3Error } from '../s3/errors.ts'
import type { Namespace, Published, StagedFile, Target } from './namespace.ts'
import { openNamespace } from './posix.ts'

/** A namespace over a real directory, gone after the test. */
export interface Fixture {
  readonly root: string
  readonly config: Config
  readonly namespace: Namespace
  /** Makes a bucket of its own for a test. */
  bucket(as?: Identity): Promise<string>
  put(as: Identity, target: Target, content: string | Buffer): Promise<StagedFile & Published>
  get(as: Identity, target: Target): Promise<string>
  close(): Promise<void>
}

/** The process user. */
export const root: Identity = user('root', 0, { superuser: true })
export const alice = user('alice', 20_001)
export const bob = user('bob', 20_002)

export function user(name: string, uid: number, more: Partial<Identity> = {}): Identity {
  return { name, uid, gid: uid, groups: [uid], authenticated: true, superuser: false, ...more }
}

export function testConfig(overrides: Partial<Config> = {}): Config {
  const defaults = Object.fromEntries(
    Object.entries(properties).map(([name, property]) => [name, property.parse(property.default)]),
  ) as Config
  return { ...defaults, writeType: 'MUST_CACHE', ...overrides }
}

export function makeRoot(): string {
  const directory = mkdtempSync(join(tmpdir(), 's3proxy-namespace-'))
  chmodSync(directory, 0o755)
  return directory
}

export async function openFixture(overrides: Partial<Config> = {}, openat2 = true): Promise<Fixture> {
  const directory = overrides.root ?? makeRoot()
  const config = testConfig({ root: directory, ...overrides })
  const namespace = await openNamespace({ config, openat2 })
  let buckets = 0
  return {
    root: directory,
    config,
    namespace,
    async bucket(as = alice) {
      buckets += 1
      await namespace.createBucket(as, `bucket-${buckets}`)
      return `bucket-${buckets}`
    },
    async put(as, target, content) {
      const staged = await namespace.stage(as, target, { digests: ['MD5'], bytes: Buffer.from(content) })
      const file = await staged.finish({ sync: false })
      try {
        return { ...file, ...(await staged.publish({ ifAbsent: false, sync: false })) }
      } catch (error) {
        await staged.discard()
        throw error
      }
    },
    async get(as, target) {
      const { bytes } = await namespace.open(as, target, { inlineBytes: 1 << 20 })
      if (bytes === undefined) throw new Error('the object did not come inline')
      return bytes.toString()
    },
    async close() {
      await namespace.close()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

/** The code that a promise is rejected with; undefined when it is not. */
export async function codeOf(promise: Promise<unknown>): Promise<string | undefined> {
  try {
    await promise
    return undefined
  } catch (error) {
    if (error instanceof S3Error) return error.code
    throw error
  }
}
