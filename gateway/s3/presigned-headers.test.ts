import { describe, expect, it } from 'vitest'
import { withPresignedHeaders } from './presigned-headers.ts'

const signed = ['X-Amz-Signature', '0'] as const
const merge = (headers: Record<string, string>, ...query: (readonly [string, string])[]) =>
  withPresignedHeaders(headers, new Map([signed, ...query]))

describe('headers in the query of a presigned URL', () => {
  it('are headers of the request (seen on S3)', () => {
    expect(
      merge(
        { host: 'h' },
        ['x-amz-meta-a', 'é'],
        ['x-amz-tagging', 'a=1&b=2'],
        ['X-Amz-Expires', '1'],
        ['prefix', 'x'],
      ),
    ).toEqual({
      host: 'h',
      'x-amz-meta-a': '\xc3\xa9',
      'x-amz-tagging': 'a=1&b=2',
    })
  })

  it('do not replace headers that were sent', () => {
    expect(merge({ 'x-amz-meta-a': '1' }, ['x-amz-meta-a', '2'])).toEqual({ 'x-amz-meta-a': '1' })
  })

  it('bring no checksum, which the SDK took of an empty body (our choice)', () => {
    const headers = { host: 'h' }
    expect(merge(headers, ['x-amz-checksum-crc32', 'AAAAAA=='], ['x-amz-sdk-checksum-algorithm', 'CRC32'])).toBe(
      headers,
    )
  })

  it('are nothing when the URL is not presigned', () => {
    const headers = { host: 'h' }
    expect(withPresignedHeaders(headers, new Map([['x-amz-meta-a', '1']]))).toBe(headers)
    expect(withPresignedHeaders(headers, new Map())).toBe(headers)
  })

  it('cannot break out of a header', () => {
    for (const [name, value] of [
      ['x-amz-meta-a', 'a\r\nb'],
      ['x-amz-meta-a', '\u0000'],
      ['x-amz-meta-\n', 'a'],
      ['x-amz-meta-é', 'a'],
    ] as const) {
      expect(() => merge({}, [name, value])).toThrow(expect.objectContaining({ code: 'InvalidArgument' }))
    }
  })
})
