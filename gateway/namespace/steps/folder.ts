import { S3Error } from '../../s3/errors.ts'
import { actAs } from '../acting-user.ts'
import { entryOfStat, type WireEntry } from '../entry.ts'
import { EEXIST, ELOOP, ENOENT, ENOTDIR, failure, isRefused, orFail } from '../errno.ts'
import type { KeyPath } from '../key-path.ts'
import {
  close,
  cstring,
  makeDirectoryAt,
  O_DIRECTORY,
  O_PATH,
  O_RDONLY,
  openAt,
  stat,
  statAt,
  statOpen,
} from '../libc.ts'
import { type Mount, openPath } from '../mount.ts'
import { openBucket } from './find.ts'
import { permitChange } from './owner.ts'
import type { Scene } from './step.ts'

/** An open folder, as a handle, and how many levels of it, from the lowest up, are new. */
export interface OpenFolder {
  readonly fd: number
  readonly made: number
}

/** Times the way is made again that somebody removes meanwhile. */
const attempts = 32

/**
 * Opens a folder of a bucket and makes what is missing of it, as the acting user.
 * Throws NoSuchBucket, ObjectParentIsFile, AccessDenied, KeyTooLongError.
 */
export function openOrMakeFolder(mount: Mount, bucket: string, folder: string): OpenFolder {
  if (folder === '') return { fd: openBucket(mount, bucket), made: 0 }
  let made = 0
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    const fd = openPath(mount, cstring(`${bucket}/${folder}`), O_PATH | O_DIRECTORY)
    if (fd >= 0) return { fd, made }
    if (fd === ENOTDIR || fd === ELOOP) {
      close(openBucket(mount, bucket))
      throw new S3Error('ObjectParentIsFile')
    }
    if (fd !== ENOENT) throw failure(fd, 'open folder')
    made += makeWay(mount, bucket, folder)
  }
  throw new S3Error('ObjectParentIsFile', 'A parent of this key is a broken symbolic link or is removed all the time.')
}

/** Makes the missing folders from the top; returns how many. Gives up quietly when one is removed meanwhile. */
function makeWay(mount: Mount, bucket: string, folder: string): number {
  let parent = openBucket(mount, bucket)
  let path = bucket
  let made = 0
  try {
    for (const part of folder.split('/')) {
      path += `/${part}`
      const fd = openPath(mount, cstring(path), O_PATH | O_DIRECTORY)
      if (fd >= 0) {
        close(parent)
        parent = fd
        continue
      }
      if (fd === ENOTDIR || fd === ELOOP) return made
      if (fd !== ENOENT) throw failure(fd, 'open folder')
      const result = makeDirectoryAt(parent, cstring(part), mount.directoryMode)
      if (result === ENOENT) return made
      if (result !== EEXIST) {
        orFail(result, 'mkdir')
        made += 1
      }
      const next = openPath(mount, cstring(path), O_PATH | O_DIRECTORY)
      if (next < 0) return made
      close(parent)
      parent = next
    }
    return made
  } finally {
    close(parent)
  }
}

/** Makes a folder with its missing parents. The descriptors are those to sync. Throws ExistingObjectIsFile. */
export function makeFolder(
  scene: Scene,
  bucket: string,
  key: KeyPath,
  sync: boolean,
): readonly [WireEntry, readonly number[]] {
  const { mount } = scene
  permitChange(scene, bucket, key.path)
  let folder: OpenFolder
  try {
    folder = openOrMakeFolder(mount, bucket, key.path)
  } catch (error) {
    if (error instanceof S3Error && error.code === 'ObjectParentIsFile' && isFile(mount, bucket, key)) {
      throw new S3Error('ExistingObjectIsFile')
    }
    throw error
  }
  try {
    orFail(statOpen(folder.fd), 'statx')
    const entry = entryOfStat()
    return [entry, sync ? openToSync(mount, folder.fd, folder.made) : []]
  } finally {
    close(folder.fd)
  }
}

function isFile(mount: Mount, bucket: string, key: KeyPath): boolean {
  const parent = openPath(mount, cstring(`${bucket}/${key.folder}`), O_PATH | O_DIRECTORY)
  if (parent < 0) return false
  const found = statAt(parent, cstring(key.name)) === 0 && !stat.isDirectory
  close(parent)
  return found
}

/**
 * Opens a directory, and as many of its parents as have a new entry, in a way that they can be fsynced: for reading, if
 * need be as the process user, since whoever writes to a directory need not be able to read it.
 */
export function openToSync(mount: Mount, directory: number, parents: number): number[] {
  const opened: number[] = []
  let path = '.'
  for (let level = 0; level <= parents; level += 1) {
    let fd = openAt(directory, cstring(path), O_RDONLY | O_DIRECTORY)
    if (isRefused(fd) && mount.enforced) {
      actAs(undefined)
      fd = openAt(directory, cstring(path), O_RDONLY | O_DIRECTORY)
    }
    if (fd >= 0) opened.push(fd)
    path += '/..'
  }
  return opened
}
