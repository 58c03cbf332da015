import { randomBytes } from 'node:crypto'
import { bucketDirectory, newKeyPath, reservedPrefix } from './key-path.ts'
import type { Target } from './namespace.ts'

const prefix = `${reservedPrefix}-`
let series = ''
let used = 0

/** A name that no other file has: hidden, and not to be guessed. */
export function hiddenName(): string {
  if (used % 4096 === 0) series = randomBytes(12).toString('hex')
  used += 1
  return `${prefix}${series}${used.toString(36)}`
}

/** A hidden name in the target's own directory, as a path below the root. Throws as `newKeyPath`. */
export function tempName(target: Target): string {
  const { folder } = newKeyPath(target.key)
  const directory = folder === '' ? target.bucket : `${target.bucket}/${folder}`
  return `${bucketDirectory(directory)}/${hiddenName()}`
}

/** Whether a path is one that `tempName` may have made. */
export function isTempName(path: string): boolean {
  const slash = path.lastIndexOf('/')
  if (slash < 1 || !path.startsWith(prefix, slash + 1) || path.includes('\0')) return false
  return path
    .slice(0, slash)
    .split('/')
    .every((part) => part !== '' && part !== '.' && part !== '..' && !part.startsWith(reservedPrefix))
}

/** The hidden name in a path that `tempName` has made for the target. */
export function hiddenIn(target: Target, temp: string): string {
  const path = `${target.bucket}/${target.key}`
  const directory = path.slice(0, path.lastIndexOf('/') + 1)
  if (!isTempName(temp) || !temp.startsWith(directory) || temp.includes('/', directory.length)) {
    throw new Error(`${temp} is no temporary name for ${path}`)
  }
  return temp.slice(directory.length)
}
