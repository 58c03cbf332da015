import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseTarget } from './address.ts'
import { S3Error } from './errors.ts'

const base = '/api/v1/s3'
const parse = (path: string) => parseTarget(base + path, base)

/** Text as it appears in Node's `url`: the bytes of its UTF-8 as latin1. */
const raw = (text: string) => Buffer.from(text, 'utf8').toString('latin1')

describe('the target of a request', () => {
  it('is the service at the base, with and without a trailing slash (spec, opening)', () => {
    for (const path of ['', '/', '?x=1', '/?x=1']) {
      expect(parse(path)).toMatchObject({ target: 'service', bucket: undefined, key: undefined, resource: '/' })
    }
  })

  it('is the same below a base with a trailing slash, and at the root', () => {
    expect(parseTarget('/api/v1/s3/b/k', '/api/v1/s3/')).toMatchObject({ bucket: 'b', key: 'k', resource: '/b/k' })
    for (const root of ['', '/']) {
      expect(parseTarget('/b/k', root)).toMatchObject({ bucket: 'b', key: 'k', resource: '/b/k' })
      expect(parseTarget('/', root)).toMatchObject({ target: 'service' })
    }
  })

  it('is undefined outside the base', () => {
    for (const path of ['/', '/api/v1', '/api/v1/s3x', '/api/v1/s3x/b', '/other', '*', '']) {
      expect(parseTarget(path, base)).toBeUndefined()
    }
  })

  it('is a bucket, with and without a trailing slash (the AWS SDK for JavaScript sends one)', () => {
    for (const path of ['/b', '/b/', '/b?list-type=2', '/b/?list-type=2']) {
      expect(parse(path)).toMatchObject({ target: 'bucket', bucket: 'b', key: undefined })
    }
  })

  it('keeps ":" of a nested bucket, written plainly or encoded (seen on the reference)', () => {
    expect(parse('/a:b:c/k:1')).toMatchObject({ bucket: 'a:b:c', key: 'k:1' })
    expect(parse('/a%3Ab%3ac/k')).toMatchObject({ bucket: 'a:b:c', key: 'k' })
  })

  it('keeps every slash of a key, also encoded ones', () => {
    expect(parse('/b/a/b//c/')).toMatchObject({ key: 'a/b//c/' })
    expect(parse('/b/a%2Fb%2f')).toMatchObject({ key: 'a/b/' })
    expect(parse('/b//')).toMatchObject({ key: '/' })
    expect(parse('/b/%2F')).toMatchObject({ key: '/' })
  })

  it('leaves dots and backslashes to the namespace', () => {
    expect(parse('/b/../c')).toMatchObject({ bucket: 'b', key: '../c' })
    expect(parse('/b/%2e%2E/x\\y')).toMatchObject({ key: '../x\\y' })
  })

  it('reads "+" as a plus in the path and as a space in the query', () => {
    expect(parse('/b/a+b%2Bc%20d')).toMatchObject({ key: 'a+b+c d' })
    expect(parse('/b?prefix=a+b%2Bc%20d')?.query.get('prefix')).toBe('a b+c d')
  })

  it('reads bytes beyond ASCII as UTF-8, encoded or not', () => {
    expect(parse(raw('/bücket/é😀'))).toMatchObject({ bucket: 'bücket', key: 'é😀' })
    expect(parse('/b/%C3%A9')).toMatchObject({ key: 'é' })
    expect(parse(`/b/${raw('é')}%20%C3%A9`)).toMatchObject({ key: 'é é' })
  })

  it('keeps the resource as it came', () => {
    expect(parse('/b/a%20b/?x=%20')?.resource).toBe('/b/a%20b/')
  })

  it('takes the absolute form that proxies send', () => {
    expect(parseTarget(`http://host:39999${base}/b/k?x`, base)).toMatchObject({ bucket: 'b', key: 'k' })
    expect(parseTarget('http://host:39999?x=1', '')).toMatchObject({ target: 'service' })
  })

  it('gives a query name without "=" the empty value, and counts the first of repeated names', () => {
    const query = parse('/b?uploads&a=1&a=2&&=x&b=c=d&%61b=%26')?.query
    expect([...(query ?? [])]).toEqual([
      ['uploads', ''],
      ['a', '1'],
      ['', 'x'],
      ['b', 'c=d'],
      ['ab', '&'],
    ])
  })

  for (const path of [
    '/b/%00',
    '/%00',
    '/b/%',
    '/b/%4',
    '/b/%zz',
    '/b/%ff',
    '/b/%c3',
    '/b/%ed%a0%80',
    '/b?x=%',
    '/b?%ff=1',
    '/b/\xff',
    '/b/\u0100',
  ]) {
    it(`refuses ${JSON.stringify(path)} with InvalidURI`, () => {
      expect(() => parse(path)).toThrow(expect.objectContaining({ code: 'InvalidURI', status: 400 }))
    })
  }

  it('refuses an empty bucket name before a key', () => {
    for (const path of ['//', '//k', '//k/l']) {
      expect(() => parse(path)).toThrow(expect.objectContaining({ code: 'InvalidBucketName' }))
    }
  })

  it('gives back every bucket and key that a client encodes', () => {
    const name = fc
      .string({ unit: 'grapheme', minLength: 1 })
      .filter((text) => text.isWellFormed() && !text.includes('\0'))
    fc.assert(
      fc.property(name, name, (bucket, key) => {
        const address = parse(`/${encodeURIComponent(bucket)}/${encodeURIComponent(key)}?k=${encodeURIComponent(key)}`)
        expect(address).toMatchObject({ bucket, key })
        expect(address?.query.get('k')).toBe(key)
      }),
    )
  })

  it('answers any target with an address or a 4xx', () => {
    const piece = fc.constantFrom(
      '/',
      '%',
      '%2',
      '%2F',
      '%00',
      '?',
      '&',
      '=',
      '+',
      ':',
      'b',
      '\x80',
      '\xff',
      '#',
      'http://',
      '..',
    )
    fc.assert(
      fc.property(fc.array(fc.oneof(piece, fc.string({ maxLength: 3 }))), (pieces) => {
        try {
          parse(pieces.join(''))
        } catch (error) {
          expect(error).toBeInstanceOf(S3Error)
          expect((error as S3Error).status).toBe(400)
        }
      }),
      { numRuns: 2000 },
    )
  })
})
