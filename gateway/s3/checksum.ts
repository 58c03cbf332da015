import { createHash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { type Crc, createCrc } from './crc.ts'

/** Algorithms of `x-amz-checksum-*`, in S3's spelling. */
export type ChecksumAlgorithm = 'CRC32' | 'CRC32C' | 'CRC64NVME' | 'SHA1' | 'SHA256'

/** What can be computed over a body: the checksums, and the MD5 of ETag and Content-MD5. */
export type Digest = ChecksumAlgorithm | 'MD5'

/** Whether the checksum of a multipart object is that of its bytes or of its parts' checksums. */
export type ChecksumType = 'FULL_OBJECT' | 'COMPOSITE'

/** Length of each value in bytes. */
export const checksumSizes: Readonly<Record<ChecksumAlgorithm, number>> = {
  CRC32: 4,
  CRC32C: 4,
  CRC64NVME: 8,
  SHA1: 20,
  SHA256: 32,
}
export const checksumAlgorithms = Object.keys(checksumSizes) as ChecksumAlgorithm[]
/** As in headers, records and `checksums` fields: in lower case. */
export const checksumNames = checksumAlgorithms.map((algorithm) => algorithm.toLowerCase())

/** The algorithm of a name in any case; undefined for one that S3 does not have. */
export function checksumAlgorithm(name: string): ChecksumAlgorithm | undefined {
  const upper = name.toUpperCase()
  return upper in checksumSizes ? (upper as ChecksumAlgorithm) : undefined
}

/** Computes a digest over bytes as they come. CRC values are big-endian. */
export function createDigest(digest: Digest): { update(bytes: Uint8Array): void; digest(): Buffer } {
  switch (digest) {
    case 'CRC32':
      return zlibCrc32()
    case 'CRC32C':
    case 'CRC64NVME':
      return crcDigest(crcOf(digest))
    default: {
      const hash = createHash(digest)
      return { update: (bytes) => void hash.update(bytes), digest: () => hash.digest() }
    }
  }
}

/** CRC of two contents one after the other, from the CRC of each and the length of the second in bytes. */
export function combineCrc(
  algorithm: 'CRC32' | 'CRC32C' | 'CRC64NVME',
  crc1: Uint8Array,
  crc2: Uint8Array,
  length2: number,
): Buffer {
  const crc = crcOf(algorithm)
  return toBytes(crc.combine(fromBytes(crc1), fromBytes(crc2), length2), crc.size)
}

/** Whether parts' checksums can be combined into that of the whole object. */
export function isCrc(algorithm: ChecksumAlgorithm): algorithm is 'CRC32' | 'CRC32C' | 'CRC64NVME' {
  return algorithm.startsWith('CRC')
}

/** COMPOSITE checksum of a multipart object: the checksum over its parts' checksums, base64, and their number. */
export function compositeChecksum(algorithm: ChecksumAlgorithm, parts: readonly Uint8Array[]): string {
  const digest = createDigest(algorithm)
  for (const part of parts) digest.update(part)
  return `${digest.digest().toString('base64')}-${parts.length}`
}

const polynomials = { CRC32: 0xedb88320n, CRC32C: 0x82f63b78n, CRC64NVME: 0x9a6c9329ac4bc9b5n } as const
const crcs = new Map<keyof typeof polynomials, Crc>()

function crcOf(algorithm: keyof typeof polynomials): Crc {
  let crc = crcs.get(algorithm)
  if (crc === undefined) {
    crc = createCrc(polynomials[algorithm], algorithm === 'CRC64NVME' ? 8 : 4)
    crcs.set(algorithm, crc)
  }
  return crc
}

function crcDigest(crc: Crc): ReturnType<typeof createDigest> {
  let value = 0n
  return {
    update(bytes) {
      value = crc.update(value, bytes)
    },
    digest: () => toBytes(value, crc.size),
  }
}

/** zlib's own is faster than ours. */
function zlibCrc32(): ReturnType<typeof createDigest> {
  let value = 0
  return {
    update(bytes) {
      value = crc32(bytes, value)
    },
    digest() {
      const result = Buffer.allocUnsafe(4)
      result.writeUInt32BE(value)
      return result
    },
  }
}

function toBytes(crc: bigint, size: 4 | 8): Buffer {
  const result = Buffer.allocUnsafe(size)
  if (size === 8) result.writeBigUInt64BE(crc)
  else result.writeUInt32BE(Number(crc))
  return result
}

function fromBytes(bytes: Uint8Array): bigint {
  let value = 0n
  for (const byte of bytes) value = (value << 8n) | BigInt(byte)
  return value
}
