import { fileId, folderId } from '../entry.ts'
import { EBUSY, EEXIST, EISDIR, ENOENT, ENOTDIR, ENOTEMPTY, orFail } from '../errno.ts'
import type { KeyPath } from '../key-path.ts'
import {
  AT_REMOVEDIR,
  close,
  cstring,
  O_DIRECTORY,
  O_NOFOLLOW,
  O_PATH,
  O_RDONLY,
  openAt,
  readDirectory,
  stat,
  statOpen,
  unlinkAt,
} from '../libc.ts'
import { type Mount, openPath } from '../mount.ts'
import type { Removed } from '../namespace.ts'
import { isTempName } from '../temp-name.ts'
import { isAbsence, notFound, openBucket } from './find.ts'
import { permitChange } from './owner.ts'
import { isGone } from './publish.ts'
import type { Scene } from './step.ts'

/** Removes a file, an empty folder, or a symlink that stands for one. What S3 cannot see stays. */
export function remove(scene: Scene, bucket: string, key: KeyPath): Removed {
  const { mount } = scene
  permitChange(scene, bucket, key.folder)
  const path = key.folder === '' ? bucket : `${bucket}/${key.folder}`
  const directory = openPath(mount, cstring(path), O_PATH | O_DIRECTORY)
  if (directory < 0) {
    if (!isAbsence(directory)) throw notFound(mount, bucket, directory, 'open')
    close(openBucket(mount, bucket))
    return { outcome: 'missing' }
  }
  try {
    const removed = removeFrom(mount, directory, bucket, key)
    if (removed.outcome !== 'removed' || key.folder === '' || statOpen(directory) < 0) return removed
    return { ...removed, parent: { key: `${key.folder}/`, id: folderId(), empty: isEmpty(directory) } }
  } finally {
    close(directory)
  }
}

function removeFrom(mount: Mount, directory: number, bucket: string, key: KeyPath): Removed {
  const name = cstring(key.name)
  const entry = openAt(directory, name, O_PATH | O_NOFOLLOW)
  if (isAbsence(entry)) return { outcome: 'missing' }
  orFail(entry, 'open')
  try {
    orFail(statOpen(entry), 'statx')
    if (stat.isSymlink) return removeLink(mount, directory, bucket, key)
    if (key.isFolder) return stat.isDirectory ? removeFolder(directory, name) : { outcome: 'missing' }
    return stat.isFile ? removeFile(directory, name, entry) : { outcome: 'missing' }
  } finally {
    close(entry)
  }
}

function removeFile(directory: number, name: Buffer, entry: number): Removed {
  const id = fileId()
  const result = unlinkAt(directory, name)
  if (result === ENOENT || result === EISDIR) return { outcome: 'missing' }
  orFail(result, 'unlink')
  return isGone(entry) ? { outcome: 'removed', id } : { outcome: 'removed' }
}

function removeFolder(directory: number, name: Buffer): Removed {
  const id = folderId()
  const result = unlinkAt(directory, name, AT_REMOVEDIR)
  if (result === ENOENT || result === ENOTDIR) return { outcome: 'missing' }
  if (result === ENOTEMPTY || result === EEXIST || result === EBUSY) return { outcome: 'notEmpty', id }
  orFail(result, 'rmdir')
  return { outcome: 'removed', id }
}

/** A symlink goes itself, never what it leads to, and only where listings show it as what is to be removed. */
function removeLink(mount: Mount, directory: number, bucket: string, key: KeyPath): Removed {
  const fd = openPath(mount, cstring(`${bucket}/${key.path}`), O_PATH)
  if (fd < 0) return { outcome: 'missing' }
  const isShown = statOpen(fd) === 0 && (key.isFolder ? stat.isDirectory : stat.isFile)
  close(fd)
  if (!isShown) return { outcome: 'missing' }
  const result = unlinkAt(directory, cstring(key.name))
  if (result === ENOENT) return { outcome: 'missing' }
  orFail(result, 'unlink')
  return { outcome: 'removed' }
}

/** Enough for `.`, `..` and one more of any length. */
const few = Buffer.alloc(1024)

function isEmpty(directory: number): boolean {
  const fd = openAt(directory, cstring('.'), O_RDONLY | O_DIRECTORY)
  if (fd < 0) return false
  let entries = 0
  for (let length = readDirectory(fd, few); length > 0 && entries < 3; length = readDirectory(fd, few)) {
    for (let at = 0; at < length; at += few.readUInt16LE(at + 16)) entries += 1
  }
  close(fd)
  return entries < 3
}

/** Removes left-over temporary files by their paths; anything else stays, whatever its name is. */
export function collect({ mount }: Scene, temps: readonly string[]): void {
  for (const temp of temps) {
    if (!isTempName(temp)) continue
    const slash = temp.lastIndexOf('/')
    const directory = openPath(mount, cstring(temp.slice(0, slash)), O_PATH | O_DIRECTORY)
    if (directory < 0) continue
    unlinkAt(directory, cstring(temp.slice(slash + 1)))
    close(directory)
  }
}
