import { open, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import {
  CreateBucketCommand,
  GetObjectCommand,
  GetObjectTaggingCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { run } from './setup/command.ts'
import { needCommand } from './setup/debian.ts'
import { data } from './setup/files.ts'
import { type Gateway, startClientGateway } from './setup/gateway.ts'
import { otherUser, user } from './setup/users.ts'

describe('files and objects are the same thing', () => {
  const Bucket = 'shared'
  let gateway: Gateway
  let bucket: string
  let s3: S3Client

  beforeAll(async () => {
    gateway = await startClientGateway()
    s3 = client(user)
    await s3.send(new CreateBucketCommand({ Bucket }))
    bucket = join(gateway.root, Bucket)
  })
  afterAll(() => gateway?.stop())

  const client = (as: string): S3Client =>
    new S3Client({
      endpoint: gateway.endpoint,
      region: 'us-east-1',
      forcePathStyle: true,
      maxAttempts: 1,
      credentials: { accessKeyId: as, secretAccessKey: 'unused' },
    })

  /** Runs a line of shell in the bucket's directory and gives what it wrote. */
  async function shell(line: string): Promise<string> {
    return (await run('sh', ['-euc', line], { cwd: bucket })).stdout.toString()
  }

  async function read(Key: string): Promise<string> {
    const { Body } = await s3.send(new GetObjectCommand({ Bucket, Key }))
    return (await Body?.transformToString('latin1')) ?? ''
  }

  const head = (Key: string) => s3.send(new HeadObjectCommand({ Bucket, Key }))
  const put = (Key: string, Body: string, more: object = {}) =>
    s3.send(new PutObjectCommand({ Bucket, Key, Body, ...more }))

  async function keys(Prefix: string): Promise<string[]> {
    const { Contents = [] } = await s3.send(new ListObjectsV2Command({ Bucket, Prefix }))
    return Contents.map(({ Key = '' }) => Key)
  }

  const notFound = { name: 'NotFound', $metadata: { httpStatusCode: 404 } }

  test('a file that cp writes is an object with its bytes, its size, its time and an ETag', async () => {
    const bytes = data(200_000)
    await run('sh', ['-euc', 'cat > from-cp.src && cp from-cp.src from-cp'], { cwd: bucket, input: bytes })
    expect(await read('from-cp')).toBe(bytes.toString('latin1'))
    const { ContentLength, LastModified, ETag, ContentType } = await head('from-cp')
    expect(ContentLength).toBe(200_000)
    expect(ContentType).toBe('application/octet-stream')
    expect(LastModified?.getTime()).toBe(Math.floor((await stat(join(bucket, 'from-cp'))).mtimeMs / 1000) * 1000)
    // Not an MD5, and nobody may take it for one.
    expect(ETag).toMatch(/^".*-.*"$/)
    expect((await head('from-cp')).ETag).toBe(ETag)
    expect(await keys('from-cp')).toEqual(['from-cp', 'from-cp.src'])
  })

  test('an object is a file that cat reads and ls shows, and nothing else lies beside it', async () => {
    await put('dir/object', 'written through S3\n')
    expect(await shell('cat dir/object')).toBe('written through S3\n')
    expect(await shell('ls -A dir')).toBe('object\n')
  })

  test('what echo appends is read through S3, under a new ETag and without the old metadata', async () => {
    const { ETag } = await put('log', 'one\n', { ContentType: 'text/plain', Metadata: { a: 'b' } })
    await shell('echo two >> log')
    expect(await read('log')).toBe('one\ntwo\n')
    const changed = await head('log')
    expect(changed.ETag).not.toBe(ETag)
    expect(changed).toMatchObject({ ContentLength: 8, ContentType: 'application/octet-stream', Metadata: {} })
    const stale = s3.send(new GetObjectCommand({ Bucket, Key: 'log', IfMatch: ETag }))
    await expect(stale).rejects.toMatchObject({ name: 'PreconditionFailed' })
  })

  test('a change of the same length within the same moment is noticed', async () => {
    for (let turn = 0; turn < 20; turn++) {
      const { ETag } = await put('flip', 'AAAA')
      await shell('printf BBBB > flip')
      expect(await read('flip')).toBe('BBBB')
      expect((await head('flip')).ETag).not.toBe(ETag)
    }
  })

  test('mv keeps the bytes, the ETag, the metadata and the tags of an object', async () => {
    const { ETag } = await put('old-name', 'moved', {
      ContentType: 'a/b',
      Metadata: { kept: 'yes' },
      Tagging: 'tag=kept',
    })
    await shell('mkdir -p other && mv old-name other/new-name')
    expect(await read('other/new-name')).toBe('moved')
    expect(await head('other/new-name')).toMatchObject({ ETag, ContentType: 'a/b', Metadata: { kept: 'yes' } })
    const { TagSet } = await s3.send(new GetObjectTaggingCommand({ Bucket, Key: 'other/new-name' }))
    expect(TagSet).toEqual([{ Key: 'tag', Value: 'kept' }])
    await expect(head('old-name')).rejects.toMatchObject(notFound)
  })

  test('mv of one object over another replaces it with its metadata', async () => {
    await put('first', '1', { Metadata: { is: 'first' } })
    await put('second', '2', { Metadata: { is: 'second' } })
    await shell('mv first second')
    expect(await read('second')).toBe('1')
    expect(await head('second')).toMatchObject({ Metadata: { is: 'first' } })
  })

  test('directories that mkdir makes are listed as empty entries', async () => {
    await shell('mkdir -p made/by/hand && touch made/file')
    const { Contents = [] } = await s3.send(new ListObjectsV2Command({ Bucket, Prefix: 'made' }))
    expect(Contents.map(({ Key, Size }) => [Key, Size])).toEqual([
      ['made/', 0],
      ['made/by/', 0],
      ['made/by/hand/', 0],
      ['made/file', 0],
    ])
    const { CommonPrefixes } = await s3.send(new ListObjectsV2Command({ Bucket, Prefix: 'made/', Delimiter: '/' }))
    expect(CommonPrefixes?.map(({ Prefix }) => Prefix)).toEqual(['made/by/'])
  })

  test('rm makes 404, and the key is gone from the listing at once', async () => {
    await put('short-lived', 'x')
    expect(await keys('short')).toEqual(['short-lived'])
    await shell('rm short-lived')
    await expect(head('short-lived')).rejects.toMatchObject(notFound)
    expect(await keys('short')).toEqual([])
  })

  test('a directory made at the root is a bucket', async () => {
    await shell('mkdir -m 777 ../by-hand && echo hello > ../by-hand/file')
    const { Body } = await s3.send(new GetObjectCommand({ Bucket: 'by-hand', Key: 'file' }))
    expect(await Body?.transformToString()).toBe('hello\n')
  })

  test('a reader that has the file open keeps the old bytes while the object is replaced', async () => {
    await put('replaced', 'old')
    await using file = await open(join(bucket, 'replaced'))
    await put('replaced', 'new')
    expect(await file.readFile('utf8')).toBe('old')
    expect(await shell('cat replaced')).toBe('new')
  })

  test('a set-group-id directory and a default ACL are inherited by objects, and let another user in', async () => {
    await needCommand('setfacl', '--version', ['acl'])
    const group = (await stat(bucket)).gid
    await put('project/first', 'x')
    await shell('chgrp 12345 project && chmod 2775 project && setfacl -d -m g:23456:r project')
    await put('project/second', 'y')
    const { gid } = await stat(join(bucket, 'project/second'))
    expect([gid, group]).toEqual([12345, group])
    expect(await shell('getfacl -n project/second')).toMatch(/^group:23456:r--/m)
  })

  test('files belong to the acting user, and another user is let in by their mode', async () => {
    await put('owned', 'mine')
    const { uid, mode } = await stat(join(bucket, 'owned'))
    expect(uid).toBe((await stat(bucket)).uid)
    expect(uid).not.toBe(process.getuid?.())
    expect(mode & 0o777).toBe(0o644)
    const other = client(otherUser)
    const get = () => other.send(new GetObjectCommand({ Bucket, Key: 'owned' }))
    await expect(get()).rejects.toMatchObject({ name: 'AccessDenied' })
    await shell('chmod o+x .')
    const { Body } = await get()
    expect(await Body?.transformToString()).toBe('mine')
    await shell('chmod o-r owned')
    await expect(get()).rejects.toMatchObject({ name: 'AccessDenied' })
    expect(await readFile(join(bucket, 'owned'), 'utf8')).toBe('mine')
  })
})
