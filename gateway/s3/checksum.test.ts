import { crc32 } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type ChecksumAlgorithm,
  checksumAlgorithm,
  checksumAlgorithms,
  combineCrc,
  compositeChecksum,
  createDigest,
  type Digest,
} from './checksum.ts'
import { createCrc } from './crc.ts'

function digestOf(digest: Digest, ...pieces: Uint8Array[]): Buffer {
  const computing = createDigest(digest)
  for (const piece of pieces) computing.update(piece)
  return computing.digest()
}

/** Bit by bit, as the definition says. */
function slowCrc(polynomial: bigint, size: 4 | 8, bytes: Uint8Array): Buffer {
  const ones = (1n << BigInt(size * 8)) - 1n
  let register = ones
  for (const byte of bytes) {
    register ^= BigInt(byte)
    for (let bit = 0; bit < 8; bit++) register = register & 1n ? (register >> 1n) ^ polynomial : register >> 1n
  }
  return Buffer.from((register ^ ones).toString(16).padStart(size * 2, '0'), 'hex')
}

const slow = {
  CRC32: (bytes: Uint8Array) => slowCrc(0xedb88320n, 4, bytes),
  CRC32C: (bytes: Uint8Array) => slowCrc(0x82f63b78n, 4, bytes),
  CRC64NVME: (bytes: Uint8Array) => slowCrc(0x9a6c9329ac4bc9b5n, 8, bytes),
}
const crcs = ['CRC32', 'CRC32C', 'CRC64NVME'] as const
const bytes = fc.uint8Array({ maxLength: 300 })

describe('digests', () => {
  // Check values of the CRC catalogue, of RFC 1321, RFC 3174 and FIPS 180 where they have one.
  const known: Record<Digest, string> = {
    CRC32: 'cbf43926',
    CRC32C: 'e3069283',
    CRC64NVME: 'ae8b14860a799888',
    MD5: '25f9e794323b453885f5181f1b624d0b',
    SHA1: 'f7c3bc1d808e04732adf679965ccc34ca7ae3441',
    SHA256: '15e2b0d3c33891ebb0f1ef609ec419420c20e320ce94c65fbc8c3312448eb225',
  }
  for (const [digest, hex] of Object.entries(known) as [Digest, string][]) {
    it(`${digest} of 123456789 is as published`, () => {
      expect(digestOf(digest, Buffer.from('123456789')).toString('hex')).toBe(hex)
    })
  }

  it('of nothing are those of the empty content', () => {
    expect(digestOf('CRC32').toString('hex')).toBe('00000000')
    expect(digestOf('CRC64NVME').toString('hex')).toBe('0000000000000000')
    expect(digestOf('MD5').toString('hex')).toBe('d41d8cd98f00b204e9800998ecf8427e')
  })

  for (const algorithm of crcs) {
    it(`${algorithm} is as defined, for any content in any pieces`, () => {
      fc.assert(
        fc.property(fc.array(bytes, { maxLength: 5 }), (pieces) => {
          expect(digestOf(algorithm, ...pieces)).toEqual(slow[algorithm](Buffer.concat(pieces)))
        }),
      )
    })
  }

  it('do not mix when several are computed at once', () => {
    const first = createDigest('CRC64NVME')
    const second = createDigest('CRC64NVME')
    first.update(Buffer.from('1234'))
    second.update(Buffer.from('x'))
    first.update(Buffer.from('56789'))
    expect(first.digest().toString('hex')).toBe('ae8b14860a799888')
    expect(second.digest()).toEqual(slow.CRC64NVME(Buffer.from('x')))
  })

  it('are right for pieces larger than the kernel takes at once', () => {
    const large = Buffer.alloc(300_001, 'abcdefg')
    const kernel = createCrc(0xedb88320n, 4)
    expect(kernel.update(0n, large)).toBe(BigInt(crc32(large)))
  })
})

describe('checksums of multipart objects', () => {
  for (const algorithm of crcs) {
    it(`${algorithm} of the whole follows from those of the parts`, () => {
      fc.assert(
        fc.property(bytes, bytes, (a, b) => {
          const combined = combineCrc(algorithm, digestOf(algorithm, a), digestOf(algorithm, b), b.length)
          expect(combined).toEqual(digestOf(algorithm, a, b))
        }),
      )
    })
  }

  it('combine over lengths beyond 32 bits', () => {
    // Three times 2 GiB of zeros, once as pieces and once by doubling.
    const part = 2 ** 31
    const zeros = Buffer.alloc(1)
    let power = digestOf('CRC64NVME', zeros)
    for (let length = 1; length < part; length *= 2) power = combineCrc('CRC64NVME', power, power, length)
    const three = combineCrc('CRC64NVME', combineCrc('CRC64NVME', power, power, part), power, part)
    const other = combineCrc('CRC64NVME', power, combineCrc('CRC64NVME', power, power, part), 2 * part)
    expect(three).toEqual(other)
    expect(three).not.toEqual(power)
  })

  it('COMPOSITE is the checksum of the checksums and their number (seen on S3)', () => {
    const parts = ['a', 'b'].map((text) => digestOf('SHA256', Buffer.from(text)))
    const expected = digestOf('SHA256', ...parts).toString('base64')
    expect(compositeChecksum('SHA256', parts)).toBe(`${expected}-2`)
  })
})

describe('names of algorithms', () => {
  it('are known in any case, and no others are', () => {
    for (const algorithm of checksumAlgorithms) {
      expect(checksumAlgorithm(algorithm.toLowerCase())).toBe(algorithm satisfies ChecksumAlgorithm)
    }
    for (const name of ['', 'MD5', 'crc', 'toString', '__proto__']) expect(checksumAlgorithm(name)).toBeUndefined()
  })
})
