import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { httpDate, parseHttpDate } from './http-date.ts'
import { timestamp } from './timestamp.ts'

const example = Date.UTC(1994, 10, 6, 8, 49, 37)
const times = fc.integer({ min: 0, max: Date.UTC(9999, 0) })

describe('dates in headers', () => {
  it('are written and read as RFC 9110 §5.6.7 says', () => {
    expect(httpDate(example)).toBe('Sun, 06 Nov 1994 08:49:37 GMT')
    expect(parseHttpDate('Sun, 06 Nov 1994 08:49:37 GMT')).toBe(example)
    expect(parseHttpDate('Sunday, 06-Nov-94 08:49:37 GMT')).toBe(example)
    expect(parseHttpDate('Sun Nov  6 08:49:37 1994')).toBe(example)
  })

  it('with two digits for the year are at most 50 years ahead', () => {
    const year = new Date().getUTCFullYear()
    const two = (value: number) => String(value % 100).padStart(2, '0')
    const near = parseHttpDate(`Sunday, 06-Nov-${two(year + 40)} 08:49:37 GMT`) ?? 0
    const far = parseHttpDate(`Sunday, 06-Nov-${two(year + 60)} 08:49:37 GMT`) ?? 0
    expect(new Date(near).getUTCFullYear()).toBe(year + 40)
    expect(new Date(far).getUTCFullYear()).toBe(year - 40)
  })

  it('may be ISO 8601 (seen on S3)', () => {
    expect(parseHttpDate('1994-11-06T08:49:37Z')).toBe(example)
    expect(parseHttpDate('1994-11-06T08:49:37.500Z')).toBe(example + 500)
  })

  it('are read back to the second', () => {
    fc.assert(
      fc.property(times, (ms) => {
        expect(httpDate(ms)).toBe(new Date(ms).toUTCString())
        expect(parseHttpDate(httpDate(ms))).toBe(ms - (ms % 1000))
      }),
    )
  })

  for (const text of [
    '',
    '0',
    '5',
    'now',
    '2020',
    'Sun, 06 Nov 1994',
    'Sun, 99 Nov 1994 08:49:37 GMT',
    'Sun, 06 Nox 1994 08:49:37 GMT',
    '06 Nov 1994 08:49:37 GMT',
  ]) {
    it(`are none as ${JSON.stringify(text)}`, () => expect(parseHttpDate(text)).toBeUndefined())
  }
})

describe('times in documents', () => {
  it('are ISO 8601 with milliseconds (spec §2), before 1970 too', () => {
    fc.assert(
      fc.property(fc.integer({ min: -62_000_000_000_000, max: Date.UTC(9999, 0) }), (ms) => {
        expect(timestamp(ms)).toBe(new Date(ms).toISOString())
      }),
    )
  })

  it('cut fractions of a millisecond', () => {
    expect(timestamp(1000.999)).toBe('1970-01-01T00:00:01.000Z')
  })
})
