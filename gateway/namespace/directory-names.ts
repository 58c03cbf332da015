import { isUtf8 } from 'node:buffer'
import { EINTR, orFail } from './errno.ts'
import { isPresentable, reservedPrefix } from './key-path.ts'
import { readDirectory, realTime, rewind, stat, statOpen } from './libc.ts'
import type { Mount } from './mount.ts'
import { createNameHeap, type NameHeap, perName, type SortedNames } from './sorted-names.ts'

/** A stretch of a directory's names in order: those after `floor`, up to the last one here or, if `whole`, to the end. */
export interface DirectoryWindow {
  readonly names: SortedNames
  /** Undefined: from the first name on. */
  readonly floor: Buffer | undefined
  readonly whole: boolean
  /** Change time (ns) of the directory that this shows. */
  readonly changed: bigint
}

/** Kept windows by directory, the least recently used first. */
const kept = new Map<string, DirectoryWindow>()
let keptBytes = 0
/** Directories that are being read by a step that has let others run. */
const reading = new Set<string>()
/** Directories that did not fit: they are read from where the listing is. */
const large = new Set<string>()

/** A directory is believed when its last change lies further back than the coarsest clock of a file system ticks. */
const settledAfter = 2_000_000_000n
/** Names kept of a directory that changes all the time, for each name of the page. */
const spareFactor = 4
/** Others may run after so many ms of reading. */
const sliceMs = 10

/**
 * Names of an open directory that come after `after`, at least `wanted` of them or all. Comes from memory when the
 * directory's change time says that nothing has changed. The change time, since the modification time can be set back.
 */
export function* directoryNames(
  mount: Mount,
  fd: number,
  after: Buffer,
  wanted: number,
): Generator<undefined, DirectoryWindow> {
  orFail(statOpen(fd), 'statx')
  const id = `${stat.device}:${stat.inodeText}`
  for (;;) {
    const found = kept.get(id)
    orFail(statOpen(fd), 'statx')
    if (found !== undefined && found.changed === stat.changed && covers(found, after)) {
      kept.delete(id)
      kept.set(id, found)
      return found
    }
    if (!reading.has(id)) break
    yield
  }
  reading.add(id)
  try {
    return yield* readNames(mount, fd, id, after, wanted)
  } finally {
    reading.delete(id)
  }
}

function covers({ floor, whole, names }: DirectoryWindow, after: Buffer): boolean {
  if (floor !== undefined && Buffer.compare(after, floor) < 0) return false
  return whole || (names.count > 0 && Buffer.compare(after, lastOf(names)) < 0)
}

export function lastOf({ bytes, starts, count }: SortedNames): Buffer {
  return bytes.subarray(starts[count - 1] ?? 0, starts[count] ?? 0)
}

function* readNames(
  mount: Mount,
  fd: number,
  id: string,
  after: Buffer,
  wanted: number,
): Generator<undefined, DirectoryWindow> {
  const { changed } = stat
  const isSettled = realTime() + mount.clockOffset - changed >= settledAfter
  const most = isSettled ? Number.POSITIVE_INFINITY : wanted * spareFactor
  for (;;) {
    const floor = isSettled && !large.has(id) ? undefined : after
    const { names, whole } = yield* scan(fd, floor, mount.listMemory, most)
    const window = { names, floor: floor === undefined ? undefined : Buffer.from(floor), whole, changed }
    if (!whole && isSettled) remember(large, id)
    if (!covers(window, after)) continue
    orFail(statOpen(fd), 'statx')
    if (isSettled && stat.changed === changed) keep(mount, id, window)
    return window
  }
}

function remember(set: Set<string>, id: string): void {
  if (set.size >= 10_000) set.clear()
  set.add(id)
}

function keep(mount: Mount, id: string, window: DirectoryWindow): void {
  drop(id)
  kept.set(id, window)
  keptBytes += sizeOf(window)
  for (const oldest of kept.keys()) {
    if (keptBytes <= mount.listMemory || oldest === id) break
    drop(oldest)
  }
}

function drop(id: string): void {
  const window = kept.get(id)
  if (window === undefined) return
  kept.delete(id)
  keptBytes -= sizeOf(window)
}

/** With something for the objects themselves. */
function sizeOf({ names }: DirectoryWindow): number {
  return names.bytes.length + names.count * perName + 500
}

const buffer = Buffer.allocUnsafeSlow(256 * 1024)
const [DT_UNKNOWN, DT_DIR, DT_REG, DT_LNK] = [0, 4, 8, 10]

/** Reads a directory from its beginning, keeping the smallest names after `floor` that fit. */
function* scan(
  fd: number,
  floor: Buffer | undefined,
  mostBytes: number,
  mostNames: number,
): Generator<undefined, { names: SortedNames; whole: boolean }> {
  const heap = createNameHeap()
  const sieve: Sieve = { heap, floor, ceiling: undefined }
  orFail(rewind(fd), 'lseek')
  let sliceEnd = performance.now() + sliceMs
  for (;;) {
    const length = readDirectory(fd, buffer)
    if (length === 0) break
    if (length === EINTR) continue
    orFail(length, 'getdents')
    takeEntries(sieve, length)
    if (heap.size > mostBytes || heap.count > mostNames * 2) {
      sieve.ceiling = Buffer.from(lastOf(heap.keep(Math.min(mostNames, heap.count >>> 1))))
    }
    if (performance.now() > sliceEnd) {
      yield
      sliceEnd = performance.now() + sliceMs
    }
  }
  return { names: heap.sorted(), whole: sieve.ceiling === undefined }
}

interface Sieve {
  readonly heap: NameHeap
  readonly floor: Buffer | undefined
  ceiling: Buffer | undefined
}

const firstName = 19

/** Adds the entries in the buffer (linux_dirent64: inode, offset, length of the record at 16, type at 18, name at 19). */
function takeEntries(sieve: Sieve, length: number): void {
  let record = 0
  for (let at = 0; at < length; at += record) {
    record = (buffer[at + 16] ?? 0) + (buffer[at + 17] ?? 0) * 256
    const type = buffer[at + 18]
    const start = at + firstName
    let end = start
    let isPlain = true
    for (let byte = buffer[end] ?? 0; byte !== 0; byte = buffer[end] ?? 0) {
      if (byte < 0x20 || byte > 0x7e) isPlain = false
      end += 1
    }
    if (type !== DT_REG && type !== DT_DIR && type !== DT_LNK && type !== DT_UNKNOWN) continue
    if (buffer[start] === 0x2e && isHidden(start, end)) continue
    if (!isPlain && !isShowable(start, end)) continue
    const isUncertain = type === DT_LNK || type === DT_UNKNOWN
    if (type !== DT_DIR) sift(sieve, start, end - start, false, isUncertain)
    if (type !== DT_REG) sift(sieve, start, end - start, true, isUncertain)
  }
}

function isHidden(start: number, end: number): boolean {
  const length = end - start
  if (length === 1 || (length === 2 && buffer[start + 1] === 0x2e)) return true
  return (
    length >= reservedPrefix.length &&
    buffer.toString('latin1', start, start + reservedPrefix.length) === reservedPrefix
  )
}

/** Names that are not UTF-8, or that no XML document can have, do not exist for S3. */
function isShowable(start: number, end: number): boolean {
  const name = buffer.subarray(start, end)
  return isUtf8(name) && isPresentable(name.toString())
}

function sift(sieve: Sieve, start: number, length: number, isFolder: boolean, isUncertain: boolean): void {
  const { heap, floor, ceiling } = sieve
  if (floor !== undefined && !isAfter(start, length, isFolder, floor)) return
  if (ceiling !== undefined && isAfter(start, length, isFolder, ceiling)) return
  heap.add(buffer, start, length, isFolder, isUncertain)
}

/** Whether the name at `start` of the buffer, with a slash if it is a folder's, is greater than `key`. */
function isAfter(start: number, length: number, isFolder: boolean, key: Buffer): boolean {
  const order = buffer.compare(key, 0, Math.min(key.length, length), start, start + length)
  if (order !== 0) return order > 0
  if (!isFolder) return false
  return key.length === length || (key[length] ?? 0) < 0x2f
}
