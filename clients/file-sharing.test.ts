import { open, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { GetObjectCommand, GetObjectTaggingCommand, ListObjectsV2Command } from '@aws-sdk/client-s3'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { needCommand } from './setup/debian.ts'
import { data } from './setup/files.ts'
import { notFound, type SharedBucket, startWithBucket } from './setup/shared-bucket.ts'
import { otherUser } from './setup/users.ts'

describe('files and objects are the same thing', () => {
  let bucket: SharedBucket

  beforeAll(async () => {
    bucket = await startWithBucket('shared')
  })
  afterAll(() => bucket?.gateway.stop())

  const statOf = (path: string) => stat(join(bucket.directory, path))

  test('a file that cp writes is an object with its bytes, its size, its time and an ETag', async () => {
    const bytes = data(200_000)
    await bucket.shell('cat > from-cp.src && cp from-cp.src from-cp', bytes)
    expect(await bucket.read('from-cp')).toBe(bytes.toString('latin1'))
    const { ContentLength, LastModified, ETag, ContentType } = await bucket.head('from-cp')
    expect(ContentLength).toBe(200_000)
    expect(ContentType).toBe('application/octet-stream')
    expect(LastModified?.getTime()).toBe(Math.floor((await statOf('from-cp')).mtimeMs / 1000) * 1000)
    // Not an MD5, and nobody may take it for one.
    expect(ETag).toMatch(/^".*-.*"$/)
    expect((await bucket.head('from-cp')).ETag).toBe(ETag)
    expect((await bucket.list('from-cp')).map(([key]) => key)).toEqual(['from-cp', 'from-cp.src'])
  })

  test('an object is a file that cat reads and ls shows, and nothing else lies beside it', async () => {
    await bucket.put('dir/object', 'written through S3\n')
    expect(await bucket.shell('cat dir/object')).toBe('written through S3\n')
    expect(await bucket.shell('ls -A dir')).toBe('object\n')
  })

  test('what echo appends is read through S3, under a new ETag and without the old metadata', async () => {
    const { ETag } = await bucket.put('log', 'one\n', { ContentType: 'text/plain', Metadata: { a: 'b' } })
    await bucket.shell('echo two >> log')
    expect(await bucket.read('log')).toBe('one\ntwo\n')
    const changed = await bucket.head('log')
    expect(changed.ETag).not.toBe(ETag)
    expect(changed).toMatchObject({ ContentLength: 8, ContentType: 'application/octet-stream', Metadata: {} })
    const stale = bucket.s3.send(new GetObjectCommand({ Bucket: bucket.name, Key: 'log', IfMatch: ETag }))
    await expect(stale).rejects.toMatchObject({ name: 'PreconditionFailed' })
  })

  test('a change of the same length within the same moment is noticed', async () => {
    for (let turn = 0; turn < 20; turn++) {
      const { ETag } = await bucket.put('flip', 'AAAA')
      await bucket.shell('printf BBBB > flip')
      expect(await bucket.read('flip')).toBe('BBBB')
      expect((await bucket.head('flip')).ETag).not.toBe(ETag)
    }
  })

  test('bytes that dd changes in the middle and what truncate adds are read by range', async () => {
    await bucket.put('middle', 'x'.repeat(100_000))
    await bucket.shell('printf HERE | dd of=middle bs=1 seek=50000 conv=notrunc status=none && truncate -s 3G middle')
    expect(await bucket.read('middle', 'bytes=49999-50004')).toBe('xHEREx')
    expect(await bucket.read('middle', 'bytes=-3')).toBe('\0\0\0')
    expect((await bucket.head('middle')).ContentLength).toBe(3 * 2 ** 30)
  })

  test('mv keeps the bytes, the ETag, the metadata and the tags of an object', async () => {
    const metadata = { ContentType: 'a/b', Metadata: { kept: 'yes' }, Tagging: 'tag=kept' }
    const { ETag } = await bucket.put('old-name', 'moved', metadata)
    await bucket.shell('mkdir -p other && mv old-name other/new-name')
    expect(await bucket.read('other/new-name')).toBe('moved')
    expect(await bucket.head('other/new-name')).toMatchObject({ ETag, ContentType: 'a/b', Metadata: { kept: 'yes' } })
    const tags = new GetObjectTaggingCommand({ Bucket: bucket.name, Key: 'other/new-name' })
    expect((await bucket.s3.send(tags)).TagSet).toEqual([{ Key: 'tag', Value: 'kept' }])
    await expect(bucket.head('old-name')).rejects.toMatchObject(notFound)
  })

  test('mv of a directory takes the objects with it', async () => {
    const { ETag } = await bucket.put('project-a/deep/object', 'x', { Metadata: { kept: 'yes' } })
    await bucket.list('project-a')
    await bucket.shell('mv project-a project-b')
    expect(await bucket.list('project-')).toEqual([
      ['project-b/', 0],
      ['project-b/deep/', 0],
      ['project-b/deep/object', 1],
    ])
    expect(await bucket.head('project-b/deep/object')).toMatchObject({ ETag, Metadata: { kept: 'yes' } })
    await expect(bucket.head('project-a/deep/object')).rejects.toMatchObject(notFound)
  })

  test('mv of one object over another replaces it with its metadata', async () => {
    await bucket.put('first', '1', { Metadata: { is: 'first' } })
    await bucket.put('second', '2', { Metadata: { is: 'second' } })
    await bucket.shell('mv first second')
    expect(await bucket.read('second')).toBe('1')
    expect(await bucket.head('second')).toMatchObject({ Metadata: { is: 'first' } })
  })

  test('directories that mkdir makes are listed as empty entries', async () => {
    await bucket.shell('mkdir -p made/by/hand && touch made/file')
    expect(await bucket.list('made')).toEqual([
      ['made/', 0],
      ['made/by/', 0],
      ['made/by/hand/', 0],
      ['made/file', 0],
    ])
    const level = new ListObjectsV2Command({ Bucket: bucket.name, Prefix: 'made/', Delimiter: '/' })
    expect((await bucket.s3.send(level)).CommonPrefixes).toEqual([{ Prefix: 'made/by/' }])
  })

  test('rm makes 404, and the key is gone from the listing at once', async () => {
    await bucket.put('short-lived', 'x')
    expect(await bucket.list('short')).toEqual([['short-lived', 1]])
    await bucket.shell('rm short-lived')
    await expect(bucket.head('short-lived')).rejects.toMatchObject(notFound)
    expect(await bucket.list('short')).toEqual([])
  })

  test('a listing is never behind what plain tools did before it', async () => {
    await bucket.shell('mkdir turns && for n in $(seq 100); do : > turns/$n; done')
    for (let turn = 0; turn < 15; turn++) {
      await bucket.shell(`rm turns/${turn + 1}; printf ${turn} > turns/new-${turn}`)
      const keys = (await bucket.list('turns/')).map(([key]) => key)
      expect(keys).toContain(`turns/new-${turn}`)
      expect(keys).not.toContain(`turns/${turn + 1}`)
      expect(keys.length).toBe(101)
    }
  })

  test('a directory made at the root is a bucket', async () => {
    await bucket.shell('mkdir -m 777 ../by-hand && echo hello > ../by-hand/file')
    const { Body } = await bucket.s3.send(new GetObjectCommand({ Bucket: 'by-hand', Key: 'file' }))
    expect(await Body?.transformToString()).toBe('hello\n')
  })

  test('a program that has the file open keeps the old bytes while the object is replaced', async () => {
    await bucket.put('replaced', 'old')
    await using file = await open(join(bucket.directory, 'replaced'))
    await bucket.put('replaced', 'new')
    expect(await file.readFile('utf8')).toBe('old')
    expect(await bucket.shell('cat replaced')).toBe('new')
  })

  test('a set-group-id directory and a default ACL are inherited by objects', async () => {
    await needCommand('setfacl', ['--version'], ['acl'])
    await bucket.put('project/first', 'x')
    await bucket.shell('chgrp 12345 project && chmod 2775 project && setfacl -d -m g:23456:r project')
    await bucket.put('project/second', 'y')
    expect((await statOf('project/second')).gid).toBe(12345)
    expect(await bucket.shell('getfacl -n project/second')).toMatch(/^group:23456:r--/m)
  })

  test('files belong to the acting user, and another user is let in by their mode', async () => {
    await bucket.put('owned', 'mine')
    const { uid, mode } = await statOf('owned')
    expect(uid).toBe((await stat(bucket.directory)).uid)
    expect(uid).not.toBe(process.getuid?.())
    expect(mode & 0o777).toBe(0o644)
    const other = bucket.client(otherUser)
    const get = () => other.send(new GetObjectCommand({ Bucket: bucket.name, Key: 'owned' }))
    await expect(get()).rejects.toMatchObject({ name: 'AccessDenied' })
    await bucket.shell('chmod o+x .')
    const { Body } = await get()
    expect(await Body?.transformToString()).toBe('mine')
    await bucket.shell('chmod o-r owned')
    await expect(get()).rejects.toMatchObject({ name: 'AccessDenied' })
    expect(await readFile(join(bucket.directory, 'owned'), 'utf8')).toBe('mine')
  })
})
