import { createDigest, type Digest } from '../../s3/checksum.ts'
import { S3Error } from '../../s3/errors.ts'
import { fileId, fileIdAt, modifiedMs, modifiedOf } from '../entry.ts'
import { EEXIST, EISDIR, ENOENT, ENOTDIR, EOPNOTSUPP, EPERM, failure, isRefused, orFail } from '../errno.ts'
import type { KeyPath } from '../key-path.ts'
import {
  close,
  cstring,
  linkAt,
  O_CREAT,
  O_DIRECTORY,
  O_EXCL,
  O_NOFOLLOW,
  O_NONBLOCK,
  O_PATH,
  O_RDONLY,
  O_RDWR,
  O_TMPFILE,
  openAt,
  setModified,
  stat,
  statAt,
  statOpen,
  unlinkAt,
  writeAt,
} from '../libc.ts'
import { type Mount, openPath } from '../mount.ts'
import { nextStamp } from '../stamp.ts'
import { isAbsence } from './find.ts'
import { openOrMakeFolder } from './folder.ts'
import { permitChange } from './owner.ts'
import type { Scene } from './step.ts'

/** A new file in the target's directory: both open; the folder as a handle. */
export interface WireStaged {
  readonly fd: number
  readonly directory: number
  /** New levels of the directory, see OpenFolder. */
  readonly made: number
  /** The file has its hidden name already. */
  readonly named: boolean
  /** When the content was given with it. */
  readonly finished?: WireFinished
}

/** Identity, size, modification time (ms) of a finished file. */
export type WireFinished = readonly [id: string, size: number, modifiedMs: number, digests: readonly Uint8Array[]]

/** Times a directory is made again that somebody removes meanwhile. */
const attempts = 8

/**
 * Begins a new file in the target's own directory as the acting user, so that default ACLs, setgid, quotas and
 * permissions apply: nameless where that can be (and no `named` name is wanted), else under the hidden name.
 */
export function stage(
  scene: Scene,
  bucket: string,
  key: KeyPath,
  hidden: string,
  named: boolean,
  content: Uint8Array | undefined,
  digests: readonly Digest[],
  overFolder: boolean,
): WireStaged {
  permitChange(scene, bucket, key.folder)
  const staged = openNew(scene.mount, bucket, key, cstring(hidden), named, overFolder)
  try {
    if (content === undefined) return staged
    writeWhole(staged.fd, content, 0)
    return {
      ...staged,
      finished: finish(
        scene,
        staged.fd,
        digests.map((digest) => digestOf(digest, content)),
      ),
    }
  } catch (error) {
    discard(scene, staged.fd, staged.directory, hidden, staged.named)
    throw error
  }
}

function openNew(
  mount: Mount,
  bucket: string,
  key: KeyPath,
  hidden: Buffer,
  named: boolean,
  overFolder: boolean,
): WireStaged {
  let made = 0
  for (let attempt = 0; ; attempt += 1) {
    const folder = openOrMakeFolder(mount, bucket, key.folder)
    made = Math.max(made, folder.made)
    const file = openIn(mount, folder.fd, key, hidden, named, overFolder)
    if (file.fd >= 0) return { ...file, directory: folder.fd, made }
    close(folder.fd)
    if (file.fd !== ENOENT || attempt === attempts) throw failure(file.fd, 'create')
  }
}

function openIn(
  mount: Mount,
  directory: number,
  key: KeyPath,
  hidden: Buffer,
  named: boolean,
  overFolder: boolean,
): { fd: number; named: boolean } {
  const found = statAt(directory, cstring(key.name))
  if (found === 0 ? stat.isDirectory && !overFolder : found !== ENOENT) {
    close(directory)
    throw found === 0 ? new S3Error('ExistingObjectIsDirectory') : failure(found, 'statx')
  }
  if (!named) {
    const fd = openAt(directory, cstring('.'), O_TMPFILE | O_RDWR, mount.fileMode)
    // ext4 says so of a directory that has been removed meanwhile.
    if (fd === EPERM && statOpen(directory) === 0 && stat.links === 0) return { fd: ENOENT, named: false }
    if (fd !== EOPNOTSUPP && fd !== EISDIR) return { fd, named: false }
  }
  const flags = O_CREAT | O_EXCL | O_RDWR | O_NOFOLLOW
  let fd = openAt(directory, hidden, flags, mount.fileMode)
  if (fd === EEXIST && unlinkAt(directory, hidden) === 0) fd = openAt(directory, hidden, flags, mount.fileMode)
  return { fd, named: true }
}

export function writeWhole(fd: number, bytes: Uint8Array, position: number): void {
  for (let done = 0; done < bytes.length; ) {
    const rest = done === 0 ? bytes : bytes.subarray(done)
    done += orFail(writeAt(fd, rest, rest.length, position + done), 'write')
  }
}

export function digestOf(digest: Digest, content: Uint8Array): Uint8Array {
  const computing = createDigest(digest)
  computing.update(content)
  return computing.digest()
}

/** Gives the file a modification time of its own, and so its identity, which is what the file system kept of it. */
export function finish(_scene: Scene, fd: number, digests: readonly Uint8Array[]): WireFinished {
  orFail(setModified(fd, nextStamp()), 'set modification time')
  orFail(statOpen(fd), 'statx')
  return [fileId(), stat.size, modifiedMs(), digests]
}

/** Closes a staged file and removes its name. Never throws. */
export function discard(_scene: Scene, fd: number, directory: number, hidden: string, named: boolean): void {
  if (named) unlinkAt(directory, cstring(hidden))
  close(fd)
  close(directory)
}

/** Staged again: an existing file under a hidden name, with the identity and time (ns) it is to have. */
export interface WireRestaged extends WireStaged {
  readonly id: string
  readonly size: number
  readonly modifiedMs: number
  readonly stamp: bigint
}

/**
 * Gives a stored file a hidden name in the target's directory besides its own. Its identity changes only at publish, so
 * that it stays what it was should that not come about. Undefined when it is not the file expected or cannot be linked.
 */
export function adopt(
  scene: Scene,
  source: { readonly bucket: string; readonly key: KeyPath },
  bucket: string,
  key: KeyPath,
  hidden: string,
  expected: string,
): WireRestaged | undefined {
  permitChange(scene, bucket, key.folder)
  const { mount } = scene
  const folderPath = source.key.folder === '' ? source.bucket : `${source.bucket}/${source.key.folder}`
  const from = openPath(mount, cstring(folderPath), O_PATH | O_DIRECTORY)
  if (from < 0) return undefined
  const name = cstring(source.key.name)
  const fd = openAt(from, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
  try {
    if (fd < 0 || statOpen(fd) < 0 || !stat.isFile || fileId() !== expected || !isOwner(scene)) return undefined
    const restaged = planned(fd, nextStamp())
    return linkInto(mount, from, name, bucket, key, hidden, restaged)
  } catch (error) {
    if (fd >= 0) close(fd)
    throw error
  } finally {
    close(from)
  }
}

function linkInto(
  mount: Mount,
  from: number,
  name: Buffer,
  bucket: string,
  key: KeyPath,
  hidden: string,
  restaged: Omit<WireRestaged, 'directory' | 'made'>,
): WireRestaged | undefined {
  const folder = openOrMakeFolder(mount, bucket, key.folder)
  try {
    const found = statAt(folder.fd, cstring(key.name))
    if (found === 0 && stat.isDirectory) throw new S3Error('ExistingObjectIsDirectory')
    const linked = linkAt(from, name, folder.fd, cstring(hidden))
    if (linked === 0 && isSame(restaged, statAt(folder.fd, cstring(hidden)))) {
      return { ...restaged, directory: folder.fd, made: folder.made }
    }
    if (linked === 0) unlinkAt(folder.fd, cstring(hidden))
  } catch (error) {
    close(folder.fd)
    throw error
  }
  close(folder.fd)
  close(restaged.fd)
  return undefined
}

/** Whether the file looked at last is the one whose identity was planned. */
function isSame({ id, stamp }: { id: string; stamp: bigint }, result: number): boolean {
  return result === 0 && fileIdAt(stamp) === id
}

function isOwner({ mount, as }: Scene): boolean {
  return !mount.enforced || as === undefined || stat.uid === as.uid
}

function planned(fd: number, stamp: bigint): Omit<WireRestaged, 'directory' | 'made'> {
  const { size } = stat
  return { fd, named: true, id: fileIdAt(stamp), size, modifiedMs: Number(stamp / 1_000_000n), stamp }
}

/** Opens a file again that was staged under a hidden name; undefined when it is not there, or another. */
export function restage(
  scene: Scene,
  bucket: string,
  key: KeyPath,
  hidden: string,
  id: string,
): WireRestaged | undefined {
  permitChange(scene, bucket, key.folder)
  const stamp = modifiedOf(id)
  const path = key.folder === '' ? bucket : `${bucket}/${key.folder}`
  const directory = openPath(scene.mount, cstring(path), O_PATH | O_DIRECTORY)
  if (stamp === undefined || directory < 0) return absent(directory, -1, directory)
  const fd = openAt(directory, cstring(hidden), O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
  if (fd < 0) return absent(directory, -1, fd)
  if (statOpen(fd) < 0 || !stat.isFile || fileIdAt(stamp) !== id) return absent(directory, fd, ENOTDIR)
  return { ...planned(fd, stamp), directory, made: 0 }
}

function absent(directory: number, fd: number, result: number): undefined {
  if (directory >= 0) close(directory)
  if (fd >= 0) close(fd)
  if (result < 0 && !isAbsence(result) && !isRefused(result)) throw failure(result, 'open')
  return undefined
}
