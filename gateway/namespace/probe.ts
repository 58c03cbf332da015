import { mkdirSync, readFileSync } from 'node:fs'
import { type ActingUser, actAs } from './acting-user.ts'
import { entryOfStat, fileId, fileIdAt } from './entry.ts'
import { EACCES, EEXIST, ENOENT, failure } from './errno.ts'
import { reservedPrefix } from './key-path.ts'
import {
  AT_FDCWD,
  AT_REMOVEDIR,
  changeMode,
  close,
  cstring,
  isSupported,
  linkOpen,
  makeDirectoryAt,
  O_CREAT,
  O_DIRECTORY,
  O_EXCL,
  O_RDONLY,
  O_RDWR,
  O_TMPFILE,
  openAt,
  realTime,
  renameAt,
  setModified,
  stat,
  statOpen,
  unlinkAt,
} from './libc.ts'
import { sweep } from './sweep.ts'
import { hiddenName } from './temp-name.ts'

/** What the file system below the root can do. */
export interface Probed {
  readonly tmpfile: boolean
  readonly enforced: boolean
  /** ns that modification times are kept to. */
  readonly granularity: bigint
  /** ns that the file system's clock is ahead of ours. */
  readonly clockOffset: bigint
}

export interface ProbeOptions {
  readonly root: string
  readonly readOnly: boolean
  readonly identityMode: 'auto' | 'enforced' | 'process'
}

/** Anybody but the process user. */
const somebody: ActingUser = { uid: 65_533, gid: 65_533, groups: [] }

/**
 * Makes the gateway's own directories below the root and tries what everything else relies on. Runs once, at start, and
 * blocks. Throws an Error whose message says what is wrong and what to do.
 */
export function probe(options: ProbeOptions): Probed {
  if (!isSupported) throw new Error('The gateway runs on Linux on x64 or arm64 only.')
  if (options.readOnly) {
    const root = openAt(AT_FDCWD, cstring(options.root), O_RDONLY | O_DIRECTORY)
    if (root < 0) throw unusable(options.root, root, 'read')
    close(root)
    const enforced = decide(options, () => loses(somebody))
    return { tmpfile: false, enforced, granularity: 1n, clockOffset: 0n }
  }
  const root = prepare(options.root)
  sweep(options.root)
  const name = cstring(`${reservedPrefix}/${hiddenName()}`)
  const directory = makeOpen(options.root, root, name)
  try {
    const granularity = probeTimes(options.root, directory)
    const clockOffset = probeClock(options.root, directory)
    const tmpfile = probeNameless(directory)
    const enforced = decide(options, () => isStopped(directory, somebody))
    return { tmpfile, enforced, granularity, clockOffset }
  } finally {
    for (const file of files) unlinkAt(directory, file)
    close(directory)
    unlinkAt(root, name, AT_REMOVEDIR)
    close(root)
  }
}

const [first, second, other] = [cstring('first'), cstring('second'), cstring('other')]
const files = [first, second, other]

/** The root, and in it what is kept centrally: reserved, and closed to all but the process user. */
function prepare(path: string): number {
  try {
    mkdirSync(path, { recursive: true })
  } catch (error) {
    throw new Error(`Cannot make the namespace root ${path} (${(error as Error).message}). ${writeRemedy}`)
  }
  const root = openAt(AT_FDCWD, cstring(path), O_RDONLY | O_DIRECTORY)
  if (root < 0) throw unusable(path, root, 'open')
  for (const name of ['', '/users', '/buckets']) {
    const made = makeDirectoryAt(root, cstring(`${reservedPrefix}${name}`), 0o700)
    if (made < 0 && made !== EEXIST) throw unusable(path, made, 'make .s3proxy in')
  }
  return root
}

const writeRemedy = 'Let the process user write there, or set svc.proxy.readonly=true.'

function unusable(path: string, result: number, what: string): Error {
  const cause = failure(result, what).cause
  const remedy = what === 'read' ? 'Create it, or let the process user read it.' : writeRemedy
  return new Error(`Cannot ${what} the namespace root ${path} (${cause}). ${remedy}`)
}

function makeOpen(path: string, root: number, name: Buffer): number {
  const made = makeDirectoryAt(root, name, 0o700)
  const directory = made < 0 ? made : openAt(root, name, O_RDONLY | O_DIRECTORY)
  if (directory < 0) throw unusable(path, directory, 'write to')
  // Others get as far as the probe's own files.
  changeMode(directory, 0o777)
  return directory
}

/** Candidates for what is kept of a time: ns, the 100 ns of SMB, µs. */
const granularities = [1n, 100n, 1000n]

/** Inode and modification time are the identity of a file's content: they must survive rename and reopening. */
function probeTimes(path: string, directory: number): bigint {
  const fd = openAt(directory, first, O_CREAT | O_EXCL | O_RDWR, 0o600)
  if (fd < 0) throw unusable(path, fd, 'write to')
  const stamp = 1_700_000_000_123_456_789n
  const set = setModified(fd, stamp)
  statOpen(fd)
  const { inode } = stat
  const kept = fileId()
  const granularity = granularities.find((candidate) => fileIdAt(stamp - (stamp % candidate)) === kept)
  close(fd)
  const again = renameAt(directory, first, directory, second) < 0 ? ENOENT : openAt(directory, second, O_RDONLY)
  const isStable = again >= 0 && statOpen(again) === 0 && stat.inode === inode && fileId() === kept
  if (again >= 0) close(again)
  if (set < 0 || granularity === undefined || !isStable) {
    throw new Error(
      'The file system of the namespace root does not keep inode numbers and modification times to the microsecond over rename and reopening, which the gateway tells contents apart by. Use another file system or other mount options (NFS 4, ext4, XFS, Btrfs, ZFS, CephFS and tmpfs are fine).',
    )
  }
  return granularity
}

function probeClock(path: string, directory: number): bigint {
  const fd = openAt(directory, other, O_CREAT | O_EXCL | O_RDWR, 0o600)
  if (fd < 0) throw unusable(path, fd, 'write to')
  statOpen(fd)
  close(fd)
  return stat.changed - realTime()
}

function probeNameless(directory: number): boolean {
  const fd = openAt(directory, cstring('.'), O_TMPFILE | O_RDWR, 0o600)
  if (fd < 0) return false
  unlinkAt(directory, first)
  const linked = linkOpen(fd, directory, first)
  close(fd)
  return linked === 0
}

function decide({ identityMode }: ProbeOptions, isEnforceable: () => boolean): boolean {
  if (identityMode === 'process') return false
  const enforced = isEnforceable()
  if (!enforced && identityMode === 'enforced') {
    throw new Error(
      'svc.proxy.identity.mode is enforced, but file-system work cannot run as the acting user here. Run as uid 0 with the capabilities SETUID, SETGID, CHOWN, DAC_OVERRIDE and FOWNER, on a file system that does not squash users, or set the mode to auto or process.',
    )
  }
  return enforced
}

/** Whether the kernel stops a switched thread at a file of the process user, and gives it files of its own. */
function isStopped(directory: number, user: ActingUser): boolean {
  return switched(user, () => {
    const foreign = openAt(directory, other, O_RDONLY)
    if (foreign >= 0) close(foreign)
    unlinkAt(directory, first)
    const own = openAt(directory, first, O_CREAT | O_EXCL | O_RDWR, 0o600)
    if (own < 0) return false
    statOpen(own)
    const [, , , , uid] = entryOfStat()
    close(own)
    return foreign === EACCES && uid === user.uid
  })
}

/** CHOWN, DAC_OVERRIDE, DAC_READ_SEARCH, FOWNER. */
const overrides = 0b1111n

/** Where nothing can be written: whether the kernel takes the overriding capabilities from a switched thread. */
function loses(user: ActingUser): boolean {
  return switched(user, () => {
    const effective = /^CapEff:\s*([0-9a-f]+)$/m.exec(readFileSync('/proc/thread-self/status', 'latin1'))?.[1]
    return effective !== undefined && (BigInt(`0x${effective}`) & overrides) === 0n
  })
}

/** The main thread is switched for a moment; nothing else runs in it meanwhile. */
function switched(user: ActingUser, attempt: () => boolean): boolean {
  try {
    actAs(user)
    return attempt()
  } catch {
    return false
  } finally {
    actAs(undefined)
  }
}
