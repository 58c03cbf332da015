import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readToken, writeToken } from './continuation-token.ts'
import {
  listMultipartUploadsParameters,
  listObjectsParameters,
  listObjectsV2Parameters,
  listPartsParameters,
} from './list-parameters.ts'

const query = (text: string) => new Map(new URLSearchParams(text))
const v1 = (text: string, bucket = 'b') => listObjectsParameters(query(text), bucket)
const v2 = (text: string) => listObjectsV2Parameters(query(text))
const invalid = expect.objectContaining({ name: 'S3Error', code: 'InvalidArgument', status: 400 })

describe('parameters of ListObjects', () => {
  it('have the defaults of the specification (§4 listing rule 1)', () => {
    expect(v1('')).toEqual({ prefix: '', delimiter: '', maxKeys: 1000, encodingType: undefined, marker: '', after: '' })
    expect(v1('max-keys=&encoding-type=&delimiter=&prefix=&marker=')).toEqual(v1(''))
  })

  it('take a marker as a key, and in the form of NextMarker (spec §4 listing rule 2)', () => {
    expect(v1('marker=a/b')).toMatchObject({ marker: 'a/b', after: 'a/b' })
    expect(v1('marker=/b/a/b')).toMatchObject({ marker: '/b/a/b', after: 'a/b' })
    expect(v1('marker=/x:y/k', 'x:y')).toMatchObject({ after: 'k' })
    expect(v1('marker=/other/k')).toMatchObject({ after: '/other/k' })
    expect(v1('marker=/b/')).toMatchObject({ after: '' })
  })

  it('take any prefix and delimiter', () => {
    expect(v1('prefix=a%2Fb&delimiter=--')).toMatchObject({ prefix: 'a/b', delimiter: '--' })
  })

  it('cap a page at 1,000 (seen on S3; S3A asks for 5,000)', () => {
    expect(v1('max-keys=0').maxKeys).toBe(0)
    expect(v1('max-keys=7').maxKeys).toBe(7)
    expect(v1('max-keys=5000').maxKeys).toBe(1000)
    expect(v1('max-keys=2147483647').maxKeys).toBe(1000)
  })

  for (const text of [
    'max-keys=-1',
    'max-keys=x',
    'max-keys=1.5',
    'max-keys=2147483648',
    'max-keys=1e3',
    'encoding-type=base64',
    'list-type=3',
  ]) {
    it(`refuse ${text}`, () => expect(() => v1(text)).toThrow(invalid))
  }
})

describe('parameters of ListObjectsV2', () => {
  it('begin after the token, else after start-after', () => {
    const token = writeToken('a/é')
    expect(v2(`continuation-token=${token}&start-after=z`)).toMatchObject({
      after: 'a/é',
      continuationToken: token,
      startAfter: 'z',
    })
    expect(v2('start-after=a')).toMatchObject({ after: 'a', continuationToken: undefined })
    expect(v2('')).toMatchObject({ after: '', startAfter: undefined, fetchOwner: false })
    expect(v2('continuation-token=')).toMatchObject({ after: '', continuationToken: undefined })
    expect(v2('fetch-owner=true&encoding-type=url')).toMatchObject({ fetchOwner: true, encodingType: 'url' })
  })

  it('refuse a token that was not given out', () => {
    expect(() => v2('continuation-token=abc')).toThrow(invalid)
  })
})

describe('continuation tokens', () => {
  it('give back the key, in characters that need no encoding', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme' }).map((text) => text.toWellFormed()),
        (key) => {
          expect(writeToken(key)).toMatch(/^[A-Za-z0-9_-]+$/)
          expect(readToken(writeToken(key))).toBe(key)
        },
      ),
    )
  })

  it('are refused when cut, made up or changed', () => {
    const token = writeToken('some/key')
    for (const wrong of [
      token.slice(1),
      token.slice(0, -1),
      `${token}A`,
      `${token}=`,
      `${token} `,
      'AAAA',
      '',
      'some/key',
      token.toLowerCase(),
    ]) {
      expect(() => readToken(wrong)).toThrow(invalid)
    }
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(() => readToken(text)).toThrow(invalid)
      }),
    )
  })
})

describe('parameters of ListParts', () => {
  it('have defaults, and page by part number', () => {
    expect(listPartsParameters(query(''))).toEqual({ partNumberMarker: 0, maxParts: 1000, encodingType: undefined })
    expect(listPartsParameters(query('part-number-marker=7&max-parts=2&encoding-type=url'))).toEqual({
      partNumberMarker: 7,
      maxParts: 2,
      encodingType: 'url',
    })
  })

  for (const text of ['part-number-marker=x', 'max-parts=-1']) {
    it(`refuse ${text}`, () => expect(() => listPartsParameters(query(text))).toThrow(invalid))
  }
})

describe('parameters of ListMultipartUploads', () => {
  it('have defaults', () => {
    expect(listMultipartUploadsParameters(query('uploads'))).toEqual({
      prefix: '',
      delimiter: '',
      maxUploads: 1000,
      encodingType: undefined,
      keyMarker: '',
      uploadIdMarker: '',
    })
  })

  it('take an upload id only together with a key (seen on S3)', () => {
    expect(listMultipartUploadsParameters(query('upload-id-marker=1'))).toMatchObject({ uploadIdMarker: '' })
    expect(listMultipartUploadsParameters(query('key-marker=k&upload-id-marker=1&max-uploads=3'))).toMatchObject({
      keyMarker: 'k',
      uploadIdMarker: '1',
      maxUploads: 3,
    })
  })

  for (const text of ['max-uploads=x', 'encoding-type=x']) {
    it(`refuse ${text}`, () => expect(() => listMultipartUploadsParameters(query(text))).toThrow(invalid))
  }
})
