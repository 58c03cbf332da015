import { constants } from 'node:fs'
import koffi from 'koffi'

/**
 * The system calls that Node does not offer: relative to directory descriptors, with names as bytes, and for the calling
 * thread alone. Each returns the call's value or the negative error number, as the kernel does; none throws. Names and
 * paths are NUL-terminated bytes (see `cstring`).
 */

export const AT_FDCWD = -100
const AT_SYMLINK_NOFOLLOW = 0x100
export const AT_REMOVEDIR = 0x200
const AT_EACCESS = 0x200
const AT_SYMLINK_FOLLOW = 0x400
const AT_EMPTY_PATH = 0x1000

export const O_CLOEXEC = 0o2000000
export const O_PATH = 0o10000000
export const O_TMPFILE = 0o20000000 | constants.O_DIRECTORY
export const { O_CREAT, O_DIRECTORY, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_RDWR } = constants

export const R_OK = 4
export const W_OK = 2

const RESOLVE_NO_SYMLINKS = 0x04
const RESOLVE_BENEATH = 0x08
const RENAME_NOREPLACE = 1
const CLOCK_REALTIME = 0

/** Numbers of the calls that glibc does not wrap, or applies to the whole process. */
const numbers = {
  x64: { openat2: 437, setgroups: 116, renameat2: 316, getdents64: 217, faccessat2: 439 },
  arm64: { openat2: 437, setgroups: 159, renameat2: 276, getdents64: 61, faccessat2: 439 },
}

/** Whether the numbers above are known for this kind of processor. */
export const isSupported = process.platform === 'linux' && process.arch in numbers
const number = numbers[process.arch as keyof typeof numbers] ?? numbers.x64

const libc = koffi.load(null)
const calls = {
  openat2: libc.func('long syscall(long number, int fd, const void *path, const void *how, size_t size)'),
  openat: libc.func('int openat(int fd, const void *path, int flags, unsigned int mode)'),
  close: libc.func('int close(int fd)'),
  statx: libc.func('int statx(int fd, const void *path, int flags, unsigned int mask, void *out)'),
  faccessat2: libc.func('long syscall(long number, int fd, const void *path, int mode, int flags)'),
  pread: libc.func('long pread(int fd, void *out, size_t length, int64_t offset)'),
  pwrite: libc.func('long pwrite(int fd, const void *bytes, size_t length, int64_t offset)'),
  linkat: libc.func('int linkat(int from, const void *path, int to, const void *name, int flags)'),
  unlinkat: libc.func('int unlinkat(int fd, const void *name, int flags)'),
  mkdirat: libc.func('int mkdirat(int fd, const void *name, unsigned int mode)'),
  renameat: libc.func('int renameat(int from, const void *old, int to, const void *name)'),
  renameat2: libc.func('long syscall(long number, int from, const void *old, int to, const void *name, int flags)'),
  fchmod: libc.func('int fchmod(int fd, unsigned int mode)'),
  fchown: libc.func('int fchown(int fd, unsigned int uid, unsigned int gid)'),
  futimens: libc.func('int futimens(int fd, const void *times)'),
  clockGettime: libc.func('int clock_gettime(int clock, void *out)'),
  copyFileRange: libc.func(
    'long copy_file_range(int from, void *fromAt, int to, void *toAt, size_t length, unsigned int flags)',
  ),
  lseek: libc.func('long lseek(int fd, int64_t offset, int whence)'),
  getdents64: libc.func('long syscall(long number, int fd, void *out, size_t length)'),
  setgroups: libc.func('long syscall(long number, size_t count, const void *groups)'),
  setfsuid: libc.func('int setfsuid(unsigned int uid)'),
  setfsgid: libc.func('int setfsgid(unsigned int gid)'),
}

function checked(result: number): number {
  return result < 0 ? -koffi.errno() : result
}

/** A name or path as the C library takes it. */
export function cstring(text: string): Buffer {
  return Buffer.from(`${text}\0`)
}

const empty = cstring('')
/** Scratch for structures; a thread makes one call at a time. */
const how = Buffer.alloc(24)
how.writeUInt32LE(RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS, 16)
const times = new BigInt64Array(4)
const offsets = [new BigInt64Array(1), new BigInt64Array(1)] as const

/** openat2 below `directory`, without `..` out of it (-EXDEV) and without any symlink (-ELOOP). */
export function openStraight(directory: number, path: Uint8Array, flags: number): number {
  how.writeInt32LE(flags | O_CLOEXEC, 0)
  return checked(calls.openat2(number.openat2, directory, path, how, how.length))
}

export function openAt(directory: number, name: Uint8Array, flags: number, mode = 0): number {
  return checked(calls.openat(directory, name, flags | O_CLOEXEC, mode))
}

/** Opens what a descriptor stands for once more, with other flags; permissions are checked anew. */
export function reopen(fd: number, flags: number): number {
  return openAt(AT_FDCWD, cstring(`/proc/self/fd/${fd}`), flags)
}

export function close(fd: number): number {
  return checked(calls.close(fd))
}

/** Whether the acting user of this thread may `mode` what the descriptor stands for. */
export function mayAccess(fd: number, mode: number): number {
  return checked(calls.faccessat2(number.faccessat2, fd, empty, mode, AT_EACCESS | AT_EMPTY_PATH))
}

export function readAt(fd: number, out: Uint8Array | ArrayBuffer, length: number, offset: number): number {
  return checked(calls.pread(fd, out, length, offset))
}

export function writeAt(fd: number, bytes: Uint8Array, length: number, offset: number): number {
  return checked(calls.pwrite(fd, bytes, length, offset))
}

/** Gives an open, nameless file (O_TMPFILE) a name. */
export function linkOpen(fd: number, directory: number, name: Uint8Array): number {
  return checked(calls.linkat(AT_FDCWD, cstring(`/proc/self/fd/${fd}`), directory, name, AT_SYMLINK_FOLLOW))
}

export function linkAt(from: number, old: Uint8Array, to: number, name: Uint8Array): number {
  return checked(calls.linkat(from, old, to, name, 0))
}

export function unlinkAt(directory: number, name: Uint8Array, flags = 0): number {
  return checked(calls.unlinkat(directory, name, flags))
}

export function makeDirectoryAt(directory: number, name: Uint8Array, mode: number): number {
  return checked(calls.mkdirat(directory, name, mode))
}

export function renameAt(from: number, old: Uint8Array, to: number, name: Uint8Array): number {
  return checked(calls.renameat(from, old, to, name))
}

/** Rename that fails with -EEXIST when the new name is taken; -EINVAL or -ENOSYS where that is not supported. */
export function renameNoReplaceAt(from: number, old: Uint8Array, to: number, name: Uint8Array): number {
  return checked(calls.renameat2(number.renameat2, from, old, to, name, RENAME_NOREPLACE))
}

export function changeMode(fd: number, mode: number): number {
  return checked(calls.fchmod(fd, mode))
}

export function changeOwner(fd: number, uid: number, gid: number): number {
  return checked(calls.fchown(fd, uid, gid))
}

/** Sets the modification time (ns since the epoch) of an open file, and its access time to the same. */
export function setModified(fd: number, ns: bigint): number {
  times[0] = times[2] = ns / 1_000_000_000n
  times[1] = times[3] = ns % 1_000_000_000n
  return checked(calls.futimens(fd, times))
}

/** The real-time clock in ns since the epoch. */
export function realTime(): bigint {
  calls.clockGettime(CLOCK_REALTIME, times)
  return (times[0] ?? 0n) * 1_000_000_000n + (times[1] ?? 0n)
}

/** Copies within the kernel, sharing blocks where the file system can; returns the bytes copied, 0 at the end. */
export function copyRange(from: number, fromAt: number, to: number, toAt: number, length: number): number {
  offsets[0][0] = BigInt(fromAt)
  offsets[1][0] = BigInt(toAt)
  return checked(calls.copyFileRange(from, offsets[0], to, offsets[1], length, 0))
}

/** Has a directory read from its beginning again. */
export function rewind(fd: number): number {
  return checked(calls.lseek(fd, 0, 0))
}

/** Raw directory entries; 0 at the end. See directory-entries.ts for their form. */
export function readDirectory(fd: number, out: Uint8Array): number {
  return checked(calls.getdents64(number.getdents64, fd, out, out.length))
}

/** Sets the supplementary groups of the calling thread alone. */
export function setThreadGroups(groups: readonly number[]): number {
  return checked(calls.setgroups(number.setgroups, groups.length, Uint32Array.from(groups)))
}

/** Sets the user of the calling thread's file-system work; returns the one in force now, as the call fails silently. */
export function setThreadUser(uid: number): number {
  calls.setfsuid(uid)
  return calls.setfsuid(0xffffffff) >>> 0
}

export function setThreadGroup(gid: number): number {
  calls.setfsgid(gid)
  return calls.setfsgid(0xffffffff) >>> 0
}

const STATX_BASIC = 0x7ff
const STATX_BTIME = 0x800
const S_IFMT = 0o170000
const status = new Uint32Array(64)

/** What the last successful `statAt` or `statOpen` of this thread found. Copy what is to be kept. */
export const stat = {
  get isFile(): boolean {
    return (mode() & S_IFMT) === constants.S_IFREG
  },
  get isDirectory(): boolean {
    return (mode() & S_IFMT) === constants.S_IFDIR
  },
  get isSymlink(): boolean {
    return (mode() & S_IFMT) === constants.S_IFLNK
  },
  get permissions(): number {
    return mode() & 0o7777
  },
  get links(): number {
    return at(4)
  },
  get uid(): number {
    return at(5)
  },
  get gid(): number {
    return at(6)
  },
  get inode(): bigint {
    return (BigInt(at(9)) << 32n) | BigInt(at(8))
  },
  /** Inode number in base 36. */
  get inodeText(): string {
    return at(9) < 0x200000 ? (at(9) * 2 ** 32 + at(8)).toString(36) : stat.inode.toString(36)
  },
  get size(): number {
    return at(11) * 2 ** 32 + at(10)
  },
  get hasBirthTime(): boolean {
    return (at(0) & STATX_BTIME) !== 0
  },
  get birthSeconds(): number {
    return at(21) * 2 ** 32 + at(20)
  },
  get birthNanoseconds(): number {
    return at(22)
  },
  get changed(): bigint {
    return ((BigInt(at(25) | 0) << 32n) | BigInt(at(24))) * 1_000_000_000n + BigInt(at(26))
  },
  get modifiedSeconds(): number {
    return (at(29) | 0) * 2 ** 32 + at(28)
  },
  get modifiedNanoseconds(): number {
    return at(30)
  },
  get device(): string {
    return `${at(34)}:${at(35)}`
  },
}

function at(word: number): number {
  return status[word] ?? 0
}

function mode(): number {
  return at(7) & 0xffff
}

/** statx of a name in a directory, not following a symlink; the result is in `stat`. */
export function statAt(directory: number, name: Uint8Array): number {
  return checked(calls.statx(directory, name, AT_SYMLINK_NOFOLLOW, STATX_BASIC | STATX_BTIME, status))
}

/** statx of what a descriptor stands for; the result is in `stat`. */
export function statOpen(fd: number): number {
  return checked(calls.statx(fd, empty, AT_EMPTY_PATH, STATX_BASIC | STATX_BTIME, status))
}
