import { randomBytes } from 'node:crypto'

/**
 * An upload id: 9 characters of time in ms, so that ids sort by initiation as S3 lists the uploads of a key, and 16 of
 * chance (80 bits), so that nobody guesses one. Digits and the letters a to v only: safe in names, URLs and XML, also
 * where upper and lower case are one.
 */
const alphabet = '0123456789abcdefghijklmnopqrstuv'
const timeLength = 9
const chanceLength = 16
const idPattern = new RegExp(`^[${alphabet}]{${timeLength + chanceLength}}$`)

/** Longest name of a directory entry, in bytes (POSIX NAME_MAX on Linux file systems). */
export const nameMax = 255

export function newUploadId(nowMs = Date.now()): string {
  let time = ''
  for (let rest = nowMs, n = 0; n < timeLength; n++, rest = Math.floor(rest / 32))
    time = alphabet.charAt(rest % 32) + time
  let chance = ''
  for (const byte of randomBytes(chanceLength)) chance += alphabet.charAt(byte & 31)
  return time + chance
}

/**
 * Key of the directory that holds the parts (spec §2): `<key>_<UploadId>`. Where that name would be too long for the
 * file system, the last segment of the key is cut, between characters; the id alone makes the name unique.
 */
export function multipartDirectory(key: string, id: string): string {
  const slash = key.lastIndexOf('/') + 1
  const suffix = `_${id}`
  return key.slice(0, slash) + cutUtf8(key.slice(slash), nameMax - suffix.length) + suffix
}

/** The id in the key of a multipart directory; undefined when that key cannot be one. */
export function uploadIdOf(directory: string): string | undefined {
  const key = directory.endsWith('/') ? directory.slice(0, -1) : directory
  const id = key.slice(key.lastIndexOf('_') + 1)
  return key.includes('_') && idPattern.test(id) ? id : undefined
}

/** The longest beginning that is whole characters and not more than `maxBytes` of UTF-8. */
function cutUtf8(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text)
  if (bytes.length <= maxBytes) return text
  let end = maxBytes
  // 0b10xxxxxx continues a character: the first byte left out must begin one.
  while (((bytes[end] ?? 0) & 0xc0) === 0x80) end--
  return bytes.toString('utf8', 0, end)
}
