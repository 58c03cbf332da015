import { S3Error } from '../../s3/errors.ts'
import { actAs } from '../acting-user.ts'
import { directoryNames } from '../directory-names.ts'
import { createdMs, folderId } from '../entry.ts'
import { EBUSY, EEXIST, EINVAL, ENOENT, ENOSYS, ENOTEMPTY, failure, isRefused, orFail } from '../errno.ts'
import {
  AT_REMOVEDIR,
  changeMode,
  changeOwner,
  close,
  cstring,
  makeDirectoryAt,
  mayAccess,
  O_DIRECTORY,
  O_NOFOLLOW,
  O_PATH,
  O_RDONLY,
  openAt,
  readDirectory,
  renameNoReplaceAt,
  stat,
  statAt,
  statOpen,
  unlinkAt,
  W_OK,
} from '../libc.ts'
import { type Mount, openPath } from '../mount.ts'
import { lastOf, search } from '../sorted-names.ts'
import { hiddenName } from '../temp-name.ts'
import { openBucket } from './find.ts'
import { openToSync } from './folder.ts'
import { forgetOwner, ownerOfStat, permitChange, recordOwner } from './owner.ts'
import type { Scene } from './step.ts'

/** Buckets described before others may run. */
const atOnce = 1000

/** Identity, creation time (ms), uid of the owner. */
export type WireBucket = readonly [id: string, createdMs: number, uid: number]

export function statBucket(scene: Scene, bucket: string, forChange: boolean): WireBucket {
  const { mount } = scene
  if (forChange) permitChange(scene, bucket)
  const fd = openBucket(mount, bucket)
  try {
    if (forChange && mount.enforced) orFail(mayAccess(fd, W_OK), 'access')
    return describe(mount, fd)
  } finally {
    close(fd)
  }
}

function describe(mount: Mount, fd: number): WireBucket {
  orFail(statOpen(fd), 'statx')
  return describeStat(mount)
}

/** Of the directory that was looked at last. */
function describeStat(mount: Mount): WireBucket {
  const id = folderId()
  const created = createdMs()
  return [id, created, ownerOfStat(mount)]
}

/** All top-level directories, in byte order. Runs as the process user: everybody may know which buckets there are. */
export function* listBuckets({ mount }: Scene): Generator<undefined, readonly (readonly [string, ...WireBucket])[]> {
  const fd = orFail(openAt(mount.fd, cstring('.'), O_RDONLY | O_DIRECTORY), 'open the root')
  try {
    const found: (readonly [string, ...WireBucket])[] = []
    let after: Buffer<ArrayBufferLike> = Buffer.alloc(0)
    for (;;) {
      const { names, whole } = yield* directoryNames(mount, fd, after, atOnce)
      for (let index = search(names, after, false); index < names.count; index += 1) {
        const slot = names.bytes.toString('utf8', names.starts[index], names.starts[index + 1])
        if (!slot.endsWith('/')) continue
        const name = slot.slice(0, -1)
        if (statAt(fd, cstring(name)) < 0 || !stat.isDirectory) continue
        found.push([name, ...describeStat(mount)])
      }
      if (whole) return found
      after = Buffer.from(lastOf(names))
    }
  } finally {
    close(fd)
  }
}

/** Whether the root can be read, for readiness. */
export function check({ mount }: Scene): boolean {
  const fd = openAt(mount.fd, cstring('.'), O_RDONLY | O_DIRECTORY)
  if (fd < 0) return false
  const few = Buffer.alloc(1024)
  const read = readDirectory(fd, few)
  close(fd)
  return read >= 0
}

/**
 * Makes a bucket. A top-level one as the process user, since the root is its: under a hidden name, handed over, then
 * renamed, so that it appears with owner and mode. A nested one as the acting user.
 */
export function createBucket(scene: Scene, bucket: string, sync: boolean): readonly [WireBucket, readonly number[]] {
  const { mount, as } = scene
  const slash = bucket.lastIndexOf('/')
  if (slash >= 0) permitChange(scene, bucket.slice(0, slash))
  const parent = slash < 0 ? rootHandle(mount) : openBucket(mount, bucket.slice(0, slash))
  const name = cstring(bucket.slice(slash + 1))
  try {
    if (statAt(parent, name) === 0) throw taken(scene, bucket)
    if (slash < 0 && mount.enforced) actAs(undefined)
    const owner = slash < 0 ? as : undefined
    const made = appear(mount, parent, name, owner)
    if (made === EEXIST) throw taken(scene, bucket)
    orFail(made, 'mkdir')
    const fd = orFail(openAt(parent, name, O_PATH | O_DIRECTORY | O_NOFOLLOW), 'open')
    const described = describe(mount, fd)
    close(fd)
    return [described, sync ? openToSync(mount, parent, 0) : []]
  } finally {
    close(parent)
  }
}

/** A descriptor of the root that can be closed like any other. */
function rootHandle(mount: Mount): number {
  return orFail(openAt(mount.fd, cstring('.'), O_PATH | O_DIRECTORY), 'open the root')
}

function appear(mount: Mount, parent: number, name: Buffer, owner: Scene['as']): number {
  const hidden = cstring(hiddenName())
  const made = makeDirectoryAt(parent, hidden, 0o700)
  if (made < 0) return made
  try {
    prepare(mount, parent, hidden, owner)
    const renamed = renameNoReplaceAt(parent, hidden, parent, name)
    if (renamed === 0) return 0
    unlinkAt(parent, hidden, AT_REMOVEDIR)
    if (renamed !== EINVAL && renamed !== ENOSYS) return renamed
  } catch (error) {
    unlinkAt(parent, hidden, AT_REMOVEDIR)
    throw error
  }
  // No RENAME_NOREPLACE (NFS), and a plain rename would replace an empty bucket: closed to all until handed over.
  const direct = makeDirectoryAt(parent, name, 0o700)
  if (direct === 0) prepare(mount, parent, name, owner)
  return direct
}

function prepare(mount: Mount, parent: number, name: Buffer, owner: Scene['as']): void {
  const fd = orFail(openAt(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW), 'open')
  try {
    if (owner !== undefined && mount.enforced) orFail(changeOwner(fd, owner.uid, owner.gid), 'chown')
    if (owner !== undefined && !mount.enforced) recordOwner(mount, fd, owner.uid)
    orFail(changeMode(fd, mount.bucketMode), 'chmod')
  } finally {
    close(fd)
  }
}

/** Why a bucket cannot be made where something is already. */
function taken({ mount, as }: Scene, bucket: string): S3Error {
  const fd = openPath(mount, cstring(bucket), O_PATH | O_DIRECTORY)
  if (fd < 0) return new S3Error('InvalidBucketName', 'There is something at this path that is no bucket.')
  orFail(statOpen(fd), 'statx')
  const owner = ownerOfStat(mount)
  close(fd)
  return new S3Error(owner === (as?.uid ?? process.geteuid?.()) ? 'BucketAlreadyOwnedByYou' : 'BucketAlreadyExists')
}

/** Removes an empty bucket: a top-level one for its owner, a nested one for who may write to its parent. */
export function removeBucket(scene: Scene, bucket: string): void {
  const { mount, as } = scene
  const slash = bucket.lastIndexOf('/')
  if (slash >= 0) permitChange(scene, bucket.slice(0, slash))
  const fd = openBucket(mount, bucket)
  const [id, , owner] = describe(mount, fd)
  close(fd)
  if (slash < 0 && as !== undefined && as.uid !== owner) throw new S3Error('AccessDenied')
  const parent = slash < 0 ? rootHandle(mount) : openBucket(mount, bucket.slice(0, slash))
  if (slash < 0 && mount.enforced) actAs(undefined)
  const result = unlinkAt(parent, cstring(bucket.slice(slash + 1)), AT_REMOVEDIR)
  close(parent)
  if (result === ENOTEMPTY || result === EEXIST || result === EBUSY) throw new S3Error('BucketNotEmpty')
  if (result === ENOENT) throw new S3Error('NoSuchBucket')
  if (isRefused(result)) throw new S3Error('AccessDenied')
  if (result < 0) throw failure(result, 'rmdir')
  if (!mount.enforced) forgetOwner(mount, id)
}
