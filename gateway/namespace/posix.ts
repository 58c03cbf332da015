import { resolve } from 'node:path'
import type { Config } from '../config/properties.ts'
import type { Identity } from '../identity/identity.ts'
import { S3Error } from '../s3/errors.ts'
import { type ActingUser, supplementaryGroups } from './acting-user.ts'
import { CachedReads } from './cached-reads.ts'
import { entryOf } from './entry.ts'
import { bucketDirectory } from './key-path.ts'
import { pageOf } from './list-result.ts'
import { affinityOf, located, locatedNew } from './located.ts'
import type {
  AssembleOptions,
  BucketEntry,
  ByteRange,
  Entry,
  FileId,
  ListPage,
  ListQuery,
  Namespace,
  NamespaceFeatures,
  Opened,
  OpenFile,
  OpenOptions,
  PartEntry,
  Removed,
  Staged,
  StageOptions,
  StatOptions,
  Target,
} from './namespace.ts'
import { isLost } from './namespace-thread.ts'
import { openedOf } from './opened.ts'
import { type Probed, probe } from './probe.ts'
import { PosixStaged, type Staging } from './staged-file.ts'
import type { WireBucket } from './steps/bucket.ts'
import type { WireRestaged } from './steps/stage.ts'
import { closeLater, syncDirectories, syncFile } from './sync.ts'
import { hiddenIn, hiddenName, tempName } from './temp-name.ts'
import { ThreadPool } from './thread-pool.ts'

export interface NamespaceOptions {
  readonly config: Config
  /** False: confine paths without openat2, as on kernels or in sandboxes that lack it. */
  readonly openat2?: boolean
  /** False: read on threads only, as on network file systems. */
  readonly cachedReads?: boolean
}

/**
 * Opens the namespace below `svc.proxy.namespace.root`: tries what the file system can do and starts the threads.
 * Sets the process's umask to 0, so that the modes of the configuration, or default ACLs, are what files get.
 * Throws an Error whose message says what is wrong and what to do.
 */
export async function openNamespace({
  config,
  openat2 = true,
  cachedReads = true,
}: NamespaceOptions): Promise<Namespace> {
  process.umask(0)
  const root = resolve(config.root)
  const probed = probe({ root, readOnly: config.readOnly, identityMode: config.identityMode })
  const namespace = new PosixNamespace(config, root, probed, openat2, cachedReads)
  await namespace.ready()
  if (!(await namespace.check(config.stepTimeoutMs))) {
    await namespace.close()
    throw new Error(`Cannot read the namespace root ${root}. Create it, or let the process user read it.`)
  }
  return namespace
}

/** Calls on a local file system that one thread does after each other before another is woken. */
const gatheredCalls = 4
class PosixNamespace implements Namespace {
  readonly features: NamespaceFeatures
  readonly #config: Config
  readonly #steps: ThreadPool
  readonly #cached: CachedReads | undefined
  readonly #startContents: () => ThreadPool
  #contents: ThreadPool | undefined
  readonly #users = new WeakMap<Identity, ActingUser>()

  constructor(
    config: Config,
    root: string,
    { tmpfile, enforced, granularity, clockOffset }: Probed,
    openat2: boolean,
    cachedReads: boolean,
  ) {
    this.#config = config
    this.features = { tmpfile, enforcedIdentity: enforced }
    const threads = config.namespaceThreads
    const mount = {
      root,
      enforced,
      fileMode: Number.parseInt(config.fileMode, 8),
      directoryMode: Number.parseInt(config.directoryMode, 8),
      bucketMode: Number.parseInt(config.bucketMode, 8),
      listMemory: Math.floor(config.listMemory / threads),
      clockOffset,
      openat2,
    }
    const options = { threads, stepTimeoutMs: config.stepTimeoutMs, data: { mount, granularity } }
    if (cachedReads) this.#cached = new CachedReads(mount)
    this.#steps = new ThreadPool({ ...options, gather: this.#cached?.isUsable ? gatheredCalls : 1 })
    this.#startContents = () => new ThreadPool(options)
  }

  ready(): Promise<void> {
    return this.#steps.ready()
  }

  async listBuckets(_as: Identity): Promise<BucketEntry[]> {
    const buckets = await this.#steps.run('listBuckets', undefined, [], { affinity: 0 })
    return buckets.map(([name, ...bucket]) => bucketOf(name, bucket))
  }

  async statBucket(as: Identity, bucket: string, { forChange = false }: StatOptions = {}): Promise<BucketEntry> {
    const path = bucketDirectory(bucket)
    return bucketOf(path, await this.#steps.run('statBucket', this.#user(as), [path, forChange]))
  }

  async createBucket(as: Identity, bucket: string): Promise<BucketEntry> {
    const path = bucketDirectory(bucket)
    const [made, directories] = await this.#steps.run('createBucket', this.#user(as), [path, this.#isDurable])
    await syncDirectories(directories)
    return bucketOf(path, made)
  }

  removeBucket(as: Identity, bucket: string): Promise<void> {
    return this.#steps.run('removeBucket', this.#user(as), [bucketDirectory(bucket)])
  }

  async stat(as: Identity, target: Target, { forChange = false }: StatOptions = {}): Promise<Entry> {
    const { bucket, key } = located(target)
    const cached = forChange ? undefined : await this.#cached?.stat(this.#user(as), bucket, key)
    if (cached !== undefined) return entryOf(cached.entry)
    return entryOf(await this.#steps.run('statEntry', this.#user(as), [bucket, key, forChange]))
  }

  async open(as: Identity, target: Target, { inlineBytes = -1 }: OpenOptions = {}): Promise<Opened> {
    const { bucket, key } = located(target)
    const cached = await this.#cached?.open(this.#user(as), bucket, key, inlineBytes)
    if (cached !== undefined) return openedOf(cached.entry, cached.fd, cached.bytes, true)
    const [wire, fd, bytes] = await this.#steps.run('open', this.#user(as), [bucket, key, inlineBytes])
    return openedOf(wire, fd, bytes && Buffer.from(bytes))
  }

  async list(as: Identity, query: ListQuery): Promise<ListPage> {
    const bucket = bucketDirectory(query.bucket)
    const affinity = affinityOf(bucket, query.prefix.slice(0, query.prefix.lastIndexOf('/') + 1))
    return pageOf(await this.#steps.run('list', this.#user(as), [{ ...query, bucket }], { affinity }))
  }

  async stage(as: Identity, target: Target, options: StageOptions): Promise<Staged> {
    return this.#stage(as, target, options)
  }

  tempName(target: Target): string {
    return tempName(target)
  }

  async copy(
    as: Identity,
    source: OpenFile,
    range: ByteRange | undefined,
    target: Target,
    options: StageOptions,
  ): Promise<Staged> {
    const staged = await this.#stage(as, target, options)
    try {
      const { start, length } = range ?? { start: 0, length: source.size }
      await staged.copyFrom(source.fd, start, 0, length)
      return staged
    } catch (error) {
      await staged.discard()
      throw error
    }
  }

  async assemble(
    as: Identity,
    sources: readonly Target[],
    target: Target,
    { temp, onProgress, signal }: AssembleOptions,
  ): Promise<Staged> {
    const staged = await this.#stage(as, target, { digests: [], temp })
    try {
      let done = 0
      for (const source of sources) {
        const { file } = await this.open(as, source)
        if (file === undefined) throw new S3Error('NoSuchKey')
        try {
          done += await staged.copyFrom(file.fd, 0, done, file.size, (bytes) => {
            signal?.throwIfAborted()
            onProgress?.(done + bytes)
          })
        } finally {
          file.close()
        }
      }
      return staged
    } catch (error) {
      await staged.discard()
      throw error
    }
  }

  async adopt(
    as: Identity,
    source: Target,
    target: Target,
    { temp, expected }: { readonly temp: string; readonly expected: FileId },
  ): Promise<Staged | undefined> {
    const to = locatedNew(target)
    const hidden = hiddenIn(target, temp)
    const user = this.#user(as)
    const from = located(source)
    const restaged = await this.#steps.run('adopt', user, [from, to.bucket, to.key, hidden, expected])
    return restaged && this.#restaged(as, target, hidden, restaged)
  }

  async restage(as: Identity, temp: string, target: Target, id: FileId): Promise<Staged | undefined> {
    const { bucket, key } = locatedNew(target)
    const hidden = hiddenIn(target, temp)
    const restaged = await this.#steps.run('restage', this.#user(as), [bucket, key, hidden, id])
    return restaged && this.#restaged(as, target, hidden, restaged)
  }

  async renew(
    as: Identity,
    target: Target,
    expected: FileId,
    write: (id: FileId) => Promise<void>,
  ): Promise<Entry | undefined> {
    const { bucket, key } = located(target)
    if (key.isFolder) return undefined
    const user = this.#user(as)
    const planned = await this.#steps.run('planRenewal', user, [bucket, key, expected])
    if (planned === undefined) return undefined
    const [fd, id, stamp] = planned
    let isLostStep = false
    try {
      await write(id)
      const entry = await this.#steps.run('renew', user, [fd, expected, stamp])
      if (entry !== undefined && this.#isDurable) await syncFile(fd)
      return entry && entryOf(entry)
    } catch (error) {
      isLostStep = isLost(error)
      throw error
    } finally {
      if (!isLostStep) closeLater(fd)
    }
  }

  async makeFolder(as: Identity, target: Target): Promise<Entry> {
    const { bucket, key } = locatedNew(target)
    const [entry, directories] = await this.#steps.run('makeFolder', this.#user(as), [bucket, key, this.#isDurable])
    await syncDirectories(directories)
    return entryOf(entry)
  }

  async remove(as: Identity, target: Target): Promise<Removed> {
    const { bucket, key } = located(target)
    return this.#steps.run('remove', this.#user(as), [bucket, key])
  }

  async parts(as: Identity, directory: Target): Promise<PartEntry[]> {
    const { bucket, key } = located(directory)
    const parts = await this.#steps.run('parts', this.#user(as), [bucket, key])
    return parts.map(([number, entry]) => ({ number, entry: entryOf(entry) }))
  }

  async holdsForeign(as: Identity, directory: Target): Promise<boolean> {
    const { bucket, key } = located(directory)
    return this.#steps.run('holdsForeign', this.#user(as), [bucket, key])
  }

  async removeParts(as: Identity, directory: Target): Promise<void> {
    const { bucket, key } = located(directory)
    await this.#steps.run('removeParts', this.#user(as), [bucket, key])
  }

  collect(temps: readonly string[]): Promise<void> {
    return this.#steps.run('collect', undefined, [temps])
  }

  async check(timeoutMs: number): Promise<boolean> {
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<boolean>((settle) => {
      timer = setTimeout(() => settle(false), timeoutMs)
    })
    const answer = this.#steps.run('check', undefined, []).catch(() => false)
    return Promise.race([answer, late]).finally(() => clearTimeout(timer))
  }

  async close(): Promise<void> {
    this.#cached?.close()
    await Promise.all([this.#steps.close(), this.#contents?.close()])
  }

  /** Without a backing store every write type but MUST_CACHE is acknowledged when it is on the disk (design §8). */
  get #isDurable(): boolean {
    return this.#config.writeType !== 'MUST_CACHE'
  }

  /** Undefined is the process user, as whom nothing is switched. */
  #user(as: Identity): ActingUser | undefined {
    if (as.superuser) return undefined
    let user = this.#users.get(as)
    if (user === undefined) {
      user = { uid: as.uid, gid: as.gid, groups: supplementaryGroups(as.gid, as.groups) }
      this.#users.set(as, user)
    }
    return user
  }

  #staging(as: Identity, target: Target, hidden: string, digests: StageOptions['digests']): Staging {
    const { bucket, key } = locatedNew(target)
    const contents = () => {
      this.#contents ??= this.#startContents()
      return this.#contents
    }
    return { steps: this.#steps, contents, as: this.#user(as), bucket, key, hidden, digests }
  }

  async #stage(
    as: Identity,
    target: Target,
    { digests, bytes, temp, overFolder = false }: StageOptions,
  ): Promise<PosixStaged> {
    const hidden = temp === undefined ? hiddenName() : hiddenIn(target, temp)
    const staging = this.#staging(as, target, hidden, digests)
    const { bucket, key } = staging
    if (key.isFolder) throw new S3Error('InvalidArgument', 'A key that ends in a slash names a folder, not an object.')
    const named = temp !== undefined || !this.features.tmpfile
    const open = await this.#steps.run('stage', staging.as, [bucket, key, hidden, named, bytes, digests, overFolder])
    return new PosixStaged(staging, open)
  }

  #restaged(as: Identity, target: Target, hidden: string, restaged: WireRestaged): Staged {
    const { id, size, modifiedMs, stamp } = restaged
    const file = { id, size, modifiedMs, digests: new Map() }
    return new PosixStaged(this.#staging(as, target, hidden, []), restaged, file, stamp)
  }
}

function bucketOf(path: string, [id, createdMs, uid]: WireBucket): BucketEntry {
  return { path, id, createdMs, uid }
}
