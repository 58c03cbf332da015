import { DeleteObjectCommand, GetObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { notFound, type SharedBucket, startWithBucket } from './setup/shared-bucket.ts'

describe('links and special files', () => {
  let bucket: SharedBucket

  beforeAll(async () => {
    bucket = await startWithBucket('links')
  })
  afterAll(() => bucket?.gateway.stop())

  test('a hard link is an object with the metadata of the other, also when that is deleted or replaced', async () => {
    const { ETag } = await bucket.put('linked', 'same', { ContentType: 'a/b', Metadata: { kept: 'yes' } })
    await bucket.shell('ln linked link-1 && ln linked link-2')
    const expected = { ETag, ContentType: 'a/b', Metadata: { kept: 'yes' } }
    expect(await bucket.head('link-1')).toMatchObject(expected)
    await bucket.s3.send(new DeleteObjectCommand({ Bucket: bucket.name, Key: 'linked' }))
    expect(await bucket.head('link-1')).toMatchObject(expected)
    await bucket.put('link-1', 'other')
    expect(await bucket.head('link-2')).toMatchObject(expected)
    expect(await bucket.read('link-2')).toBe('same')
  })

  test('a symbolic link to a file within the namespace reads as that file', async () => {
    await bucket.put('target', 'through a link')
    await bucket.shell('mkdir -p sub && ln -s target symbolic && ln -s ../target sub/upwards')
    expect(await bucket.read('symbolic')).toBe('through a link')
    expect(await bucket.read('sub/upwards')).toBe('through a link')
    expect((await bucket.list('symbolic')).map(([key]) => key)).toEqual(['symbolic'])
  })

  test('a symbolic link to a directory is read through but not descended in a listing', async () => {
    await bucket.put('real/object', 'x')
    await bucket.shell('ln -s real linked-directory && ln -s .. real/loop')
    expect(await bucket.read('linked-directory/object')).toBe('x')
    const keys = (await bucket.list()).map(([key]) => key)
    expect(keys.filter((key) => key.startsWith('linked-directory/') && key !== 'linked-directory/')).toEqual([])
    expect(keys.filter((key) => key.startsWith('real/loop/') && key !== 'real/loop/')).toEqual([])
  })

  test('a symbolic link never leads out of the namespace, for reading or writing', async () => {
    await bucket.shell('ln -s /etc/passwd outside && ln -s /tmp outside-directory && ln -s ../../../../../etc up')
    for (const Key of ['outside', 'outside-directory/x', 'up/passwd']) {
      const get = bucket.s3.send(new GetObjectCommand({ Bucket: bucket.name, Key }))
      await expect(get, Key).rejects.toMatchObject({ $metadata: { httpStatusCode: expect.toBeOneOf([403, 404]) } })
    }
    const put = bucket.s3.send(new PutObjectCommand({ Bucket: bucket.name, Key: 'outside-directory/x', Body: 'x' }))
    await expect(put).rejects.toMatchObject({ $metadata: { httpStatusCode: expect.toBeOneOf([400, 403, 404, 409]) } })
    await bucket.put('outside', 'in place of the link')
    expect(await bucket.shell('cat outside; test ! -L outside; head -c 4 /etc/passwd')).toBe('in place of the linkroot')
  })

  test('pipes, sockets and devices do not exist for S3, and asking for them does not hang', async () => {
    await bucket.shell('mkfifo pipe && mknod device c 1 3 || true')
    for (const key of ['pipe', 'device']) {
      await expect(bucket.head(key), key).rejects.toMatchObject(notFound)
      await expect(bucket.read(key), key).rejects.toMatchObject({ name: 'NoSuchKey' })
    }
    expect((await bucket.list()).map(([key]) => key).filter((key) => key === 'pipe' || key === 'device')).toEqual([])
  })

  test('names that are not UTF-8 are left out of listings, and the rest is listed', async () => {
    await bucket.shell('mkdir names && touch names/before && touch "$(printf \'names/bad-\\377\')" && touch names/zzz')
    expect((await bucket.list('names/')).map(([key]) => key)).toEqual(['names/', 'names/before', 'names/zzz'])
  })
})
