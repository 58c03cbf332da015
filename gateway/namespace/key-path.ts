import { S3Error } from '../s3/errors.ts'

/** Names that begin so are the gateway's own, at any depth: never addressable, never listed. */
export const reservedPrefix = '.s3proxy'

/** Longest key that can be written, in bytes (S3's limit). */
const longestKey = 1024
/** What a multipart directory and its parts have more than the key of their upload. */
const ofUpload = /_[0-9a-v]{25}(?:\/\d{0,5})?$/

export interface KeyPath {
  /** The whole path in the bucket, without a final slash. */
  readonly path: string
  /** Path of the folder it lies in; '' directly in the bucket. */
  readonly folder: string
  /** Last part of the path. */
  readonly name: string
  /** The key ends in a slash: it names a folder. */
  readonly isFolder: boolean
}

/**
 * The path of a key below its bucket: the key itself, once it is sure that it stays there and names one thing only.
 * Throws InvalidArgument for keys with empty, `.`, `..` or reserved parts or with NUL, which no file can be named.
 */
export function keyPath(key: string): KeyPath {
  const flaw = flawOf(key)
  if (flaw !== undefined) throw new S3Error('InvalidArgument', `${flaw} Choose another key.`)
  const isFolder = key.endsWith('/')
  const path = isFolder ? key.slice(0, -1) : key
  const slash = path.lastIndexOf('/')
  return { path, folder: slash < 0 ? '' : path.slice(0, slash), name: path.slice(slash + 1), isFolder }
}

/**
 * Like `keyPath`, for keys that are about to be made. Throws KeyTooLongError also, and InvalidArgument for characters
 * that no listing could show.
 */
export function newKeyPath(key: string): KeyPath {
  const path = keyPath(key)
  if (key.length * 3 > longestKey && Buffer.byteLength(key.replace(ofUpload, '')) > longestKey) {
    throw new S3Error('KeyTooLongError', `Your key is too long. It can have at most ${longestKey} bytes.`)
  }
  if (!isPresentable(key)) {
    throw new S3Error('InvalidArgument', 'A key cannot have control characters, as no listing could show it.')
  }
  return path
}

/** Path of a bucket below the root, made of parts that stay there. Throws InvalidBucketName. */
export function bucketDirectory(bucket: string): string {
  if (flawOf(bucket) === undefined && !bucket.endsWith('/')) return bucket
  throw new S3Error('InvalidBucketName')
}

/** Whether a path, with or without a final slash, could name a file or folder of a bucket. */
export function isPath(path: string): boolean {
  return flawOf(path) === undefined
}

/** Whether a key can be in an XML document: legal characters only (XML 1.0 §2.2). */
export function isPresentable(key: string): boolean {
  return key.isWellFormed() && !/[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/.test(key)
}

const suspicious = /(?:^|\/)(?:\/|\.\.?(?:\/|$)|\.s3proxy)|\0/

function flawOf(path: string): string | undefined {
  if (path !== '' && !suspicious.test(path) && path.isWellFormed()) return undefined
  if (path === '' || /^\/|\/\//.test(path)) return 'A key cannot be empty, begin with a slash or have two in a row.'
  if (/(?:^|\/)\.\.?(?:\/|$)/.test(path)) return "A key cannot have '.' or '..' between slashes."
  if (path.includes('\0')) return 'A key cannot have a NUL character.'
  if (!path.isWellFormed()) return 'A key must be valid Unicode.'
  return `A key cannot have a part that begins with '${reservedPrefix}', which is reserved.`
}
