import { S3Error } from '../../s3/errors.ts'
import { type DirectoryWindow, directoryNames, lastOf } from '../directory-names.ts'
import { entryOfStat } from '../entry.ts'
import { ELOOP, ENOTDIR, failure, isRefused, orFail } from '../errno.ts'
import { isPath } from '../key-path.ts'
import { close, cstring, O_DIRECTORY, O_NOFOLLOW, O_PATH, O_RDONLY, openAt, stat, statAt, statOpen } from '../libc.ts'
import { type Mount, openPath } from '../mount.ts'
import type { ListQuery } from '../namespace.ts'
import { search, skipPrefix, startsWith } from '../sorted-names.ts'
import { isAbsence, openBucket } from './find.ts'
import { addKey, addPrefix, createPage, finishPage, hasRoom, type Page, type WirePage } from './list-page.ts'
import type { Scene } from './step.ts'

/** One page of a listing. The bucket and the prefix's folder are opened as the acting user each time. */
export function* list(scene: Scene, query: ListQuery): Generator<undefined, WirePage> {
  const page = createPage(query)
  const { mount } = scene
  const folder = query.prefix.slice(0, query.prefix.lastIndexOf('/') + 1)
  const fd = openFolder(mount, query.bucket, folder)
  if (fd !== undefined) {
    const levels: Level[] = []
    try {
      yield* walk(mount, page, levels, fd, folder)
    } finally {
      for (const level of levels) close(level.fd)
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

const nothing = Buffer.alloc(0)
const slash = 0x2f

/** Goes through the folder `top` and those below it in the order of keys, until the page is full. */
function* walk(mount: Mount, page: Page, levels: Level[], top: number, folder: string): Generator<undefined, void> {
  const { prefix, maxKeys } = page.query
  const within = Buffer.from(folder)
  const cursor = beginsWith(page.after, within) ? page.after.subarray(within.length) : nothing
  const isOver = cursor.length === 0 && Buffer.compare(page.after, within) > 0
  try {
    orFail(statOpen(top), 'statx')
    if (maxKeys === 0 || isOver || !addSelf(page, folder)) return
  } finally {
    if (maxKeys === 0 || isOver || page.isFull) close(top)
  }
  yield* descend(mount, page, levels, top, folder, Buffer.from(prefix).subarray(within.length), cursor)
  for (let level = levels.at(-1); level !== undefined && !page.isFull; level = levels.at(-1)) {
    const { names, whole } = level.window
    if (level.index < names.count) {
      if (startsWith(names, level.index, level.filter)) yield* visit(mount, page, levels, level)
      else leave(levels, level)
    } else if (whole) leave(levels, level)
    else {
      const last = Buffer.from(lastOf(names))
      level.window = yield* directoryNames(mount, level.fd, last, maxKeys + 2)
      level.index = search(level.window.names, last, false)
    }
  }
}

function beginsWith(bytes: Buffer, prefix: Buffer): boolean {
  return bytes.length >= prefix.length && bytes.compare(prefix, 0, prefix.length, 0, prefix.length) === 0
}

/** A folder is in the listing of its own prefix. False when the page is full. */
function addSelf(page: Page, folder: string): boolean {
  if (folder === '' || page.query.prefix !== folder) return true
  if (Buffer.compare(Buffer.from(folder), page.after) <= 0) return true
  return addKey(page, folder, entryOfStat())
}

function leave(levels: Level[], level: Level): void {
  levels.pop()
  close(level.fd)
}

/**
 * Goes into an open folder, after `cursor` (relative to it): where that lies in a sub-folder, into that as well.
 * Whatever happens, `fd` belongs to `levels` or is closed.
 */
function* descend(
  mount: Mount,
  page: Page,
  levels: Level[],
  fd: number,
  key: string,
  filter: Buffer,
  cursor: Buffer,
): Generator<undefined, void> {
  const end = cursor.indexOf(slash)
  const from = floorOf(filter, end < 0 ? cursor : cursor.subarray(0, end))
  let window: DirectoryWindow
  try {
    window = yield* directoryNames(mount, fd, from, page.query.maxKeys + 2)
  } catch (error) {
    close(fd)
    throw error
  }
  const { names } = window
  const level: Level = { fd, key, filter, window, index: 0 }
  levels.push(level)
  const first = filter.length === 0 ? 0 : search(names, filter, true)
  level.index = cursor.length === 0 ? first : Math.max(first, search(names, cursor, false))
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
  const child = openAt(fd, nameAt(level, at), O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
  if (child >= 0) yield* descend(mount, page, levels, child, key + name, nothing, cursor.subarray(end + 1))
}

/** The names that are needed come after this: after the cursor, and not before the filter. */
function floorOf(filter: Buffer, cursor: Buffer): Buffer {
  if (filter.length === 0) return cursor
  // The last byte less one, then one that no UTF-8 has: just before the filter.
  const before = Buffer.from([...filter.subarray(0, -1), (filter.at(-1) ?? 1) - 1, 0xff])
  return Buffer.compare(before, cursor) > 0 ? before : cursor
}

/** What the key is rolled up into: up to and with the first delimiter after the prefix. */
function commonPrefix(page: Page, key: string): string | undefined {
  const { delimiter, prefix } = page.query
  if (delimiter === '') return undefined
  const at = key.indexOf(delimiter, prefix.length)
  return at < 0 ? undefined : key.slice(0, at + delimiter.length)
}

/** Puts the next name of a level on the page, and goes into it if it is a folder. */
function* visit(mount: Mount, page: Page, levels: Level[], level: Level): Generator<undefined, void> {
  const { index } = level
  const { names } = level.window
  const isCertain = names.uncertain[index] === 0
  const key = level.key + names.bytes.toString('utf8', names.starts[index], names.starts[index + 1])
  const prefix = commonPrefix(page, key)
  if (prefix !== undefined) {
    if (!isCertain && !isThere(mount, page, levels, level, key)) level.index += 1
    else if (addPrefix(page, prefix)) {
      level.index = skipPrefix(names, Buffer.from(prefix.slice(level.key.length)), index)
    }
    return
  }
  if (isCertain && !hasRoom(page)) return
  level.index += 1
  if (!key.endsWith('/')) {
    if (look(mount, page, levels, level, index, key) && stat.isFile) addKey(page, key, entryOfStat())
    return
  }
  const child = openAt(level.fd, nameAt(level, index), O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
  if (child < 0) {
    addClosed(mount, page, levels, level, index, key, child)
    return
  }
  const found = statOpen(child)
  if (found < 0 || !addKey(page, key, entryOfStat())) close(child)
  else yield* enter(mount, page, levels, child, key)
}

/** Goes into a sub-folder; one that cannot be read stays without its contents. */
function* enter(mount: Mount, page: Page, levels: Level[], fd: number, key: string): Generator<undefined, void> {
  try {
    yield* descend(mount, page, levels, fd, key, nothing, nothing)
  } catch (error) {
    if (!(error instanceof S3Error) || error.status >= 500) throw error
  }
}

/** A folder that the user cannot read, or a symlink to one: its entry alone. */
function addClosed(
  mount: Mount,
  page: Page,
  levels: Level[],
  level: Level,
  index: number,
  key: string,
  result: number,
): void {
  if (!isRefused(result) && result !== ENOTDIR && result !== ELOOP) {
    if (!isAbsence(result)) throw failure(result, 'open')
    return
  }
  if (look(mount, page, levels, level, index, key) && stat.isDirectory) addKey(page, key, entryOfStat())
}

/** Whether a name that may be a file or a folder is what the key says. */
function isThere(mount: Mount, page: Page, levels: Level[], level: Level, key: string): boolean {
  return look(mount, page, levels, level, level.index, key) && (key.endsWith('/') ? stat.isDirectory : stat.isFile)
}

/**
 * Looks at an entry, or at what a symlink leads to; the result is in `stat`. False when it is gone, or leads out of the
 * namespace. Who may read a folder but not search it sees nothing of it: AccessDenied for the folder asked for.
 */
function look(mount: Mount, page: Page, levels: Level[], level: Level, index: number, key: string): boolean {
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
  const from = starts[index] ?? 0
  const length = bytes.copy(scratch, 0, from, starts[index + 1])
  const isFolder = scratch[length - 1] === slash
  scratch[isFolder ? length - 1 : length] = 0
  return scratch
}
