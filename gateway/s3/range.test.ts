import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { contentRange, copySourceRange, parseRange } from './range.ts'

describe('the Range header', () => {
  const served: [header: string, size: number, start: number, length: number][] = [
    ['bytes=0-4', 10, 0, 5],
    ['bytes=3-', 10, 3, 7],
    ['bytes=-3', 10, 7, 3],
    ['bytes=0-0', 10, 0, 1],
    ['bytes=9-9', 10, 9, 1],
    ['bytes=0-100', 10, 0, 10],
    ['bytes=-100', 10, 0, 10],
    ['bytes=-262144', 1, 0, 1],
    ['bytes=0-99999999999999999999', 10, 0, 10],
    ['bytes=-99999999999999999999', 10, 0, 10],
    ['BYTES=0-4', 10, 0, 5],
    [' bytes= 0-4 ', 10, 0, 5],
    ['bytes=007-8', 10, 7, 2],
  ]
  for (const [header, size, start, length] of served) {
    it(`${header} of ${size} bytes gives ${length} from ${start}`, () => {
      expect(parseRange(header, size)).toEqual({ start, length })
    })
  }

  for (const header of [
    undefined,
    '',
    'bytes',
    'bytes=',
    'bytes=-',
    'bytes=5-2',
    'bytes=a-b',
    'bytes=1-2,4-5',
    'bytes=1-2,',
    'lines=1-2',
    'bytes=1-2-3',
    'bytes=0x1-2',
    'bytes=1.5-2',
    'bytes=--2',
    'bytes 0-4',
  ]) {
    it(`${header ?? 'absent'} is answered with everything (RFC 9110 §14.2; several ranges: seen on S3)`, () => {
      expect(parseRange(header, 10)).toBeUndefined()
    })
  }

  const unsatisfiable: [header: string, size: number][] = [
    ['bytes=10-', 10],
    ['bytes=10-20', 10],
    ['bytes=99999999999999999999-', 10],
    ['bytes=-0', 10],
    ['bytes=0-', 0],
    ['bytes=0-0', 0],
    ['bytes=-5', 0],
  ]
  for (const [header, size] of unsatisfiable) {
    it(`${header} of ${size} bytes is 416 with the size`, () => {
      expect(() => parseRange(header, size)).toThrow(
        expect.objectContaining({ code: 'InvalidRange', status: 416, headers: { 'Content-Range': `bytes */${size}` } }),
      )
    })
  }

  it('always names bytes that are there', () => {
    const number = fc.oneof(fc.nat(30), fc.bigInt(0n, 10n ** 30n))
    fc.assert(
      fc.property(fc.option(number), fc.option(number), fc.nat(20), (first, last, size) => {
        try {
          const range = parseRange(`bytes=${first ?? ''}-${last ?? ''}`, size)
          if (range === undefined) return
          expect(range.start).toBeGreaterThanOrEqual(0)
          expect(range.length).toBeGreaterThan(0)
          expect(range.start + range.length).toBeLessThanOrEqual(size)
          if (first !== null) expect(BigInt(range.start)).toBe(BigInt(first))
        } catch (error) {
          expect(error).toMatchObject({ code: 'InvalidRange' })
        }
      }),
    )
  })

  it('is echoed by Content-Range', () => {
    expect(contentRange({ start: 3, length: 4 }, 10)).toBe('bytes 3-6/10')
  })
})

describe('x-amz-copy-source-range', () => {
  it('is two offsets within the source', () => {
    expect(copySourceRange(undefined, 10)).toBeUndefined()
    expect(copySourceRange('bytes=0-9', 10)).toEqual({ start: 0, length: 10 })
    expect(copySourceRange('bytes=5-5', 10)).toEqual({ start: 5, length: 1 })
    expect(copySourceRange('bytes=5-500')).toEqual({ start: 5, length: 496 })
  })

  for (const header of [
    '',
    'bytes=',
    'bytes=1-',
    'bytes=-1',
    '0-5',
    'bytes=5-2',
    'bytes=0-10',
    'bytes=10-12',
    'bytes=0-1,2-3',
    `bytes=0-${'9'.repeat(16)}`,
  ]) {
    it(`refuses ${header || 'an empty one'} of 10 bytes (seen on S3: nothing is clipped)`, () => {
      expect(() => copySourceRange(header, 10)).toThrow(
        expect.objectContaining({ code: 'InvalidArgument', status: 400 }),
      )
    })
  }
})
