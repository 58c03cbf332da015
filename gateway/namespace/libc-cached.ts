import koffi from 'koffi'
import { EAGAIN } from './errno.ts'
import { O_CLOEXEC } from './libc.ts'

/**
 * Calls that the kernel promises not to wait in: they answer from memory or fail with -EAGAIN. For the event loop's own
 * thread; results are as in libc.ts.
 */

const RESOLVE_NO_XDEV = 0x01
const RESOLVE_NO_SYMLINKS = 0x04
const RESOLVE_BENEATH = 0x08
const RESOLVE_CACHED = 0x20
const RWF_NOWAIT = 0x08
/** The same on x64 and arm64. */
const SYS_openat2 = 437

const libc = koffi.load(null)
const openat2 = libc.func('long syscall(long number, int fd, const void *path, const void *how, size_t size)')
const preadv2 = libc.func('long preadv2(int fd, const void *parts, int count, int64_t offset, int flags)')

const how = Buffer.alloc(24)
how.writeUInt32LE(RESOLVE_NO_XDEV | RESOLVE_NO_SYMLINKS | RESOLVE_BENEATH | RESOLVE_CACHED, 16)

/**
 * As `openStraight`, but -EAGAIN unless all that is on the way is in memory, and -EXDEV where another file system begins,
 * which may be one that waits. -EINVAL before Linux 5.12.
 */
export function openCached(directory: number, path: Uint8Array, flags: number): number {
  how.writeInt32LE(flags | O_CLOEXEC, 0)
  return checked(openat2(SYS_openat2, directory, path, how, how.length))
}

/** Small files share memory, for allocating costs more than reading; a slow client holds on to one such piece at most. */
const sharedBytes = 64 * 1024
const largestShared = 16 * 1024
let shared = Buffer.alloc(0)
let sharedAddress = 0n
let used = 0
const part = new BigUint64Array(2)

/** The first `size` bytes of a file, when all are in memory; a negative error number otherwise (-EAGAIN when it has shrunk). */
export function readCached(fd: number, size: number): Buffer | number {
  if (size === 0) return Buffer.alloc(0)
  if (size > largestShared) {
    const bytes = Buffer.allocUnsafeSlow(size)
    const got = readInto(fd, BigInt(koffi.address(bytes)), size)
    return got < 0 ? got : bytes
  }
  if (used + size > shared.length) {
    shared = Buffer.allocUnsafeSlow(sharedBytes)
    sharedAddress = BigInt(koffi.address(shared))
    used = 0
  }
  const got = readInto(fd, sharedAddress + BigInt(used), size)
  if (got < 0) return got
  const bytes = shared.subarray(used, used + size)
  used += size
  return bytes
}

function readInto(fd: number, address: bigint, size: number): number {
  part[0] = address
  part[1] = BigInt(size)
  const got = checked(preadv2(fd, part, 1, 0, RWF_NOWAIT))
  return got >= 0 && got < size ? EAGAIN : got
}

function checked(result: number): number {
  return result < 0 ? -koffi.errno() : result
}
