import { posix } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { S3Error } from '../s3/errors.ts'
import { bucketDirectory, isPresentable, keyPath, newKeyPath } from './key-path.ts'

function codeOf(run: () => unknown): string | undefined {
  try {
    run()
    return undefined
  } catch (error) {
    if (error instanceof S3Error) return error.code
    throw error
  }
}

/** Keys full of what path tricks are made of. */
const trickyKey = fc
  .array(fc.constantFrom('/', '.', '..', 'a', 'é', '\0', '\\', '%2e', ':', ' ', '.s3proxy', '\ud800', '~', '…'), {
    maxLength: 8,
  })
  .map((parts) => parts.join(''))

describe('a key', () => {
  test.each(['', '/', '//', '/a', 'a//b', 'a//', '.', '..', './a', 'a/.', 'a/./b', 'a/../b', '../a', 'a/..'])(
    'that is %j is refused, as it names no single place below the bucket (our choice)',
    (key) => {
      expect(codeOf(() => keyPath(key))).toBe('InvalidArgument')
    },
  )

  test.each(['.s3proxy', '.s3proxy/users', 'a/.s3proxy-0', '.s3proxyfoo/b'])(
    'that is %j is refused, as the name is reserved (our choice)',
    (key) => {
      expect(codeOf(() => keyPath(key))).toBe('InvalidArgument')
    },
  )

  test.each(['a\0b', '\0', 'a\ud800'])('that no file can be named is refused', (key) => {
    expect(codeOf(() => keyPath(key))).toBe('InvalidArgument')
  })

  test.each(['...', '.a', '..a', 'a..', '.s3prox', 'a/.../b', 'x.s3proxy', 'a:b', 'a\\b', 'a b', '%2e%2e/x'])(
    'that is %j only looks like a trick',
    (key) => {
      expect(keyPath(key).path).toBe(key)
    },
  )

  test('is split at its last slash, and a final one makes it a folder', () => {
    expect(keyPath('a/b/c')).toEqual({ path: 'a/b/c', folder: 'a/b', name: 'c', isFolder: false })
    expect(keyPath('a/b/')).toEqual({ path: 'a/b', folder: 'a', name: 'b', isFolder: true })
    expect(keyPath('a')).toEqual({ path: 'a', folder: '', name: 'a', isFolder: false })
  })

  test('never leads out of its bucket, and is one place only', () => {
    fc.assert(
      fc.property(trickyKey, (key) => {
        if (codeOf(() => keyPath(key)) !== undefined) return
        const { path, folder, name, isFolder } = keyPath(key)
        expect(posix.normalize(`/bucket/${path}`)).toBe(`/bucket/${path}`)
        expect(path).not.toBe('')
        expect(folder === '' ? name : `${folder}/${name}`).toBe(path)
        expect(key).toBe(isFolder ? `${path}/` : path)
        expect(Buffer.from(path).toString()).toBe(path)
      }),
      { numRuns: 2000 },
    )
  })

  test('to be written has at most 1,024 bytes (seen on S3)', () => {
    expect(codeOf(() => newKeyPath('x'.repeat(1024)))).toBeUndefined()
    expect(codeOf(() => newKeyPath('x'.repeat(1025)))).toBe('KeyTooLongError')
    expect(codeOf(() => newKeyPath('é'.repeat(513)))).toBe('KeyTooLongError')
    expect(codeOf(() => keyPath('x'.repeat(1025)))).toBeUndefined()
  })

  test('of the parts of an upload may be longer by as much as the upload adds', () => {
    const directory = `${'x/'.repeat(511)}yz_0abc1defg2hijk3lmno4pqrs5`
    expect(codeOf(() => newKeyPath(`${directory}/`))).toBeUndefined()
    expect(codeOf(() => newKeyPath(`${directory}/10000`))).toBeUndefined()
    expect(codeOf(() => newKeyPath(`${directory}/other`))).toBe('KeyTooLongError')
  })

  test('to be written has no characters that no listing could show (our choice)', () => {
    expect(codeOf(() => newKeyPath('a\x01b'))).toBe('InvalidArgument')
    expect(codeOf(() => keyPath('a\x01b'))).toBeUndefined()
    expect(isPresentable('a\tb\nc\rd\x7f\u{1f600}')).toBe(true)
    expect(isPresentable('a\ufffe')).toBe(false)
  })
})

test.each(['', '.', '..', 'a/..', '/a', 'a/', 'a//b', '.s3proxy', 'a/.s3proxy'])('%j is no bucket', (bucket) => {
  expect(codeOf(() => bucketDirectory(bucket))).toBe('InvalidBucketName')
})
