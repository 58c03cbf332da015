import { describe, expect, it } from 'vitest'
import {
  copySourceConditions,
  evaluate,
  ifRangeHolds,
  readConditions,
  refuseDeleteConditions,
  writeConditions,
} from './conditions.ts'

type Headers = Record<string, string>

const modifiedMs = Date.UTC(2026, 0, 2, 3, 4, 5, 678)
const same = 'Fri, 02 Jan 2026 03:04:05 GMT'
const before = 'Fri, 02 Jan 2026 03:04:04 GMT'
const after = 'Fri, 02 Jan 2026 03:04:06 GMT'
const object = { record: { etag: 'abc' }, entry: { modifiedMs } }

function outcome(headers: Headers): string {
  try {
    return evaluate(readConditions(headers), object)
  } catch (error) {
    return (error as { code: string }).code
  }
}

describe('conditions of a read', () => {
  it('are none when there is no such header', () => {
    expect(readConditions({ range: 'bytes=0-1' })).toBeUndefined()
    expect(evaluate(undefined, object)).toBe('proceed')
  })

  const failed = 'PreconditionFailed'
  const cases: [headers: Headers, expected: string, source?: string][] = [
    [{ 'if-match': '"abc"' }, 'proceed'],
    [{ 'if-match': 'abc' }, 'proceed', 'seen on S3: quotes may be missing'],
    [{ 'if-match': '"x", "abc"' }, 'proceed'],
    [{ 'if-match': '*' }, 'proceed'],
    [{ 'if-match': '"x"' }, failed],
    [{ 'if-match': 'W/"abc"' }, failed, 'RFC 9110 §13.1.1: strong comparison'],
    [{ 'if-match': '' }, failed],
    [{ 'if-none-match': '"abc"' }, 'notModified'],
    [{ 'if-none-match': 'W/"abc"' }, 'notModified', 'RFC 9110 §13.1.2: weak comparison'],
    [{ 'if-none-match': '*' }, 'notModified'],
    [{ 'if-none-match': '"x"' }, 'proceed'],
    [{ 'if-modified-since': before }, 'proceed'],
    [{ 'if-modified-since': same }, 'notModified', 'fractions of a second do not count'],
    [{ 'if-modified-since': after }, 'notModified'],
    [{ 'if-modified-since': 'yesterday' }, 'proceed', 'RFC 9110 §13.1.3: no date, no condition'],
    [{ 'if-unmodified-since': before }, failed],
    [{ 'if-unmodified-since': same }, 'proceed'],
    [{ 'if-unmodified-since': after }, 'proceed'],
    [{ 'if-unmodified-since': '5' }, 'proceed'],
    // Pairs (RFC 9110 §13.2.2, the same on S3).
    [{ 'if-match': '"abc"', 'if-unmodified-since': before }, 'proceed'],
    [{ 'if-match': '"x"', 'if-unmodified-since': after }, failed],
    [{ 'if-none-match': '"abc"', 'if-modified-since': before }, 'notModified'],
    [{ 'if-none-match': '"x"', 'if-modified-since': after }, 'proceed'],
    [{ 'if-match': '"x"', 'if-none-match': '"abc"' }, failed],
    [{ 'if-match': '"abc"', 'if-none-match': '"abc"' }, 'notModified'],
    [{ 'if-unmodified-since': after, 'if-modified-since': after }, 'notModified'],
  ]
  for (const [headers, expected, source] of cases) {
    it(`${JSON.stringify(headers)} is ${expected}${source ? ` (${source})` : ''}`, () => {
      expect(outcome(headers)).toBe(expected)
    })
  }

  it('say in the error which of them failed', () => {
    expect(() => evaluate(readConditions({ 'if-match': 'x' }), object)).toThrow(
      expect.objectContaining({ status: 412, details: { Condition: 'If-Match' } }),
    )
  })
})

describe('If-Range', () => {
  const cases: [value: string | undefined, holds: boolean][] = [
    [undefined, true],
    ['"abc"', true],
    ['"x"', false],
    ['W/"abc"', false],
    [same, true],
    [after, false],
    [before, false],
    ['Fri, nonsense', false],
  ]
  for (const [value, holds] of cases) {
    it(`${value ?? 'absent'} ${holds ? 'holds' : 'does not hold'}`, () => {
      expect(ifRangeHolds(value === undefined ? {} : { 'if-range': value }, object)).toBe(holds)
    })
  }
})

describe('conditions of a write', () => {
  it('are none when there is no such header', () => {
    expect(writeConditions({})).toEqual({
      ifMatch: undefined,
      ifNoneMatch: undefined,
      ifAbsent: false,
      condition: undefined,
    })
  })

  it('If-None-Match with * is for the file system to decide', () => {
    expect(writeConditions({ 'if-none-match': '*' })).toMatchObject({
      ifAbsent: true,
      ifNoneMatch: '*',
      condition: undefined,
    })
  })

  it('If-Match compares with what is there', () => {
    const { condition, ifMatch } = writeConditions({ 'if-match': '"abc"' })
    expect(ifMatch).toBe('"abc"')
    expect(() => condition?.(object)).not.toThrow()
    expect(() => condition?.({ ...object, record: { etag: 'other' } })).toThrow(
      expect.objectContaining({ status: 412 }),
    )
  })

  it('If-Match on nothing is NoSuchKey (seen on S3)', () => {
    for (const value of ['"abc"', '*']) {
      expect(() => writeConditions({ 'if-match': value }).condition?.(undefined)).toThrow(
        expect.objectContaining({ code: 'NoSuchKey', status: 404 }),
      )
    }
  })

  for (const headers of [
    { 'if-none-match': '"abc"' },
    { 'if-none-match': '*', 'if-match': 'x' },
    { 'if-unmodified-since': same },
  ]) {
    it(`${JSON.stringify(headers)} is not implemented, and never ignored`, () => {
      expect(() => writeConditions(headers as Headers)).toThrow(
        expect.objectContaining({ code: 'NotImplemented', status: 501 }),
      )
    })
  }
})

describe('conditions of a deletion', () => {
  it('are not implemented, and never ignored', () => {
    expect(() => refuseDeleteConditions({})).not.toThrow()
    for (const name of ['if-match', 'x-amz-if-match-size', 'x-amz-if-match-last-modified-time']) {
      expect(() => refuseDeleteConditions({ [name]: '1' })).toThrow(expect.objectContaining({ code: 'NotImplemented' }))
    }
  })
})

describe('conditions on a copy source', () => {
  const prefix = (headers: Headers) =>
    Object.fromEntries(Object.entries(headers).map(([name, value]) => [`x-amz-copy-source-${name}`, value]))

  it('are none without such headers; those of the target are not theirs', () => {
    expect(copySourceConditions({ 'if-match': '"x"' })).toBeUndefined()
  })

  it('proceed when they hold', () => {
    for (const headers of [
      { 'if-match': '"abc"' },
      { 'if-match': '"abc"', 'if-unmodified-since': before },
      { 'if-none-match': '"x"' },
      { 'if-modified-since': before },
    ]) {
      expect(() => copySourceConditions(prefix(headers as Headers))?.(object)).not.toThrow()
    }
  })

  it('fail with 412, also where a read would be 304 (seen on S3)', () => {
    for (const headers of [
      { 'if-match': '"x"' },
      { 'if-unmodified-since': before },
      { 'if-none-match': '"abc"' },
      { 'if-modified-since': same },
      { 'if-none-match': '"abc"', 'if-modified-since': before },
    ]) {
      expect(() => copySourceConditions(prefix(headers as Headers))?.(object)).toThrow(
        expect.objectContaining({ code: 'PreconditionFailed', status: 412 }),
      )
    }
  })
})
