import { S3Error } from '../../s3/errors.ts'
import { folderId } from '../entry.ts'
import { EEXIST, failure, orFail } from '../errno.ts'
import { reservedPrefix } from '../key-path.ts'
import {
  close,
  cstring,
  O_CREAT,
  O_DIRECTORY,
  O_EXCL,
  O_NOFOLLOW,
  O_PATH,
  O_RDONLY,
  O_RDWR,
  openAt,
  readAt,
  stat,
  statOpen,
  unlinkAt,
  writeAt,
} from '../libc.ts'
import { type Mount, openPath, realPath } from '../mount.ts'
import { isAbsence, openBucket } from './find.ts'
import type { Scene } from './step.ts'

/**
 * Where steps cannot run as the acting user, every file belongs to the process user, and the owner of a bucket is kept
 * below the root: a file `.s3proxy/buckets/<identity of the directory>` with the uid. The identity, not the name, so that
 * a record is there before its bucket is and means nothing once that directory is gone.
 */
const directory = `${reservedPrefix}/buckets`
/** Owners do not change. By identity of the directory. */
const known = new Map<string, number>()
const knownAtMost = 10_000

/** Uid of the owner of the bucket directory that was looked at last. */
export function ownerOfStat(mount: Mount): number {
  if (mount.enforced) return stat.uid
  const id = folderId()
  const uid = stat.uid
  const cached = known.get(id)
  if (cached !== undefined) return cached
  const owner = readOwner(mount, id) ?? uid
  if (known.size >= knownAtMost) known.clear()
  known.set(id, owner)
  return owner
}

/** Keeps the owner of a bucket about to appear, given its open directory. */
export function recordOwner(mount: Mount, bucket: number, uid: number): void {
  orFail(statOpen(bucket), 'statx')
  const path = cstring(`${directory}/${folderId()}`)
  const fd = openAt(mount.fd, path, O_CREAT | O_EXCL | O_RDWR, 0o600)
  if (fd === EEXIST) return
  orFail(fd, 'record owner')
  const text = Buffer.from(`${uid}\n`)
  const written = writeAt(fd, text, text.length, 0)
  close(fd)
  if (written !== text.length) {
    unlinkAt(mount.fd, path)
    throw failure(written, 'record owner')
  }
}

export function forgetOwner(mount: Mount, id: string): void {
  known.delete(id)
  unlinkAt(mount.fd, cstring(`${directory}/${id}`))
}

/**
 * Without enforced identity: throws AccessDenied unless the user owns the top-level bucket in which the path (of a bucket,
 * below it) really lies, whatever links lead there; of a path that is still to be made, its lowest folder that is there.
 */
export function permitChange({ mount, as }: Scene, bucket: string, path = ''): void {
  if (mount.enforced || as === undefined) return
  const fd = openNearest(mount, bucket, path)
  try {
    if (as.uid !== ownerOf(mount, fd)) throw new S3Error('AccessDenied')
  } finally {
    close(fd)
  }
}

function openNearest(mount: Mount, bucket: string, path: string): number {
  for (let rest = path; rest !== ''; rest = rest.slice(0, Math.max(rest.lastIndexOf('/'), 0))) {
    const fd = openPath(mount, cstring(`${bucket}/${rest}`), O_PATH)
    if (fd >= 0) return fd
    if (!isAbsence(fd)) throw failure(fd, 'open')
  }
  return openBucket(mount, bucket)
}

/** Undefined for what lies in no bucket: the root itself, and files in it. */
function ownerOf(mount: Mount, handle: number): number | undefined {
  const path = realPath(mount, handle)
  if (path === undefined || path === '') return undefined
  const name = Buffer.from(`${path.split('/', 1)[0]}\0`, 'latin1')
  const fd = openAt(mount.fd, name, O_PATH | O_DIRECTORY | O_NOFOLLOW)
  if (fd < 0) return undefined
  try {
    orFail(statOpen(fd), 'statx')
    return ownerOfStat(mount)
  } finally {
    close(fd)
  }
}

function readOwner(mount: Mount, id: string): number | undefined {
  const fd = openAt(mount.fd, cstring(`${directory}/${id}`), O_RDONLY & ~O_DIRECTORY)
  if (fd < 0) return undefined
  const text = Buffer.alloc(16)
  const length = readAt(fd, text, text.length, 0)
  close(fd)
  const uid = Number(text.toString('latin1', 0, Math.max(length, 0)))
  return length > 0 && Number.isSafeInteger(uid) ? uid : undefined
}
