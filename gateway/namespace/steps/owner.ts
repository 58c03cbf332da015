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
  O_RDONLY,
  O_RDWR,
  openAt,
  readAt,
  stat,
  statOpen,
  unlinkAt,
  writeAt,
} from '../libc.ts'
import type { Mount } from '../mount.ts'
import { openBucket } from './find.ts'
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

/** Without enforced identity: throws AccessDenied unless the user owns the (top-level) bucket. */
export function permitChange({ mount, as }: Scene, bucket: string): void {
  if (mount.enforced || as === undefined) return
  if (as.uid !== ownerOf(mount, bucket)) throw new S3Error('AccessDenied')
}

/** A nested bucket belongs to the owner of the top-level one, as its files can be reached through both. */
function ownerOf(mount: Mount, bucket: string): number {
  const slash = bucket.indexOf('/')
  const fd = openBucket(mount, slash < 0 ? bucket : bucket.slice(0, slash))
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
