import fc from 'fast-check'
import { expect, it } from 'vitest'
import { multipartDirectory, newUploadId, uploadIdOf } from './upload-id.ts'

it('an upload id is safe in a URL, a file name and XML, and tells upper from lower case nowhere (our choice)', () => {
  expect(newUploadId()).toMatch(/^[0-9a-v]{25}$/)
})

it('upload ids sort by the time of initiation, as S3 lists the uploads of a key', () => {
  const times = [0, 1, 31, 32, 1_000_000, 1_700_000_000_000, 1_700_000_000_001, 32 ** 9 - 1]
  const ids = times.map((ms) => newUploadId(ms))
  expect([...ids].sort()).toEqual(ids)
})

it('no two upload ids of one millisecond are alike', () => {
  const ids = Array.from({ length: 10_000 }, () => newUploadId(1_700_000_000_000))
  expect(new Set(ids).size).toBe(ids.length)
})

it('the directory of an upload is <key>_<UploadId> (spec §2)', () => {
  const id = newUploadId()
  expect(multipartDirectory('a/b.txt', id)).toBe(`a/b.txt_${id}`)
})

it('the last segment of a key is cut between characters where its name would exceed 255 bytes (our choice)', () => {
  const id = newUploadId()
  const name = multipartDirectory(`folder/${'ü'.repeat(127)}`, id).slice('folder/'.length)
  expect(name).toBe(`${'ü'.repeat(114)}_${id}`)
  expect(Buffer.byteLength(name)).toBe(254)
})

it('any key gives a directory name that a file system takes, beside the object, from which the id can be read back', () => {
  const segment = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 300 }).filter((text) => !/[/\0]/.test(text))
  fc.assert(
    fc.property(fc.array(segment, { minLength: 1, maxLength: 3 }), (segments) => {
      const key = Buffer.from(segments.join('/')).toString()
      const id = newUploadId()
      const directory = multipartDirectory(key, id)
      const name = directory.slice(directory.lastIndexOf('/') + 1)
      expect(Buffer.byteLength(name)).toBeLessThanOrEqual(255)
      expect(directory.slice(0, directory.lastIndexOf('/') + 1)).toBe(key.slice(0, key.lastIndexOf('/') + 1))
      expect(key.startsWith(directory.slice(0, -id.length - 1))).toBe(true)
      expect(uploadIdOf(directory)).toBe(id)
      expect(uploadIdOf(`${directory}/`)).toBe(id)
    }),
  )
})

it('a key that ends in no upload id names no multipart directory', () => {
  for (const key of ['a', 'a_', 'a_b', newUploadId(), `a_${newUploadId()}0`, `a_${newUploadId()}/1`]) {
    expect(uploadIdOf(key)).toBeUndefined()
  }
})
