import { describe, expect, it } from 'vitest'
import { readCompletion } from './completion.ts'
import { partNumber } from './part-number.ts'

const read = (parts: string) =>
  readCompletion(Buffer.from(`<CompleteMultipartUpload>${parts}</CompleteMultipartUpload>`)).parts
const part = (number: number | string, more = '') => `<Part><PartNumber>${number}</PartNumber>${more}</Part>`
const error = (code: string) => expect.objectContaining({ name: 'S3Error', code, status: 400 })

describe('the part list of a completion', () => {
  it('needs only part numbers (spec §4), with or without a namespace', () => {
    expect(read(part(1) + part(2))).toEqual([{ number: 1 }, { number: 2 }])
    const text = `<CompleteMultipartUpload xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${part(1)}</CompleteMultipartUpload>`
    expect(readCompletion(Buffer.from(text)).parts).toEqual([{ number: 1 }])
  })

  it('takes ETags with or without quotes, however they are escaped', () => {
    for (const etag of ['"abc"', '&quot;abc&quot;', '&#34;abc&#34;', 'abc', ' abc\n']) {
      expect(read(part(1, `<ETag>${etag}</ETag>`))).toEqual([{ number: 1, etag: 'abc' }])
    }
    expect(read(part(1, '<ETag/>'))).toEqual([{ number: 1 }])
  })

  it('keeps checksums, and ignores what it does not know', () => {
    const more =
      '<ChecksumCRC32>AAAAAA==</ChecksumCRC32><ChecksumCRC64NVME>x=</ChecksumCRC64NVME><ChecksumNew>x</ChecksumNew><X><Y/></X>'
    expect(read(part(1, more))).toEqual([{ number: 1, checksums: { crc32: 'AAAAAA==', crc64nvme: 'x=' } }])
  })

  it('may have gaps, but no repeats and no steps back (seen on S3)', () => {
    expect(read(part(1) + part(5) + part(10000))).toHaveLength(3)
    expect(() => read(part(1) + part(1))).toThrow(error('InvalidPartOrder'))
    expect(() => read(part(2) + part(1))).toThrow(error('InvalidPartOrder'))
  })

  for (const number of [0, -1, 10001, 99999999999]) {
    it(`refuses part number ${number}`, () => expect(() => read(part(number))).toThrow(error('InvalidArgument')))
  }

  for (const parts of [
    '',
    '<Part/>',
    '<Part><ETag>x</ETag></Part>',
    part('x'),
    part(''),
    part('1.5'),
    part(1, '<PartNumber>2</PartNumber>'),
    part(1, '<ETag><x/></ETag>'),
  ]) {
    it(`is malformed with ${parts || 'no parts'}`, () => expect(() => read(parts)).toThrow(error('MalformedXML')))
  }

  it('is malformed with another root, or more than 10,000 parts', () => {
    expect(() => readCompletion(Buffer.from(`<X>${part(1)}</X>`))).toThrow(error('MalformedXML'))
    expect(() => read(part(1).repeat(10_001))).toThrow(error('MalformedXML'))
  })
})

describe('part numbers', () => {
  it('are 1 to 10,000', () => {
    expect([partNumber('1'), partNumber('10000'), partNumber('007')]).toEqual([1, 10000, 7])
    for (const value of [undefined, '', '0', '10001', '-1', '1.5', '1e3', 'x', ' 1', '9'.repeat(30)]) {
      expect(() => partNumber(value)).toThrow(error('InvalidArgument'))
    }
  })
})
