import { S3Error } from '../../s3/errors.ts'
import { entryOfStat, type WireEntry } from '../entry.ts'
import { orFail } from '../errno.ts'
import type { KeyPath } from '../key-path.ts'
import {
  close,
  cstring,
  mayAccess,
  O_DIRECTORY,
  O_NONBLOCK,
  O_PATH,
  O_RDONLY,
  R_OK,
  readAt,
  stat,
  statOpen,
  W_OK,
} from '../libc.ts'
import { openPath } from '../mount.ts'
import { notFound } from './find.ts'
import { permitChange } from './owner.ts'
import type { Scene } from './step.ts'

/** Opened entry; its descriptor, or -1 when it is closed; its content, when it was small enough. */
export type WireOpened = readonly [WireEntry, number, ArrayBuffer | undefined]

/** Times a small file is read again that shrinks while it is read. */
const attempts = 3

/**
 * Opens a file for reading and reads it whole when it is small. Only regular files and folders exist for S3: a FIFO
 * would hang the thread, so the open does not wait and what is found decides.
 */
export function open(scene: Scene, bucket: string, key: KeyPath, inlineBytes: number): WireOpened | S3Error {
  const { mount } = scene
  if (key.isFolder) {
    const folder = statFolder(scene, bucket, key)
    return folder instanceof S3Error ? folder : [folder, -1, undefined]
  }
  const fd = openPath(mount, cstring(`${bucket}/${key.path}`), O_RDONLY | O_NONBLOCK)
  if (fd < 0) return notFound(mount, bucket, fd, 'open')
  let kept = false
  try {
    for (let attempt = 0; attempt < attempts; attempt += 1) {
      orFail(statOpen(fd), 'statx')
      if (!stat.isFile) return new S3Error('NoSuchKey')
      const entry = entryOfStat()
      const size = entry[2]
      if (size > inlineBytes) break
      const content = new ArrayBuffer(size)
      if (size === 0 || orFail(readAt(fd, content, size, 0), 'read') === size) {
        scene.transfer(content)
        return [entry, -1, content]
      }
    }
    kept = true
    return [entryOfStat(), fd, undefined]
  } finally {
    if (!kept) close(fd)
  }
}

/** Throws AccessDenied, with `forChange`, unless the user may write to it. A file's entry is for who may read it. */
export function statEntry(scene: Scene, bucket: string, key: KeyPath, forChange: boolean): WireEntry | S3Error {
  if (forChange) permitChange(scene, bucket, key.path)
  if (key.isFolder) return statFolder(scene, bucket, key, forChange ? W_OK : 0)
  const { mount } = scene
  const fd = openPath(mount, cstring(`${bucket}/${key.path}`), O_PATH)
  if (fd < 0) return notFound(mount, bucket, fd, 'open')
  try {
    orFail(statOpen(fd), 'statx')
    if (!stat.isFile) return new S3Error('NoSuchKey')
    const entry = entryOfStat()
    orFail(mayAccess(fd, forChange ? W_OK : R_OK), 'access')
    return entry
  } finally {
    close(fd)
  }
}

/** A folder is there for everybody who may reach it, as in its parent's listing. */
function statFolder({ mount }: Scene, bucket: string, key: KeyPath, access = 0): WireEntry | S3Error {
  const fd = openPath(mount, cstring(`${bucket}/${key.path}`), O_PATH | O_DIRECTORY)
  if (fd < 0) return notFound(mount, bucket, fd, 'open')
  try {
    if (access !== 0) orFail(mayAccess(fd, access), 'access')
    orFail(statOpen(fd), 'statx')
    return entryOfStat()
  } finally {
    close(fd)
  }
}
