import { statfsSync } from 'node:fs'
import { type ActingUser, actAs } from './acting-user.ts'
import { entryOfStat, type WireEntry } from './entry.ts'
import { EAGAIN, EOPNOTSUPP } from './errno.ts'
import type { KeyPath } from './key-path.ts'
import { close, cstring, mayAccess, O_NONBLOCK, O_PATH, O_RDONLY, R_OK, stat, statOpen } from './libc.ts'
import { openCached, readCached } from './libc-cached.ts'
import { type Mount, type MountOptions, openMount } from './mount.ts'

/** File systems whose inodes in memory are true without asking anybody: ext4, XFS, Btrfs, tmpfs, overlayfs. */
const local: ReadonlySet<number> = new Set([0xef53, 0x58465342, 0x9123683e, 0x01021994, 0x794c7630])

/** As the step `open` returns it; `fd` is -1 when the file is closed. */
export interface CachedRead {
  readonly entry: WireEntry
  readonly fd: number
  readonly bytes: Buffer | undefined
}

/**
 * The read steps `open` and `statEntry` done at once on the event loop's own thread, as the acting user, when the kernel
 * has all that they need in memory and promises not to wait for a disk. A message to a namespace thread and back costs
 * ten times as much. Only success is told here: whatever else comes out, such as that nothing is there, is undefined,
 * and a namespace thread finds out, so that errors are made in one place. See docs/decisions/reads-on-the-event-loop.md.
 *
 * The calls of one turn of the event loop run together, one user after the other, because to switch costs more than to
 * look. Nothing else can run meanwhile, and the thread is the process user's again before it does.
 */
export class CachedReads {
  readonly #mount: Mount
  #isUsable: boolean
  #waiting: Call[] = []

  constructor(options: MountOptions) {
    this.#mount = openMount(options)
    this.#isUsable = options.openat2 && local.has(statfsSync(options.root).type) && this.#isSupported()
  }

  /** Whether anything is looked for here at all. */
  get isUsable(): boolean {
    return this.#isUsable
  }

  /** As the step `open`; undefined when a thread must do it. */
  open(
    as: ActingUser | undefined,
    bucket: string,
    key: KeyPath,
    inlineBytes: number,
  ): Promise<CachedRead | undefined> | undefined {
    return this.#add(as, bucket, key, O_RDONLY | O_NONBLOCK, (fd) => this.#read(fd, inlineBytes))
  }

  /** As the step `statEntry` of who does not want to change it; undefined when a thread must do it. */
  stat(as: ActingUser | undefined, bucket: string, key: KeyPath): Promise<CachedRead | undefined> | undefined {
    return this.#add(as, bucket, key, O_PATH, readable)
  }

  close(): void {
    this.#isUsable = false
    close(this.#mount.fd)
  }

  /** Folders are for the threads. */
  #add(
    as: ActingUser | undefined,
    bucket: string,
    key: KeyPath,
    flags: number,
    look: Call['look'],
  ): Promise<CachedRead | undefined> | undefined {
    if (!this.#isUsable || key.isFolder) return undefined
    return new Promise((resolve) => {
      if (this.#waiting.length === 0) setImmediate(() => this.#run())
      this.#waiting.push({ as, path: cstring(`${bucket}/${key.path}`), flags, look, resolve })
    })
  }

  #run(): void {
    const round = this.#waiting
    this.#waiting = []
    const { enforced } = this.#mount
    if (enforced && round.length > 1) round.sort((a, b) => (a.as?.uid ?? -1) - (b.as?.uid ?? -1))
    try {
      for (const call of round) call.resolve(this.#isUsable && canAct(enforced, call.as) ? this.#try(call) : undefined)
    } finally {
      // Should this fail, the process ends: no thread that others' work is done on may stay somebody else.
      if (enforced) actAs(undefined)
    }
  }

  #try({ path, flags, look }: Call): CachedRead | undefined {
    const fd = openCached(this.#mount.fd, path, flags)
    if (fd < 0) return undefined
    let found: CachedRead | undefined
    try {
      found = look(fd)
    } catch {
      // Out of memory: a thread may have more luck.
    }
    if (found?.fd !== fd) close(fd)
    return found
  }

  #read(fd: number, inlineBytes: number): CachedRead | undefined {
    if (statOpen(fd) < 0 || !stat.isFile) return undefined
    const entry = entryOfStat()
    const size = entry[2]
    if (size > inlineBytes) return { entry, fd, bytes: undefined }
    const bytes = readCached(fd, size)
    if (typeof bytes !== 'number') return { entry, fd: -1, bytes }
    if (bytes === EOPNOTSUPP) this.#isUsable = false
    return undefined
  }

  #isSupported(): boolean {
    const fd = openCached(this.#mount.fd, cstring('.'), O_PATH)
    if (fd >= 0) close(fd)
    return fd >= 0 || fd === EAGAIN
  }
}

interface Call {
  readonly as: ActingUser | undefined
  readonly path: Buffer
  readonly flags: number
  /** Looks at what was opened, which is closed afterwards unless it is in the answer. */
  readonly look: (fd: number) => CachedRead | undefined
  readonly resolve: (found: CachedRead | undefined) => void
}

function readable(fd: number): CachedRead | undefined {
  if (statOpen(fd) < 0 || !stat.isFile) return undefined
  const entry = entryOfStat()
  return mayAccess(fd, R_OK) < 0 ? undefined : { entry, fd: -1, bytes: undefined }
}

function canAct(enforced: boolean, as: ActingUser | undefined): boolean {
  if (!enforced) return true
  try {
    actAs(as)
    return true
  } catch {
    return false
  }
}
