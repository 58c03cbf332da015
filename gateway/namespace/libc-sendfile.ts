import koffi from 'koffi'
import type { DirectSend } from './namespace.ts'

/** The same on x64 and arm64; Linux 6.5. */
const SYS_cachestat = 451

const libc = koffi.load(null)
const sendfile = libc.func('long sendfile(int to, int from, void *offset, size_t length)')
const cachestat = libc.func(
  'long syscall(long number, unsigned int fd, const void *range, void *out, unsigned int flags)',
)
const pageSize = libc.func('int getpagesize()')() as number

const offset = new BigInt64Array(1)
const range = new BigUint64Array(2)
/** Pages in memory, dirty, under write-back, evicted, recently evicted. */
const pages = new BigUint64Array(5)

/** Sends a local file from the page cache. Older kernels cannot say what is in it: nothing is, for them. */
export function directSend(fd: number): DirectSend {
  return {
    isCached(start, length) {
      range[0] = BigInt(start)
      range[1] = BigInt(length)
      const wanted = Math.floor((start + length - 1) / pageSize) - Math.floor(start / pageSize) + 1
      return cachestat(SYS_cachestat, fd, range, pages, 0) === 0 && Number(pages[0]) >= wanted
    },
    sendTo(socket, start, length) {
      offset[0] = BigInt(start)
      return sendfile(socket, fd, offset, length)
    },
  }
}
