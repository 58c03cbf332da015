import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { copySource } from './copy-source.ts'

const read = (header: string) => copySource({ 'x-amz-copy-source': header })

describe('x-amz-copy-source', () => {
  const cases: [header: string, bucket: string, key: string, source?: string][] = [
    ['b/k', 'b', 'k'],
    ['/b/k', 'b', 'k', 'spec §4'],
    ['b/a/c/', 'b', 'a/c/'],
    ['b%2Fk', 'b', 'k', 'seen on the reference'],
    ['%2Fb%2Fk', 'b', 'k'],
    ['b/a%20b%2Bc', 'b', 'a b+c'],
    ['b/a+b', 'b', 'a b', 'seen on S3 and on the reference'],
    ['a:b:c/k', 'a:b:c', 'k', 'spec §1.2'],
    ['b/k?versionId=null', 'b', 'k'],
    ['b/k?versionId=', 'b', 'k'],
    ['b/what?', 'b', 'what?'],
    ['b/a%3FversionId=1', 'b', 'a?versionId=1'],
    [Buffer.from('b/é').toString('latin1'), 'b', 'é'],
  ]
  for (const [header, bucket, key, source] of cases) {
    it(`${header} is ${key} in ${bucket}${source ? ` (${source})` : ''}`, () => {
      expect(read(header)).toEqual({ bucket, key })
    })
  }

  for (const header of ['', '/', 'b', '/b', 'b/', '/b/', '//k', 'b/%', 'b/%ff', 'b/%00', 'b/k?versionId=3']) {
    it(`refuses ${header || 'an empty one'}`, () => {
      expect(() => read(header)).toThrow(expect.objectContaining({ code: 'InvalidArgument', status: 400 }))
    })
  }

  it('gives back every bucket and key that a client encodes', () => {
    const name = fc
      .string({ unit: 'grapheme', minLength: 1 })
      .filter((text) => text.isWellFormed() && !text.includes('\0'))
    fc.assert(
      fc.property(
        name.filter((text) => !text.includes('/')),
        name,
        (bucket, key) => {
          expect(read(`${encodeURIComponent(bucket)}/${encodeURIComponent(key)}`)).toEqual({ bucket, key })
        },
      ),
    )
  })
})
