import { close, fsync } from 'node:fs'
import { failure } from './errno.ts'

/**
 * fsync takes as long as the disk does, so it runs on libuv's threads, never on those of the steps. It needs no
 * permission but the open descriptor. Throws InsufficientStorage, InternalError.
 */
export function syncFile(fd: number): Promise<void> {
  return new Promise((resolve, reject) => {
    fsync(fd, (error) => (error === null ? resolve() : reject(failure(error.errno ?? 0, 'fsync'))))
  })
}

/** Makes the entries of directories durable, and closes them. Some file systems refuse, as theirs always are. */
export async function syncDirectories(fds: readonly number[]): Promise<void> {
  const results = await Promise.allSettled(fds.map(syncDirectory))
  const failed = results.find((result) => result.status === 'rejected')
  if (failed !== undefined) throw failed.reason
}

async function syncDirectory(fd: number): Promise<void> {
  try {
    await new Promise<void>((resolve, reject) => {
      fsync(fd, (error) => {
        if (error === null || error.code === 'EINVAL' || error.code === 'ENOTSUP') resolve()
        else reject(failure(error.errno ?? 0, 'fsync'))
      })
    })
  } finally {
    closeLater(fd)
  }
}

/** Closing may take as long as writing (NFS): not on this thread. What it could report, fsync has. */
export function closeLater(fd: number): void {
  close(fd, () => {})
}
