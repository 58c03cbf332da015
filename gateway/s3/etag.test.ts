import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { emptyEtag, foreignEtag, multipartEtag, quote, unquote } from './etag.ts'

const md5 = (data: string | Buffer) => createHash('md5').update(data).digest()

describe('ETags', () => {
  it('are quoted in headers, and read with or without quotes', () => {
    expect(quote('abc')).toBe('"abc"')
    for (const sent of ['"abc"', 'abc', ' "abc" ', 'W/"abc"', 'W/abc']) expect(unquote(sent)).toBe('abc')
  })

  it('of which only a part is quoted stay as they are', () => {
    expect(unquote('"')).toBe('"')
    expect(unquote('"abc')).toBe('"abc')
    expect(unquote('""')).toBe('')
    expect(unquote('')).toBe('')
  })

  it('of empty objects are the MD5 of nothing', () => {
    expect(emptyEtag).toBe(md5('').toString('hex'))
  })

  it('of multipart objects are the MD5 of the MD5s and their number (seen on S3)', () => {
    const parts = ['a', 'b'].map(md5)
    const expected = `${md5(Buffer.concat(parts)).toString('hex')}-2`
    expect(multipartEtag(parts.map((part) => part.toString('hex')))).toBe(expected)
  })

  it('of foreign files follow from their identity and are no MD5 (design §4)', () => {
    expect(foreignEtag('1-2-3')).toMatch(/^[0-9a-f]{32}-1$/)
    expect(foreignEtag('1-2-3')).toBe(foreignEtag('1-2-3'))
    expect(foreignEtag('1-2-3')).not.toBe(foreignEtag('1-2-4'))
  })
})
