import { S3Error } from '../../s3/errors.ts'
import { entryOfStat, type WireEntry } from '../entry.ts'
import { failure, orFail } from '../errno.ts'
import type { KeyPath } from '../key-path.ts'
import {
  AT_REMOVEDIR,
  close,
  cstring,
  O_DIRECTORY,
  O_PATH,
  O_RDONLY,
  openAt,
  readDirectory,
  stat,
  statAt,
  unlinkAt,
} from '../libc.ts'
import { type Mount, openPath } from '../mount.ts'
import { isAbsence } from './find.ts'
import { permitChange } from './owner.ts'
import type { Scene } from './step.ts'

/** Highest part number (S3's limit). */
const highest = 10_000
const buffer = Buffer.alloc(64 * 1024)

/** Numbers and entries of the parts stored in a multipart directory, by number. Throws NoSuchUpload, AccessDenied. */
export function parts({ mount }: Scene, bucket: string, key: KeyPath): readonly (readonly [number, WireEntry])[] {
  const directory = openParts(mount, bucket, key)
  try {
    const found: (readonly [number, WireEntry])[] = []
    for (const number of partNumbers(directory)) {
      if (statAt(directory, cstring(String(number))) === 0 && stat.isFile) found.push([number, entryOfStat()])
    }
    return found
  } finally {
    close(directory)
  }
}

/** Whether there is anything else in a multipart directory, temporary files and folders with a part's name included. */
export function holdsForeign({ mount }: Scene, bucket: string, key: KeyPath): boolean {
  let directory: number
  try {
    directory = openParts(mount, bucket, key)
  } catch (error) {
    if (error instanceof S3Error && error.code === 'NoSuchUpload') return false
    throw error
  }
  try {
    for (let length = readDirectory(directory, buffer); length !== 0; length = readDirectory(directory, buffer)) {
      orFail(length, 'getdents')
      for (let at = 0; at < length; at += buffer.readUInt16LE(at + 16)) {
        if (!isDots(at + 19) && !isPart(directory, at + 19)) return true
      }
    }
    return false
  } finally {
    close(directory)
  }
}

/** Whether the name at this place of the buffer is `.` or `..`. */
function isDots(start: number): boolean {
  return buffer[start] === 0x2e && (buffer[start + 1] === 0 || (buffer[start + 1] === 0x2e && buffer[start + 2] === 0))
}

function isPart(directory: number, start: number): boolean {
  const number = partNumber(start)
  return number !== undefined && !(statAt(directory, cstring(String(number))) === 0 && stat.isDirectory)
}

/** Removes the parts, then the directory unless others have put something there. A missing one is fine. */
export function removeParts(scene: Scene, bucket: string, key: KeyPath): void {
  const { mount } = scene
  permitChange(scene, bucket, key.path)
  let directory: number
  try {
    directory = openParts(mount, bucket, key)
  } catch (error) {
    if (error instanceof S3Error && error.code === 'NoSuchUpload') return
    throw error
  }
  try {
    for (const number of partNumbers(directory)) {
      const result = unlinkAt(directory, cstring(String(number)))
      if (!isAbsence(result)) orFail(result, 'unlink')
    }
  } finally {
    close(directory)
  }
  const parent = openPath(mount, cstring(key.folder === '' ? bucket : `${bucket}/${key.folder}`), O_PATH | O_DIRECTORY)
  if (parent < 0) return
  unlinkAt(parent, cstring(key.name), AT_REMOVEDIR)
  close(parent)
}

function openParts(mount: Mount, bucket: string, key: KeyPath): number {
  const handle = openPath(mount, cstring(`${bucket}/${key.path}`), O_PATH | O_DIRECTORY)
  if (isAbsence(handle)) throw new S3Error('NoSuchUpload')
  orFail(handle, 'open')
  const directory = openAt(handle, cstring('.'), O_RDONLY | O_DIRECTORY)
  close(handle)
  if (isAbsence(directory)) throw new S3Error('NoSuchUpload')
  if (directory < 0) throw failure(directory, 'open')
  return directory
}

function partNumbers(directory: number): number[] {
  const numbers: number[] = []
  for (let length = readDirectory(directory, buffer); length !== 0; length = readDirectory(directory, buffer)) {
    orFail(length, 'getdents')
    for (let at = 0; at < length; at += buffer.readUInt16LE(at + 16)) {
      const number = partNumber(at + 19)
      if (number !== undefined) numbers.push(number)
    }
  }
  return numbers.sort((a, b) => a - b)
}

/** The number a name at this place of the buffer is; other names are none of ours. */
function partNumber(start: number): number | undefined {
  let number = 0
  for (let at = start; buffer[at] !== 0; at += 1) {
    const digit = (buffer[at] ?? 0) - 0x30
    if (digit < 0 || digit > 9 || (digit === 0 && at === start)) return undefined
    number = number * 10 + digit
    if (number > highest) return undefined
  }
  return number === 0 ? undefined : number
}
