import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { percentDecode, percentEncode } from './percent.ts'

const text = fc.string({ unit: 'grapheme' }).filter((value) => value.isWellFormed() && !value.includes('\0'))

describe('percent-encoding for encoding-type=url', () => {
  it('gives the same text to every decoder: with "+" as plus and with "+" as space', () => {
    fc.assert(
      fc.property(text, (value) => {
        const encoded = percentEncode(value)
        expect(percentDecode(encoded, { plusIsSpace: false })).toBe(value)
        expect(percentDecode(encoded, { plusIsSpace: true })).toBe(value)
        expect(encoded).toMatch(/^[A-Za-z0-9\-._~/%]*$/)
      }),
    )
  })

  it('keeps slashes, and encodes what S3 encodes (AWS documentation: test_file(3).png)', () => {
    expect(percentEncode("a/b c+(3)*'!~.png")).toBe('a/b%20c%2B%283%29%2A%27%21~.png')
  })

  it('writes U+FFFD for half a surrogate pair', () => {
    expect(percentEncode('\ud800')).toBe('%EF%BF%BD')
  })
})

describe('percent-decoding', () => {
  it('reads raw bytes beyond ASCII as UTF-8 together with encoded ones', () => {
    expect(percentDecode('\xc3%A9', { plusIsSpace: false })).toBe('é')
    expect(percentDecode('\xc3\xa9', { plusIsSpace: false })).toBe('é')
  })

  it('is undefined for what is no text', () => {
    for (const raw of ['%', '%1', '%gg', '%00', '\0', '%ff', '\xff', '\u0100', '%c0%80', '%ed%a0%80', '%f4%90%80%80']) {
      expect(percentDecode(raw, { plusIsSpace: false })).toBeUndefined()
    }
  })
})
