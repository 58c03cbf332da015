import { bucketDirectory, type KeyPath, keyPath, newKeyPath } from './key-path.ts'
import type { Target } from './namespace.ts'

/** A target as steps take it. */
export interface Located {
  readonly bucket: string
  readonly key: KeyPath
}

/** Throws InvalidBucketName, InvalidArgument. */
export function located({ bucket, key }: Target): Located {
  return { bucket: bucketDirectory(bucket), key: keyPath(key) }
}

/** Of a target that may be made. Throws KeyTooLongError also. */
export function locatedNew({ bucket, key }: Target): Located {
  return { bucket: bucketDirectory(bucket), key: newKeyPath(key) }
}

/** The same number for the same folder, so that its listings are made where its names are kept (FNV-1a). */
export function affinityOf(bucket: string, folder: string): number {
  let hash = 0x811c9dc5
  for (const text of [bucket, '/', folder]) {
    for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  }
  return hash >>> 0
}
