import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readTagging, taggingHeader } from './tagging.ts'
import { taggingDocument } from './xml/documents.ts'

const tags = (count: number) => Array.from({ length: count }, (_, index) => ({ key: `k${index}`, value: 'v' }))
const body = (list: readonly { key: string; value: string }[]) => Buffer.from(taggingDocument(list))
const header = (list: readonly { key: string; value: string }[]) =>
  list.map(({ key, value }) => `${encodeURIComponent(key)}=${encodeURIComponent(value)}`).join('&')
const invalidTag = expect.objectContaining({ code: 'InvalidTag', status: 400 })
const malformed = expect.objectContaining({ code: 'MalformedXML', status: 400 })

describe('a Tagging document', () => {
  it('gives back what was written, in order', () => {
    const tag = fc.record({ key: fc.string({ minLength: 1, maxLength: 60 }), value: fc.string({ maxLength: 60 }) })
    fc.assert(
      fc.property(fc.uniqueArray(tag, { selector: ({ key }) => key, maxLength: 10 }), (list) => {
        expect(readTagging(body(list), true)).toEqual(list)
      }),
    )
  })

  it('may have a namespace, and other elements in it', () => {
    const text =
      '<n:Tagging xmlns:n="x">\n<n:TagSet>\n<n:Tag><n:Value/><n:Key> a </n:Key><X/></n:Tag>\n</n:TagSet></n:Tagging>'
    expect(readTagging(Buffer.from(text), true)).toEqual([{ key: ' a ', value: '' }])
  })

  it('may be empty (spec §2)', () => {
    expect(readTagging(Buffer.from('<Tagging><TagSet/></Tagging>'), true)).toEqual([])
  })

  for (const text of [
    '',
    '<Tagging/>',
    '<TagSet/>',
    '<Tagging><TagSet><Tag><Key>a</Key></Tag></TagSet></Tagging>',
    '<Tagging><TagSet><Tag><Value>a</Value></Tag></TagSet></Tagging>',
    '<Tagging><TagSet/><TagSet/></Tagging>',
    '<Tagging><TagSet><Tag><Key><b/></Key><Value/></Tag></TagSet></Tagging>',
  ]) {
    it(`is malformed as ${text || 'nothing'}`, () =>
      expect(() => readTagging(Buffer.from(text), true)).toThrow(malformed))
  }
})

describe('an x-amz-tagging header', () => {
  it('is percent-encoded like a query (seen on S3)', () => {
    expect(taggingHeader('a=1&b=x%20y&c=x+y&d%26=%3D&e&f=', true, 0)).toEqual([
      { key: 'a', value: '1' },
      { key: 'b', value: 'x y' },
      { key: 'c', value: 'x y' },
      { key: 'd&', value: '=' },
      { key: 'e', value: '' },
      { key: 'f', value: '' },
    ])
    expect(taggingHeader('a=b=c', true, 0)).toEqual([{ key: 'a', value: 'b=c' }])
    expect(taggingHeader(Buffer.from('é=ü').toString('latin1'), true, 0)).toEqual([{ key: 'é', value: 'ü' }])
  })

  it('is no tags when it is missing or empty', () => {
    expect(taggingHeader(undefined, true, 2048)).toEqual([])
    expect(taggingHeader('', true, 2048)).toEqual([])
  })

  it('has a largest size, unless that is 0 (spec §8)', () => {
    const long = `a=${'x'.repeat(200)}`
    expect(() => taggingHeader(long, true, 201)).toThrow(
      expect.objectContaining({ code: 'MetadataTooLarge', status: 400 }),
    )
    expect(taggingHeader(long, true, 202)).toHaveLength(1)
    expect(taggingHeader(long, true, 0)).toHaveLength(1)
  })

  for (const value of ['a=%', 'a=%zz', 'a=%ff', '%00=a']) {
    it(`refuses ${value}`, () => {
      expect(() => taggingHeader(value, true, 0)).toThrow(
        expect.objectContaining({ code: 'InvalidArgument', status: 400 }),
      )
    })
  }
})

describe('the restrictions of tags (spec §8)', () => {
  const cases: [what: string, list: { key: string; value: string }[], allowed: boolean][] = [
    ['10 tags', tags(10), true],
    ['11 tags', tags(11), false],
    ['a key of 128 characters', [{ key: 'k'.repeat(128), value: '' }], true],
    ['a key of 128 characters beyond UTF-16 units', [{ key: '😀'.repeat(128), value: '' }], true],
    ['a key of 129 characters', [{ key: 'k'.repeat(129), value: '' }], false],
    ['a key of 129 emoji', [{ key: '😀'.repeat(129), value: '' }], false],
    ['a value of 256 characters', [{ key: 'k', value: 'v'.repeat(256) }], true],
    ['a value of 256 emoji', [{ key: 'k', value: '😀'.repeat(256) }], true],
    ['a value of 257 characters', [{ key: 'k', value: 'v'.repeat(257) }], false],
    ['an empty key', [{ key: '', value: 'v' }], false],
  ]
  for (const [what, list, allowed] of cases) {
    it(`${allowed ? 'allow' : 'refuse'} ${what}`, () => {
      if (allowed) expect([readTagging(body(list), true), taggingHeader(header(list), true, 0)]).toEqual([list, list])
      else {
        expect(() => readTagging(body(list), true)).toThrow(invalidTag)
        expect(() => taggingHeader(header(list), true, 0)).toThrow(invalidTag)
      }
    })

    it(`do not count when they are off: ${what}`, () => {
      expect([readTagging(body(list), false), taggingHeader(header(list), false, 0)]).toEqual([list, list])
    })
  }

  it('or not, a key comes once (seen on the reference)', () => {
    const twice = [
      { key: 'a', value: '1' },
      { key: 'a', value: '2' },
    ]
    for (const restrictions of [true, false]) {
      expect(() => readTagging(body(twice), restrictions)).toThrow(invalidTag)
      expect(() => taggingHeader(header(twice), restrictions, 0)).toThrow(invalidTag)
    }
  })

  it('or not, a tag that could not be listed is refused', () => {
    expect(() => taggingHeader('a=%01', false, 0)).toThrow(invalidTag)
  })
})
