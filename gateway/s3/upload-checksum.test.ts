import { describe, expect, it } from 'vitest'
import { uploadChecksum, wantedAlgorithm } from './upload-checksum.ts'

const read = (algorithm?: string, type?: string) =>
  uploadChecksum({ 'x-amz-checksum-algorithm': algorithm, 'x-amz-checksum-type': type })
const invalid = expect.objectContaining({ code: 'InvalidRequest', status: 400 })

describe('the checksum of a multipart upload', () => {
  it('is none unless it is asked for', () => {
    expect(read()).toEqual({ algorithm: undefined, type: undefined })
    expect(wantedAlgorithm({})).toBeUndefined()
  })

  it('has a type by its algorithm when none is named (seen on S3)', () => {
    expect(read('crc32')).toEqual({ algorithm: 'CRC32', type: 'COMPOSITE' })
    expect(read('SHA256')).toEqual({ algorithm: 'SHA256', type: 'COMPOSITE' })
    expect(read('CRC64NVME')).toEqual({ algorithm: 'CRC64NVME', type: 'FULL_OBJECT' })
  })

  it('has the type that is named, where the algorithm can have it (seen on S3)', () => {
    expect(read('CRC32', 'FULL_OBJECT').type).toBe('FULL_OBJECT')
    expect(read('SHA1', 'COMPOSITE').type).toBe('COMPOSITE')
    expect(() => read('SHA1', 'FULL_OBJECT')).toThrow(invalid)
    expect(() => read('CRC64NVME', 'COMPOSITE')).toThrow(invalid)
  })

  it('refuses unknown algorithms and types, and a type alone', () => {
    for (const [algorithm, type] of [
      ['MD5', undefined],
      ['', undefined],
      ['CRC32', 'HALF'],
      [undefined, 'COMPOSITE'],
    ] as const) {
      expect(() => read(algorithm, type)).toThrow(invalid)
    }
  })
})
