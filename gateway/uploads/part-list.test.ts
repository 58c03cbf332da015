import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import type { Upload } from '../metadata/metadata.ts'
import type { Entry } from '../namespace/namespace.ts'
import { combineCrc, compositeChecksum, createDigest, type Digest } from '../s3/checksum.ts'
import type { S3Error } from '../s3/errors.ts'
import { foreignEtag } from '../s3/etag.ts'
import type { ObjectRecord } from '../s3/object-record.ts'
import { finishedRecord, neededDigests } from './finished-record.ts'
import { checkDigests, listedParts, type StoredPartFile } from './part-list.ts'
import type { Completion } from './uploads.ts'

const upload: Upload = {
  id: 'id',
  bucketName: 'b',
  bucket: 'b',
  key: 'k',
  directory: 'k_id',
  user: 'u',
  initiatedMs: 0,
  record: { etag: '', contentType: 'text/plain' },
  tags: [],
  state: 'open',
  version: 0,
}
const bodies = ['one', 'two', 'three'].map((text) => Buffer.from(text))
const stored = bodies.map((body, n) => file(n + 1, body, { etag: md5(body) }))

function md5(bytes: Buffer): string {
  return createHash('md5').update(bytes).digest('hex')
}

function digest(name: Digest, bytes: Buffer): Buffer {
  const state = createDigest(name)
  state.update(bytes)
  return state.digest()
}

function file(number: number, body: Buffer, record?: ObjectRecord): StoredPartFile {
  const entry: Entry = { kind: 'file', id: `i${number}`, size: body.length, modifiedMs: 0, uid: 0, links: 1 }
  return { number, entry, record }
}

function list(...numbers: number[]): Completion {
  return { parts: numbers.map((number) => ({ number })) }
}

function codeOf(check: () => unknown): string | undefined {
  try {
    check()
    return undefined
  } catch (error) {
    return (error as S3Error).code
  }
}

function refusal(completion: Completion, minPartSize = 0, files = stored): string | undefined {
  return codeOf(() => listedParts(upload, completion, files, minPartSize))
}

describe('the list of a completion', () => {
  it('takes only the parts that are listed, also with gaps and not from 1 on (seen on S3)', () => {
    expect(listedParts(upload, list(2), stored, 0).map(({ number }) => number)).toEqual([2])
    expect(listedParts(upload, list(1, 3), stored, 0).map(({ number }) => number)).toEqual([1, 3])
  })

  it('is refused when numbers do not ascend, or repeat', () => {
    expect(refusal(list(2, 1))).toBe('InvalidPartOrder')
    expect(refusal(list(1, 1))).toBe('InvalidPartOrder')
  })

  it('is refused when it is empty', () => {
    expect(refusal(list())).toBe('MalformedXML')
  })

  it('is refused with InvalidPart for a part that is not stored', () => {
    expect(refusal(list(1, 4))).toBe('InvalidPart')
  })

  it('needs no ETags (spec §4), but those given must be right, with quotes or without', () => {
    const [first] = bodies
    const etag = md5(first as Buffer)
    expect(refusal({ parts: [{ number: 1, etag }] })).toBeUndefined()
    expect(refusal({ parts: [{ number: 1, etag: `"${etag.toUpperCase()}"` }] })).toBeUndefined()
    expect(refusal({ parts: [{ number: 1, etag: '0'.repeat(32) }] })).toBe('InvalidPart')
  })

  it('refuses a part other than the last that is smaller than the minimum (spec §3, §7.1)', () => {
    expect(refusal(list(1, 2, 3), 4)).toBe('EntityTooSmall')
    expect(refusal(list(2, 3), 3)).toBeUndefined()
    expect(refusal(list(1), 4)).toBeUndefined()
  })

  it('does not check sizes when the minimum is 0 (spec §8)', () => {
    expect(refusal(list(1, 2, 3), 0)).toBeUndefined()
  })

  it('tells which part is too small', () => {
    try {
      listedParts(upload, list(1, 2, 3), stored, 4)
      expect.unreachable()
    } catch (error) {
      expect((error as S3Error).details).toMatchObject({ PartNumber: '1', ProposedSize: '3', MinSizeAllowed: '4' })
    }
  })

  it('compares x-amz-mp-object-size with the sum of the listed parts', () => {
    expect(refusal({ ...list(1, 3), objectSize: 8 })).toBeUndefined()
    expect(refusal({ ...list(1, 3), objectSize: 11 })).toBe('InvalidRequest')
  })

  it('compares checksums with those of the parts', () => {
    const body = bodies[0] as Buffer
    const crc32 = digest('CRC32', body).toString('base64')
    const files = [file(1, body, { etag: md5(body), checksums: { crc32 }, checksumType: 'FULL_OBJECT' })]
    expect(refusal({ parts: [{ number: 1, checksums: { crc32 } }] }, 0, files)).toBeUndefined()
    expect(refusal({ parts: [{ number: 1, checksums: { crc32: 'AAAAAA==' } }] }, 0, files)).toBe('InvalidPart')
  })

  it('takes for a file of others the ETag that ListParts shows, and compares another once its bytes are read', () => {
    const body = bodies[0] as Buffer
    const files = [file(1, body)]
    expect(refusal({ parts: [{ number: 1, etag: foreignEtag('i1') }] }, 0, files)).toBeUndefined()
    for (const [etag, code] of [
      [md5(body), undefined],
      ['0'.repeat(32), 'InvalidPart'],
    ] as const) {
      const completion = { parts: [{ number: 1, etag }] }
      const parts = listedParts(upload, completion, files, 0)
      parts[0]?.digests.set('MD5', digest('MD5', body))
      expect(codeOf(() => checkDigests(upload, completion, parts))).toBe(code)
    }
  })
})

describe('the record of the finished object', () => {
  function finished(opened: Partial<Upload>, completion: Partial<Completion> = {}, digests: Digest[] = ['MD5']) {
    const asked = { ...list(1, 2, 3), ...completion }
    const parts = listedParts({ ...upload, ...opened }, asked, stored, 0)
    for (const [n, part] of parts.entries()) {
      for (const name of digests) part.digests.set(name, digest(name, bodies[n] as Buffer))
    }
    return finishedRecord({ ...upload, ...opened }, asked, parts)
  }
  const whole = Buffer.concat(bodies)

  it('has the MD5 of the MD5s as ETag, the sizes of the parts and the headers of the upload (seen on S3)', () => {
    const expected = createHash('md5')
    for (const body of bodies) expected.update(md5(body), 'hex')
    expect(finished({})).toEqual({
      etag: `${expected.digest('hex')}-3`,
      contentType: 'text/plain',
      parts: [3, 3, 5],
    })
  })

  it('has a checksum over the checksums of the parts when that is COMPOSITE', () => {
    const record = finished({ checksumAlgorithm: 'SHA256' }, {}, ['MD5', 'SHA256'])
    const expected = compositeChecksum(
      'SHA256',
      bodies.map((body) => digest('SHA256', body)),
    )
    expect(record).toMatchObject({ checksums: { sha256: expected }, checksumType: 'COMPOSITE' })
    expect(expected).toMatch(/-3$/)
  })

  it.each(['CRC32', 'CRC32C', 'CRC64NVME'] as const)(
    'has the %s of all bytes when it is FULL_OBJECT, without reading them',
    (algorithm) => {
      const record = finished({ checksumAlgorithm: algorithm, checksumType: 'FULL_OBJECT' }, {}, ['MD5', algorithm])
      expect(record.checksums).toEqual({ [algorithm.toLowerCase()]: digest(algorithm, whole).toString('base64') })
    },
  )

  it('is FULL_OBJECT by default for CRC64NVME, as current SDKs send it', () => {
    expect(finished({ checksumAlgorithm: 'CRC64NVME' }, {}, ['MD5', 'CRC64NVME']).checksumType).toBe('FULL_OBJECT')
  })

  it('is refused with BadDigest when the client expects another checksum', () => {
    const crc32 = digest('CRC32', whole).toString('base64')
    const opened = { checksumAlgorithm: 'CRC32', checksumType: 'FULL_OBJECT' } as const
    const digests: Digest[] = ['MD5', 'CRC32']
    expect(codeOf(() => finished(opened, { checksums: { crc32 } }, digests))).toBeUndefined()
    expect(codeOf(() => finished(opened, { checksums: { crc32: 'AAAAAA==' } }, digests))).toBe('BadDigest')
  })

  it('has the CRC that the client expects only now, also when the upload named no algorithm', () => {
    const crc32c = digest('CRC32C', whole).toString('base64')
    const record = finished({}, { checksums: { crc32c } }, ['MD5', 'CRC32C'])
    expect(record).toMatchObject({ checksums: { crc32c }, checksumType: 'FULL_OBJECT' })
    expect(codeOf(() => finished({}, { checksums: { sha1: 'x' } }))).toBe('InvalidRequest')
  })

  it('has the CRC64NVME of all bytes when every part came with one and nobody named an algorithm (seen on S3)', () => {
    const crc64nvme = digest('CRC64NVME', whole).toString('base64')
    expect(finished({}, {}, ['MD5', 'CRC64NVME'])).toMatchObject({
      checksums: { crc64nvme },
      checksumType: 'FULL_OBJECT',
    })
    expect(finished({}, {}, ['MD5', 'CRC32'])).not.toHaveProperty('checksums')
  })

  it('is refused when the completion names another checksum type than the upload', () => {
    const opened = { checksumAlgorithm: 'CRC32', checksumType: 'COMPOSITE' } as const
    expect(codeOf(() => finished(opened, { checksumType: 'FULL_OBJECT' }, ['MD5', 'CRC32']))).toBe('InvalidRequest')
  })

  it('combines 10,000 CRCs in less than a second', () => {
    const crc = digest('CRC64NVME', Buffer.from('x'))
    let sum = crc
    const start = performance.now()
    for (let part = 2; part <= 10_000; part++)
      sum = combineCrc('CRC64NVME', sum, crc, part % 7 === 0 ? 6_000_001 : 5_242_880)
    expect(performance.now() - start).toBeLessThan(1000)
    expect(sum).toHaveLength(8)
  })

  it('needs the MD5, the checksum of the upload and those the client lists of each part', () => {
    const completion = { parts: [{ number: 1, checksums: { sha1: 'x' } }, { number: 2 }] }
    const opened = { ...upload, checksumAlgorithm: 'CRC32' } as const
    expect(neededDigests(opened, completion, 0)).toEqual(['MD5', 'CRC32', 'SHA1'])
    expect(neededDigests(opened, completion, 1)).toEqual(['MD5', 'CRC32'])
  })
})
