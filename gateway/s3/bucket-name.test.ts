import { describe, expect, it } from 'vitest'
import { bucketPath, checkBucketName } from './bucket-name.ts'

const refusal = expect.objectContaining({ name: 'S3Error', code: 'InvalidBucketName', status: 400 })

describe('the path of a bucket', () => {
  it('is its name, and ":" joins directories (spec §1.2)', () => {
    expect(bucketPath('photos')).toBe('photos')
    expect(bucketPath('a:b:c')).toBe('a/b/c')
  })

  it('may be any name that a directory can have while the naming rules are off (seen on the reference)', () => {
    for (const name of ['A', 'UPPER', ' ', 'é', '-x', '.x', 'x..y', '...', 'a'.repeat(255), 'a+b', 'a\\b']) {
      expect(bucketPath(name)).toBe(name)
    }
  })

  for (const name of [
    '',
    '.',
    '..',
    ':',
    'a:',
    ':a',
    'a::b',
    'a:..:b',
    'a:.',
    'a/b',
    'a:b/c',
    '/',
    'a\0b',
    'é'.repeat(128),
    'a'.repeat(256),
    '.s3proxy',
    '.s3proxy-tmp',
    'a:.s3proxy',
    '.s3proxy:users',
  ]) {
    it(`is refused for ${JSON.stringify(name.slice(0, 40))}`, () => expect(() => bucketPath(name)).toThrow(refusal))
  }
})

describe('the naming rules of S3 (FACTS §4)', () => {
  for (const name of ['abc', 'a-b', 'a.b', 'a--b', '123', '1.2.3', 'a'.repeat(63), '1.2.3.4.5']) {
    it(`allow ${name}`, () => expect(() => checkBucketName(name)).not.toThrow())
  }
  for (const name of [
    'ab',
    'a'.repeat(64),
    'Abc',
    'a_b',
    'a:b',
    '-ab',
    'ab-',
    '.ab',
    'ab.',
    'a..b',
    'a.-b',
    'a-.b',
    '192.168.5.4',
    'xn--abc',
    'sthree-abc',
    'abc-s3alias',
    'abc--ol-s3',
    'abc.mrap',
    'abc--x-s3',
    'a b',
    'é23',
    'abc\n',
  ]) {
    it(`refuse ${JSON.stringify(name)}`, () => expect(() => checkBucketName(name)).toThrow(refusal))
  }
})
