import { S3Error } from './errors.ts'

/** Names that begin so belong to the gateway itself, at any depth. */
const reserved = '.s3proxy'
/** The longest name of a directory on Linux, in bytes. */
const longestPart = 255

/**
 * Path of a bucket below the namespace root: `a:b:c` is `a/b/c` (spec §1.2).
 * Throws InvalidBucketName for what cannot be a directory name, and for reserved ones.
 */
export function bucketPath(name: string): string {
  if (!name.includes(':')) {
    checkPart(name)
    return name
  }
  const parts = name.split(':')
  for (const part of parts) checkPart(part)
  return parts.join('/')
}

function checkPart(part: string): void {
  if (part === '' || part === '.' || part === '..' || part.startsWith(reserved)) {
    throw new S3Error('InvalidBucketName', `'${part}' cannot be the name of a bucket. Choose another.`)
  }
  if (part.includes('/') || part.includes('\0')) {
    throw new S3Error('InvalidBucketName', 'A bucket name cannot have a slash in it. Use : to name a nested bucket.')
  }
  if (part.length * 3 > longestPart && Buffer.byteLength(part) > longestPart) {
    throw new S3Error('InvalidBucketName', `A bucket name can have at most ${longestPart} bytes.`)
  }
}

const s3Name = /^[a-z0-9](?:[a-z0-9.-]{1,61})[a-z0-9]$/
const address = /^\d+\.\d+\.\d+\.\d+$/
const reservedPrefixes = ['xn--', 'sthree-', 'amzn-s3-demo-']
const reservedSuffixes = ['-s3alias', '--ol-s3', '.mrap', '--x-s3', '--table-s3']

/**
 * S3's naming rules for general purpose buckets, asked of new buckets when
 * `svc.proxy.s3.bucket.naming.restrictions.enabled`. A `:` is against them. Throws InvalidBucketName.
 */
export function checkBucketName(name: string): void {
  const holds =
    s3Name.test(name) &&
    !/\.\.|\.-|-\./.test(name) &&
    !address.test(name) &&
    !reservedPrefixes.some((prefix) => name.startsWith(prefix)) &&
    !reservedSuffixes.some((suffix) => name.endsWith(suffix))
  if (holds) return
  throw new S3Error(
    'InvalidBucketName',
    'The bucket name does not follow the naming rules: 3 to 63 lower-case letters, digits, dots and hyphens, beginning and ending with a letter or digit, no address and no reserved prefix or suffix.',
  )
}
