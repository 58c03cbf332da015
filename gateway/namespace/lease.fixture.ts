import { closeSync, openSync } from 'node:fs'
import koffi from 'koffi'

const fcntl = koffi.load(null).func('int fcntl(int fd, int command, int argument)')
const [F_SETSIG, F_SETLEASE, F_WRLCK] = [10, 1024, 1]
/** Ignored by default; the usual SIGIO would end the process. */
const SIGWINCH = 28

/** Leases a file to this process (fcntl(2)): until it is released, whoever opens it waits in the kernel. */
export function holdLease(path: string): { release(): void } {
  const fd = openSync(path, 'r+')
  if (fcntl(fd, F_SETSIG, SIGWINCH) !== 0 || fcntl(fd, F_SETLEASE, F_WRLCK) !== 0) {
    throw new Error(`no lease on ${path}: errno ${koffi.errno()}`)
  }
  return { release: () => closeSync(fd) }
}
