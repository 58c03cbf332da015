import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, readdirSync, readSync, rmSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { type Config, properties } from '../config/properties.ts'
import type { Identity } from '../identity/identity.ts'
import { openEmbeddedMetadata } from '../metadata/embedded.ts'
import type { Metadata } from '../metadata/metadata.ts'
import type { Namespace, Target } from '../namespace/namespace.ts'
import { openNamespace } from '../namespace/posix.ts'
import type { Digest } from '../s3/checksum.ts'
import { S3Error } from '../s3/errors.ts'
import type { IncomingContent } from '../s3/incoming-content.ts'
import { createObjects } from './create-objects.ts'
import type { NewObject, Objects, ReadObject, WrittenObject } from './objects.ts'

/** Objects over a real directory and a real store, both gone after the test. */
export interface Fixture {
  readonly root: string
  readonly config: Config
  readonly namespace: Namespace
  readonly metadata: Metadata
  readonly objects: Objects
  readonly as: Identity
  /** Writes an object of bucket `b`. */
  put(key: string, body: string | Buffer, object?: Partial<NewObject>): Promise<WrittenObject>
  /** Reads an object of bucket `b` to its end. */
  get(key: string): Promise<ReadObject & { readonly content: string }>
  /** Everything as at the start: an empty bucket `b` and the configuration that was asked for. */
  reset(): Promise<void>
  /** The same objects through a store of their own, as another process has them. */
  another(): Promise<{ readonly objects: Objects; close(): Promise<void> }>
  close(): Promise<void>
}

/** The user of the process, as whom a test may do everything. */
export const processUser: Identity = {
  name: userInfo().username,
  uid: userInfo().uid,
  gid: userInfo().gid,
  groups: [],
  authenticated: true,
  superuser: true,
}

/** The defaults of the specification, but on a single tier without fsync, so that tests are quick. */
function testConfig(overrides: Partial<Config> = {}): Config {
  const defaults = Object.fromEntries(
    Object.entries(properties).map(([name, property]) => [name, property.parse(property.default)]),
  ) as Config
  return { ...defaults, writeType: 'MUST_CACHE', ...overrides }
}

export async function openFixture(overrides: Partial<Config> = {}): Promise<Fixture> {
  const directory = mkdtempSync(join(tmpdir(), 's3proxy-objects-'))
  const root = join(directory, 'data')
  mkdirSync(root)
  const wanted = testConfig({ root, ...overrides })
  const config = { ...wanted }
  const namespace = await openNamespace({ config })
  const metadata = await openEmbeddedMetadata({ directory: join(directory, 'metadata') })
  const objects = createObjects({ config, namespace, metadata })
  await namespace.createBucket(processUser, 'b')
  const own = new Set(readdirSync(root).filter((name) => name !== 'b'))
  return {
    root,
    config,
    namespace,
    metadata,
    objects,
    as: processUser,
    put: (key, body, object) =>
      objects.write(processUser, target(key), contentOf(body), { record: {}, tags: [], ...object }),
    get: (key) => readWhole(objects, target(key)),
    async reset() {
      Object.assign(config, wanted)
      for (const name of readdirSync(root)) {
        if (!own.has(name)) rmSync(join(root, name), { recursive: true, force: true })
      }
      await namespace.createBucket(processUser, 'b')
    },
    async another() {
      const own = await openEmbeddedMetadata({ directory: join(directory, 'metadata') })
      return { objects: createObjects({ config, namespace, metadata: own }), close: () => own.close() }
    },
    async close() {
      await namespace.close()
      await metadata.close()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

export function target(key: string): Target {
  return { bucket: 'b', key }
}

/** A body of plain bytes; `more` replaces what a test is about. */
export function contentOf(body: string | Buffer, more: Partial<IncomingContent> = {}): IncomingContent {
  const bytes = Buffer.from(body)
  return {
    length: bytes.length,
    async *bytes() {
      for (let start = 0; start < bytes.length; start += 65_536) yield bytes.subarray(start, start + 65_536)
    },
    digests: [],
    checksumAlgorithm: undefined,
    verify() {},
    ...more,
  }
}

/** A body whose client announced another MD5. */
export function contentWithDigest(body: string | Buffer, md5: Buffer): IncomingContent {
  return contentOf(body, {
    digests: ['MD5'],
    verify(computed: ReadonlyMap<Digest, Buffer>) {
      if (!computed.get('MD5')?.equals(md5)) throw new S3Error('BadDigest')
    },
  })
}

export function md5(body: string | Buffer): string {
  return createHash('md5').update(body).digest('hex')
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

/** Names of temporary files below a directory: there must be none when nothing is under way. */
export function temporaryFiles(root: string): string[] {
  return readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((path) => /\/\.s3proxy-/.test(`/${path}`))
}

async function readWhole(objects: Objects, from: Target): Promise<ReadObject & { readonly content: string }> {
  const opened = await objects.read(processUser, from, { inlineBytes: 65_536 })
  if (opened.file === undefined) return { ...opened, content: (opened.bytes ?? '').toString() }
  try {
    const bytes = Buffer.alloc(opened.file.size)
    for (let at = 0; at < bytes.length; ) {
      const count = readSync(opened.file.fd, bytes, at, bytes.length - at, at)
      if (count === 0) throw new Error('the file is shorter than its size')
      at += count
    }
    return { ...opened, content: bytes.toString() }
  } finally {
    opened.file.close()
  }
}
