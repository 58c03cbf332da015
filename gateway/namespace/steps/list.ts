import { S3Error } from '../../s3/errors.ts'
import { type DirectoryWindow, directoryNames } from '../directory-names.ts'
import { entryOfStat } from '../entry.ts'
import { ELOOP, ENOTDIR, failure, isRefused, orFail } from '../errno.ts'
import { isPath } from '../key-path.ts'
import { close, cstring, O_DIRECTORY, O_NOFOLLOW, O_PATH, O_RDONLY, openAt, stat, statAt, statOpen } from '../libc.ts'
import { type Mount, openPath } from '../mount.ts'
import type { ListQuery } from '../namespace.ts'
import { lastOf, search, skipPrefix, startsWith } from '../sorted-names.ts'
import { isAbsence, openBucket } from './find.ts'
import { addKey, addPrefix, createPage, finishPage, hasRoom, type Page, type WirePage } from './list-page.ts'
import type { Scene } from './step.ts'

/** One page of a listing. The bucket and the prefix's folder are opened as the acting user each time. */
export function* list(scene: Scene, query: ListQuery): Generator<undefined, WirePage> {
  const { mount } = scene
  const page = createPage(query)
  const folder = query.prefix.slice(0, query.prefix.lastIndexOf('/') + 1)
  const fd = openFolder(mount, query.bucket, folder)
  if (fd !== undefined) {
    const walk: Walk = { mount, page, levels: [] }
    try {
      if (addSelf(page, fd, folder)) yield* goThrough(walk, fd, folder)
      else close(fd)
    } finally {
      for (const level of walk.levels) close(level.fd)
    }
  }
  return finishPage(scene, page)
}

/** Undefined when there is none: a prefix whose folder is missing is that of nothing (S3A needs it). */
function openFolder(mount: Mount, bucket: string, folder: string): number | undefined {
  const isPossible = folder === '' || isPath(folder)
  const fd = isPossible ? openPath(mount, cstring(`${bucket}/${folder}`), O_RDONLY | O_DIRECTORY) : ENOTDIR
  if (fd >= 0) return fd
  if (!isAbsence(fd)) throw failure(fd, 'open')
  close(openBucket(mount, bucket))
  return undefined
}

/** A folder is in the listing of its own prefix. False when the page is to have no more than that. */
function addSelf(page: Page, fd: number, folder: string): boolean {
  const { prefix, maxKeys } = page.query
  if (maxKeys === 0) return false
  const isSelf = folder !== '' && prefix === folder && Buffer.compare(Buffer.from(folder), page.after) > 0
  return !isSelf || statOpen(fd) < 0 || addKey(page, folder, entryOfStat())
}

/** A directory whose names are being gone through. */
interface Level {
  readonly fd: number
  /** Its key: '' or with a final slash. */
  readonly key: string
  /** What its names must begin with. */
  readonly filter: Buffer
  window: DirectoryWindow
  index: number
}

/** The way down from the prefix's folder to where the listing is. */
interface Walk {
  readonly mount: Mount
  readonly page: Page
  readonly levels: Level[]
}

const nothing = Buffer.alloc(0)
const slash = 0x2f

/** Goes through an open folder and those below it in the order of keys, until the page is full. */
function* goThrough(walk: Walk, top: number, folder: string): Generator<undefined, void> {
  const { page, levels } = walk
  const within = Buffer.from(folder)
  const isInside = beginsWith(page.after, within)
  if (!isInside && Buffer.compare(page.after, within) > 0) {
    close(top)
    return
  }
  const filter = Buffer.from(page.query.prefix).subarray(within.length)
  yield* enter(walk, top, folder, filter, isInside ? page.after.subarray(within.length) : nothing)
  for (let level = levels.at(-1); level !== undefined && !page.isFull; level = levels.at(-1)) {
    const { names, whole } = level.window
    if (level.index >= names.count && !whole) yield* goOn(walk, level)
    else if (level.index < names.count && startsWith(names, level.index, level.filter)) {
      const folderBelow = visit(walk, level)
      if (folderBelow !== undefined) yield* enter(walk, folderBelow.fd, folderBelow.key, nothing, nothing)
    } else {
      levels.pop()
      close(level.fd)
    }
  }
}

function beginsWith(bytes: Buffer, prefix: Buffer): boolean {
  return bytes.length >= prefix.length && bytes.compare(prefix, 0, prefix.length, 0, prefix.length) === 0
}

/** The next stretch of a folder that is too large to be kept as a whole. */
function* goOn({ mount, page }: Walk, level: Level): Generator<undefined, void> {
  const last = Buffer.from(lastOf(level.window.names))
  level.window = yield* directoryNames(mount, level.fd, last, page.query.maxKeys + 2)
  level.index = search(level.window.names, last, false)
}

/**
 * Goes into an open folder, after `cursor` (relative to it): where that lies in a sub-folder, into that as well.
 * Whatever happens, `fd` belongs to the walk or is closed.
 */
function* enter(walk: Walk, fd: number, key: string, filter: Buffer, cursor: Buffer): Generator<undefined, void> {
  const { mount, page, levels } = walk
  const end = cursor.indexOf(slash)
  const from = floorOf(filter, end < 0 ? cursor : cursor.subarray(0, end))
  let window: DirectoryWindow
  try {
    window = yield* directoryNames(mount, fd, from, page.query.maxKeys + 2)
  } catch (error) {
    close(fd)
    // A folder that is removed meanwhile has nothing in it.
    if (error instanceof S3Error && error.code === 'NoSuchKey') return
    throw error
  }
  const { names } = window
  const first = filter.length === 0 ? 0 : search(names, filter, true)
  const index = cursor.length === 0 ? first : Math.max(first, search(names, cursor, false))
  const level: Level = { fd, key, filter, window, index }
  levels.push(level)
  if (end < 0) return
  const folder = cursor.subarray(0, end + 1)
  const at = search(names, folder, true)
  if (at >= names.count || !startsWith(names, at, folder) || !startsWith(names, at, filter)) return
  const name = folder.toString()
  const prefix = commonPrefix(page, key + name)
  if (prefix !== undefined) {
    level.index = Math.max(level.index, skipPrefix(names, Buffer.from(prefix.slice(key.length)), at))
    return
  }
  const below = openAt(fd, nameAt(level, at), O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
  if (below >= 0) yield* enter(walk, below, key + name, nothing, cursor.subarray(end + 1))
}

/** The names that are needed come after this: after the cursor, and not before the filter. */
function floorOf(filter: Buffer, cursor: Buffer): Buffer {
  if (filter.length === 0) return cursor
  // The last byte less one, then one that no UTF-8 has: just before the filter.
  const before = Buffer.from([...filter.subarray(0, -1), (filter.at(-1) ?? 1) - 1, 0xff])
  return Buffer.compare(before, cursor) > 0 ? before : cursor
}

/** What the key is rolled up into: up to and with the first delimiter after the prefix. */
function commonPrefix({ query: { delimiter, prefix } }: Page, key: string): string | undefined {
  if (delimiter === '') return undefined
  const at = key.indexOf(delimiter, prefix.length)
  return at < 0 ? undefined : key.slice(0, at + delimiter.length)
}

/** Puts the next name of a level on the page; returns the folder that is to be gone into. */
function visit(walk: Walk, level: Level): { fd: number; key: string } | undefined {
  const { page } = walk
  const { index } = level
  const { names } = level.window
  const isCertain = names.uncertain[index] === 0
  const key = level.key + names.bytes.toString('utf8', names.starts[index], names.starts[index + 1])
  const prefix = commonPrefix(page, key)
  if (prefix !== undefined) {
    rollUp(walk, level, key, prefix)
    return undefined
  }
  if (isCertain && !hasRoom(page)) return undefined
  level.index += 1
  if (key.endsWith('/')) return visitFolder(walk, level, index, key)
  if (look(walk, level, index, key) && stat.isFile) addKey(page, key, entryOfStat())
  return undefined
}

/** A common prefix stands for all keys that begin with it. */
function rollUp(walk: Walk, level: Level, key: string, prefix: string): void {
  const { index } = level
  const { names } = level.window
  if (names.uncertain[index] === 1 && !isThere(walk, level, key)) level.index += 1
  else if (addPrefix(walk.page, prefix)) {
    const isOneName = prefix.length === key.length
    level.index = isOneName ? index + 1 : skipPrefix(names, Buffer.from(prefix.slice(level.key.length)), index)
  }
}

function visitFolder(walk: Walk, level: Level, index: number, key: string): { fd: number; key: string } | undefined {
  const fd = openAt(level.fd, nameAt(level, index), O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
  if (fd >= 0) {
    if (statOpen(fd) === 0 && addKey(walk.page, key, entryOfStat())) return { fd, key }
    close(fd)
  } else if (isRefused(fd) || fd === ENOTDIR || fd === ELOOP) {
    // A folder that the user cannot read, or a symlink to one: its entry alone.
    if (look(walk, level, index, key) && stat.isDirectory) addKey(walk.page, key, entryOfStat())
  } else if (!isAbsence(fd)) throw failure(fd, 'open')
  return undefined
}

/** Whether a name that may be a file or a folder is what the key says. */
function isThere(walk: Walk, level: Level, key: string): boolean {
  return look(walk, level, level.index, key) && (key.endsWith('/') ? stat.isDirectory : stat.isFile)
}

/**
 * Looks at an entry, or at what a symlink leads to; the result is in `stat`. False when it is gone, or leads out of the
 * namespace. Who may read a folder but not search it sees nothing of it: AccessDenied for the folder asked for.
 */
function look({ mount, page, levels }: Walk, level: Level, index: number, key: string): boolean {
  const result = statAt(level.fd, nameAt(level, index))
  if (isRefused(result)) {
    if (level === levels[0]) throw failure(result, 'statx')
    level.window = { ...level.window, whole: true }
    level.index = level.window.names.count
    return false
  }
  if (isAbsence(result)) return false
  orFail(result, 'statx')
  if (!stat.isSymlink) return true
  const fd = openPath(mount, cstring(`${page.query.bucket}/${key}`), O_PATH)
  if (fd < 0) return false
  const found = statOpen(fd) === 0
  close(fd)
  return found
}

/** Room for the longest name and its NUL. */
const scratch = Buffer.alloc(1024)

/** A name of a level, without a final slash, for a call. It is good until the next. */
function nameAt({ window }: Level, index: number): Buffer {
  const { bytes, starts } = window.names
  const length = bytes.copy(scratch, 0, starts[index], starts[index + 1])
  const isFolder = scratch[length - 1] === slash
  scratch[isFolder ? length - 1 : length] = 0
  return scratch
}
