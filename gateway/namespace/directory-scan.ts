import { isUtf8 } from 'node:buffer'
import { EINTR, orFail } from './errno.ts'
import { isPresentable, reservedPrefix } from './key-path.ts'
import { readDirectory, rewind } from './libc.ts'
import { createNameHeap, lastOf, type NameHeap, type SortedNames } from './sorted-names.ts'

export interface Scan {
  readonly names: SortedNames
  /** Names after the last of these were left out. */
  readonly isCut: boolean
  /** Entries of the directory, as many as there are. */
  readonly entries: number
}

/** Others may run after so many ms of reading. */
const sliceMs = 10
const buffer = Buffer.allocUnsafeSlow(256 * 1024)
const [DT_UNKNOWN, DT_DIR, DT_REG, DT_LNK] = [0, 4, 8, 10]

/**
 * Reads an open directory from its beginning and keeps the smallest names after `floor`: about as many as fit into
 * `mostBytes`, at least half of `mostNames`. So a directory of any size takes bounded memory.
 */
export function* scanDirectory(
  fd: number,
  floor: Buffer | undefined,
  mostBytes: number,
  mostNames: number,
): Generator<undefined, Scan> {
  const heap = createNameHeap()
  const sieve: Sieve = { heap, floor, ceiling: undefined, entries: 0 }
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
  return { names: heap.sorted(), isCut: sieve.ceiling !== undefined, entries: sieve.entries }
}

interface Sieve {
  readonly heap: NameHeap
  readonly floor: Buffer | undefined
  ceiling: Buffer | undefined
  entries: number
}

const firstName = 19

/** Adds the entries in the buffer (linux_dirent64: inode, offset, length of the record at 16, type at 18, name at 19). */
function takeEntries(sieve: Sieve, length: number): void {
  let record = 0
  for (let at = 0; at < length; at += record) {
    record = (buffer[at + 16] ?? 0) + (buffer[at + 17] ?? 0) * 256
    const type = buffer[at + 18]
    sieve.entries += 1
    const start = at + firstName
    let end = start
    let isPlain = true
    for (let byte = buffer[end] ?? 0; byte !== 0; byte = buffer[end] ?? 0) {
      if (byte < 0x20 || byte > 0x7e) isPlain = false
      end += 1
    }
    if (type !== DT_REG && type !== DT_DIR && type !== DT_LNK && type !== DT_UNKNOWN) continue
    if (buffer[start] === 0x2e && isOwn(start, end)) continue
    if (!isPlain && !isListable(buffer.subarray(start, end))) continue
    const isUncertain = type === DT_LNK || type === DT_UNKNOWN
    if (type !== DT_DIR) sift(sieve, start, end - start, false, isUncertain)
    if (type !== DT_REG) sift(sieve, start, end - start, true, isUncertain)
  }
}

/** `.`, `..` and what is reserved. */
function isOwn(start: number, end: number): boolean {
  const length = end - start
  if (length === 1 || (length === 2 && buffer[start + 1] === 0x2e)) return true
  const isLong = length >= reservedPrefix.length
  return isLong && buffer.toString('latin1', start, start + reservedPrefix.length) === reservedPrefix
}

/** Names that are not UTF-8, or that no XML document can have, do not exist for S3; nor do those of the gateway. */
export function isListable(name: Uint8Array): boolean {
  if (!isUtf8(name)) return false
  const text = Buffer.from(name).toString()
  return isPresentable(text) && !text.startsWith(reservedPrefix)
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
