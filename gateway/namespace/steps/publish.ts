import { S3Error } from '../../s3/errors.ts'
import { fileId, folderId } from '../entry.ts'
import { EEXIST, EINVAL, EISDIR, ENOENT, ENOSYS, ESTALE, failure, orFail } from '../errno.ts'
import type { KeyPath } from '../key-path.ts'
import {
  close,
  cstring,
  linkAt,
  linkOpen,
  O_NOFOLLOW,
  O_PATH,
  openAt,
  renameAt,
  renameNoReplaceAt,
  setModified,
  stat,
  statAt,
  statOpen,
  unlinkAt,
} from '../libc.ts'
import type { Mount } from '../mount.ts'
import { openOrMakeFolder, openToSync } from './folder.ts'
import type { Scene } from './step.ts'

export interface Publication {
  readonly bucket: string
  readonly key: KeyPath
  /** The finished file, and the directory it is to be in. */
  readonly fd: number
  readonly directory: number
  readonly made: number
  /** Hidden name, which the file has already if `named`. */
  readonly hidden: string
  readonly named: boolean
  /** Modification time (ns) still to be set. */
  readonly stamp: bigint | undefined
  readonly ifAbsent: boolean
  readonly sync: boolean
}

/** Identity of the replaced file, of the parent folder; descriptors to sync and close. */
export type WirePublished = readonly [replaced: string | undefined, parent: string | undefined, sync: readonly number[]]

/** Times a directory is made again that somebody removes meanwhile. */
const attempts = 8

/**
 * Makes a staged file the object: by link where nothing is there, else by rename, so that whoever looks sees the old or
 * the new file. Closes both descriptors, but after a failure, when `discard` is still to come.
 */
export function publish({ mount }: Scene, publication: Publication): WirePublished {
  const { fd, key } = publication
  if (publication.stamp !== undefined) orFail(setModified(fd, publication.stamp), 'set modification time')
  let { directory, made } = publication
  try {
    for (let attempt = 0; ; attempt += 1) {
      const placed = place(directory, publication)
      if (typeof placed !== 'number') {
        const result = report(mount, directory, made, publication, placed.replaced)
        close(fd)
        close(publication.directory)
        return result
      }
      if (placed !== ENOENT || publication.named || attempt === attempts) throw failure(placed, 'link')
      // Somebody has removed the directory: a nameless file does not keep it there.
      if (directory !== publication.directory) close(directory)
      directory = publication.directory
      const folder = openOrMakeFolder(mount, publication.bucket, key.folder)
      directory = folder.fd
      made = Math.max(made, folder.made)
    }
  } finally {
    if (directory !== publication.directory) close(directory)
  }
}

function report(
  mount: Mount,
  directory: number,
  made: number,
  { key, sync }: Publication,
  replaced: string | undefined,
): WirePublished {
  const parent = key.folder !== '' && statOpen(directory) === 0 ? folderId() : undefined
  return [replaced, parent, sync ? openToSync(mount, directory, made) : []]
}

interface Placed {
  readonly replaced: string | undefined
}

/** -ENOENT when the directory is gone. */
function place(directory: number, publication: Publication): Placed | number {
  const name = cstring(publication.key.name)
  const hidden = cstring(publication.hidden)
  if (publication.named) {
    return publication.ifAbsent
      ? renameIfAbsent(directory, hidden, name, publication.fd)
      : replace(directory, hidden, name, publication.fd)
  }
  const linked = linkOpen(publication.fd, directory, name)
  if (linked === 0) return { replaced: undefined }
  if (linked !== EEXIST) return linked
  if (publication.ifAbsent) throw new S3Error('PreconditionFailed')
  const named = linkOpen(publication.fd, directory, hidden)
  if (named < 0) return named
  try {
    return replace(directory, hidden, name, publication.fd)
  } catch (error) {
    unlinkAt(directory, hidden)
    throw error
  }
}

/** Renames over whatever is there; what was there is looked at through a handle, which stays on it. */
function replace(directory: number, hidden: Buffer, name: Buffer, fd: number): Placed {
  const old = openAt(directory, name, O_PATH | O_NOFOLLOW)
  try {
    let id: string | undefined
    if (old >= 0 && statOpen(old) === 0) {
      if (stat.isDirectory) throw new S3Error('ExistingObjectIsDirectory')
      if (stat.isFile) id = fileId()
    }
    const renamed = renameAt(directory, hidden, directory, name)
    if (renamed === EISDIR) throw new S3Error('ExistingObjectIsDirectory')
    if (renamed < 0 && !(renamed === ENOENT && isPublished(directory, name, fd))) throw lost(renamed)
    return { replaced: id !== undefined && isGone(old) ? id : undefined }
  } finally {
    if (old >= 0) close(old)
  }
}

/** Whether the file behind a handle has no name any more. */
export function isGone(handle: number): boolean {
  const result = statOpen(handle)
  return result === ESTALE || (result === 0 && stat.links === 0)
}

function renameIfAbsent(directory: number, hidden: Buffer, name: Buffer, fd: number): Placed {
  const renamed = renameNoReplaceAt(directory, hidden, directory, name)
  if (renamed === 0) return { replaced: undefined }
  if (renamed === EINVAL || renamed === ENOSYS) return linkIfAbsent(directory, hidden, name, fd)
  if (renamed === EEXIST) throw new S3Error('PreconditionFailed')
  if (renamed === ENOENT && isPublished(directory, name, fd)) return { replaced: undefined }
  throw lost(renamed)
}

/** Without RENAME_NOREPLACE (NFS): link, then unlink. A repeated call may find what the first has done. */
function linkIfAbsent(directory: number, hidden: Buffer, name: Buffer, fd: number): Placed {
  const linked = linkAt(directory, hidden, directory, name)
  if (linked < 0 && !isPublished(directory, name, fd)) {
    if (linked === EEXIST) throw new S3Error('PreconditionFailed')
    throw lost(linked)
  }
  unlinkAt(directory, hidden)
  return { replaced: undefined }
}

/** Whether the name is the open file's: an answer from the server was lost, or another process was faster. */
function isPublished(directory: number, name: Buffer, fd: number): boolean {
  if (statOpen(fd) < 0) return false
  const { inode, device } = stat
  return statAt(directory, name) === 0 && stat.inode === inode && stat.device === device
}

function lost(result: number): S3Error {
  if (result !== ENOENT) return failure(result, 'publish')
  return new S3Error('OperationAborted', 'The folder or the upload was removed meanwhile. Send the request again.')
}
