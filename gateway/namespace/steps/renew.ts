import { entryOfStat, fileId, fileIdAt, type WireEntry } from '../entry.ts'
import { ELOOP, isRefused, orFail } from '../errno.ts'
import type { KeyPath } from '../key-path.ts'
import { close, cstring, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, setModified, stat, statOpen } from '../libc.ts'
import { openPath } from '../mount.ts'
import { nextStamp } from '../stamp.ts'
import { notFound } from './find.ts'
import { permitChange } from './owner.ts'
import type { Scene } from './step.ts'

/** Descriptor, the identity that the file is to get, and the time (ns) that gives it. */
export type WireRenewal = readonly [fd: number, id: string, stamp: bigint]

/**
 * Opens an object that is to get a new identity; undefined when it is another now, another's, or has other names. A
 * symlink is not followed: what it leads to is the object of another key.
 */
export function planRenewal(scene: Scene, bucket: string, key: KeyPath, expected: string): WireRenewal | undefined {
  const { mount, as } = scene
  permitChange(scene, bucket, key.folder)
  const fd = openPath(mount, cstring(`${bucket}/${key.path}`), O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
  if (isRefused(fd) || fd === ELOOP) return undefined
  if (fd < 0) throw notFound(mount, bucket, fd, 'open')
  const isOwn = statOpen(fd) === 0 && (!mount.enforced || as === undefined || stat.uid === as.uid)
  if (!isOwn || !stat.isFile || stat.links !== 1 || fileId() !== expected) {
    close(fd)
    return undefined
  }
  const stamp = nextStamp()
  return [fd, fileIdAt(stamp), stamp]
}

/** Sets the time of the open file. Undefined when it has changed since, or its owner. */
export function renew(_scene: Scene, fd: number, expected: string, stamp: bigint): WireEntry | undefined {
  orFail(statOpen(fd), 'statx')
  if (fileId() !== expected || stat.links !== 1) return undefined
  const result = setModified(fd, stamp)
  if (isRefused(result)) return undefined
  orFail(result, 'set modification time')
  orFail(statOpen(fd), 'statx')
  return entryOfStat()
}
