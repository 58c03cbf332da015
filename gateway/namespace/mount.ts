import { readlinkSync, statfsSync } from 'node:fs'
import { ELOOP, ENOSYS, EPERM, EXDEV, orFail } from './errno.ts'
import { reservedPrefix } from './key-path.ts'
import {
  AT_FDCWD,
  close,
  cstring,
  O_DIRECTORY,
  O_NOFOLLOW,
  O_PATH,
  O_RDONLY,
  openAt,
  openStraight,
  reopen,
  stat,
  statOpen,
} from './libc.ts'

/** What the steps of one thread work on. Plain values only, so that it can be sent to a thread. */
export interface MountOptions {
  /** Path of the root directory. */
  readonly root: string
  /** Steps run as the acting user; otherwise all as the process user, and the recorded owner decides. */
  readonly enforced: boolean
  readonly fileMode: number
  readonly directoryMode: number
  readonly bucketMode: number
  /** Bytes of directory listings that one thread may keep. */
  readonly listMemory: number
  /** How far the file system's clock is ahead of ours, in ns. */
  readonly clockOffset: bigint
  /** Use openat2; false has every path verified after the fact, as on kernels without it. */
  readonly openat2: boolean
}

/** A root directory, open. */
export interface Mount extends MountOptions {
  readonly fd: number
  openat2: boolean
  /** The device of the root, as `stat.device`, if that is a file system which only this machine can change. */
  readonly localDevice: string | undefined
}

/** ext4, XFS, Btrfs, tmpfs (statfs(2)). */
const local: ReadonlySet<number> = new Set([0xef53, 0x58465342, 0x9123683e, 0x01021994])

/** Throws S3Error when the root cannot be opened. */
export function openMount(options: MountOptions): Mount {
  const fd = orFail(openAt(AT_FDCWD, cstring(options.root), O_RDONLY | O_DIRECTORY), 'open the root')
  orFail(statOpen(fd), 'statx')
  const localDevice = local.has(statfsSync(options.root).type) ? stat.device : undefined
  return { ...options, fd, localDevice }
}

/**
 * Opens a path below the root as the thread's acting user. Symlinks are followed as long as they lead to what could be
 * named without them: -EXDEV for those that lead out of the root, or to what is reserved. So where there is one (or where
 * openat2 is not to be had) the path is opened as a mere handle first, and used only when the kernel says where that lies.
 */
export function openPath(mount: Mount, path: Uint8Array, flags: number): number {
  if (mount.openat2) {
    const fd = openStraight(mount.fd, path, flags)
    if (fd !== ELOOP && fd !== ENOSYS && fd !== EPERM) return fd
    if (fd === ENOSYS) mount.openat2 = false
  }
  const handle = openAt(mount.fd, path, O_PATH | (flags & (O_DIRECTORY | O_NOFOLLOW)))
  if (handle < 0) return handle
  if (!isAddressable(realPath(mount, handle))) {
    close(handle)
    return EXDEV
  }
  if ((flags & O_PATH) !== 0) return handle
  const fd = reopen(handle, flags & ~O_NOFOLLOW)
  close(handle)
  return fd
}

function isAddressable(path: string | undefined): boolean {
  return path !== undefined && !path.split('/').some((part) => part.startsWith(reservedPrefix))
}

/** Where an open file really lies, links resolved, as a path (latin1) below the root; undefined when it lies elsewhere. */
export function realPath(mount: Mount, handle: number): string | undefined {
  try {
    const root = readlinkSync(`/proc/self/fd/${mount.fd}`, 'latin1')
    const path = readlinkSync(`/proc/self/fd/${handle}`, 'latin1')
    if (path === root) return ''
    const start = root === '/' ? root : `${root}/`
    return path.startsWith(start) ? path.slice(start.length) : undefined
  } catch {
    return undefined
  }
}
