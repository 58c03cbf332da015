import { Readable } from 'node:stream'
import {
  CopyObjectCommand,
  CreateBucketCommand,
  CreateMultipartUploadCommand,
  DeleteBucketCommand,
  DeleteObjectCommand,
  DeleteObjectsCommand,
  GetObjectCommand,
  GetObjectTaggingCommand,
  HeadObjectCommand,
  ListBucketsCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  PutObjectTaggingCommand,
  paginateListObjectsV2,
  S3Client,
} from '@aws-sdk/client-s3'
import { Upload } from '@aws-sdk/lib-storage'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { data } from './setup/files.ts'
import { type Gateway, startClientGateway } from './setup/gateway.ts'
import { otherUser, user } from './setup/users.ts'

describe('the AWS SDK for JavaScript', () => {
  let gateway: Gateway
  let s3: S3Client

  const client = (as: string): S3Client =>
    new S3Client({
      endpoint: gateway.endpoint,
      region: 'us-east-1',
      forcePathStyle: true,
      maxAttempts: 1,
      credentials: { accessKeyId: as, secretAccessKey: as && 'unused' },
    })

  beforeAll(async () => {
    gateway = await startClientGateway()
    s3 = client(user)
  })
  afterAll(() => gateway?.stop())

  async function read(Bucket: string, Key: string, more: { Range?: string } = {}): Promise<Buffer> {
    const { Body } = await s3.send(new GetObjectCommand({ Bucket, Key, ...more }))
    return Buffer.from((await Body?.transformToByteArray()) ?? [])
  }

  test('writes, reads, lists, copies and deletes odd keys', async () => {
    const Bucket = 'js-basic'
    await s3.send(new CreateBucketCommand({ Bucket }))
    const keys = [
      'plain',
      'with space',
      'plus+',
      '100%',
      'a=b&c',
      '?#',
      'quote\'"<>',
      'ünï/日本',
      'emoji 😀',
      '～',
      '!*()~@$,;:',
    ]
    for (const [index, Key] of keys.entries()) {
      await s3.send(new PutObjectCommand({ Bucket, Key, Body: data(1000, index) }))
      expect((await read(Bucket, Key)).equals(data(1000, index)), Key).toBe(true)
      const CopySource = `${Bucket}/${encodeURIComponent(Key)}`
      await s3.send(new CopyObjectCommand({ Bucket, Key: `copy/${Key}`, CopySource }))
      expect((await read(Bucket, `copy/${Key}`)).equals(data(1000, index)), Key).toBe(true)
    }
    const { Contents = [] } = await s3.send(new ListObjectsV2Command({ Bucket, EncodingType: 'url' }))
    expect(Contents.length).toBe(25)
    const { Contents: plain = [] } = await s3.send(new ListObjectsV2Command({ Bucket }))
    const listed = plain.flatMap(({ Key = '' }) => (Key.endsWith('/') ? [] : [Key]))
    const inByteOrder = [...keys, ...keys.map((key) => `copy/${key}`)].sort((a, b) =>
      Buffer.from(a).compare(Buffer.from(b)),
    )
    expect(listed).toEqual(inByteOrder)
    const Objects = listed.map((Key) => ({ Key }))
    const { Deleted, Errors } = await s3.send(new DeleteObjectsCommand({ Bucket, Delete: { Objects } }))
    expect([Deleted?.map(({ Key }) => Key), Errors]).toEqual([inByteOrder, undefined])
    const { Contents: folders = [] } = await s3.send(new ListObjectsV2Command({ Bucket }))
    for (const { Key } of folders.reverse()) await s3.send(new DeleteObjectCommand({ Bucket, Key }))
    await s3.send(new DeleteBucketCommand({ Bucket }))
    await expect(s3.send(new ListObjectsV2Command({ Bucket }))).rejects.toMatchObject({ name: 'NoSuchBucket' })
  })

  test('streams a body of known length, framed with a trailing checksum', async () => {
    const Bucket = 'js-stream'
    await s3.send(new CreateBucketCommand({ Bucket }))
    const bytes = data(3 * 2 ** 20)
    const chunks = Array.from({ length: 48 }, (_, index) => bytes.subarray(index * 65_536, (index + 1) * 65_536))
    const put = { Bucket, Key: 'o', Body: Readable.from(chunks), ContentLength: bytes.length }
    const { ChecksumCRC32 } = await s3.send(new PutObjectCommand(put))
    expect((await read(Bucket, 'o')).equals(bytes)).toBe(true)
    const head = await s3.send(new HeadObjectCommand({ Bucket, Key: 'o', ChecksumMode: 'ENABLED' }))
    expect(head).toMatchObject({ ContentLength: bytes.length, ChecksumCRC32 })
    expect(head.ContentEncoding).toBeUndefined()
  })

  test('uploads a stream of unknown length in parts', async () => {
    const Bucket = 'js-parts'
    await s3.send(new CreateBucketCommand({ Bucket }))
    const bytes = data(12 * 2 ** 20)
    const chunks = Array.from({ length: 12 }, (_, index) => bytes.subarray(index * 2 ** 20, (index + 1) * 2 ** 20))
    const params = { Bucket, Key: 'big one', Body: Readable.from(chunks), Metadata: { kept: 'yes' } }
    const { ETag } = await new Upload({ client: s3, params, partSize: 5 * 2 ** 20, queueSize: 3 }).done()
    expect(ETag).toMatch(/^"[0-9a-f]{32}-3"$/)
    expect((await read(Bucket, 'big one')).equals(bytes)).toBe(true)
    expect(await s3.send(new HeadObjectCommand({ Bucket, Key: 'big one' }))).toMatchObject({
      Metadata: { kept: 'yes' },
    })
    expect(
      (await read(Bucket, 'big one', { Range: 'bytes=5242870-5242890' })).equals(bytes.subarray(5242870, 5242891)),
    ).toBe(true)
  })

  test('sees an open upload as a folder with the key and the upload id in its name', async () => {
    const Bucket = 'js-open'
    await s3.send(new CreateBucketCommand({ Bucket }))
    const { UploadId } = await s3.send(new CreateMultipartUploadCommand({ Bucket, Key: 'dir/o' }))
    const { Contents = [] } = await s3.send(new ListObjectsV2Command({ Bucket }))
    expect(Contents.map(({ Key, Size }) => [Key, Size])).toEqual([
      ['dir/', 0],
      [`dir/o_${UploadId}/`, 0],
    ])
  })

  test('pages through more than a thousand keys', async () => {
    const Bucket = 'js-list'
    await s3.send(new CreateBucketCommand({ Bucket }))
    const keys = Array.from({ length: 1050 }, (_, index) => String(index).padStart(5, '0'))
    for (let at = 0; at < keys.length; at += 50)
      await Promise.all(keys.slice(at, at + 50).map((Key) => s3.send(new PutObjectCommand({ Bucket, Key, Body: Key }))))
    const pages = await Array.fromAsync(paginateListObjectsV2({ client: s3 }, { Bucket }))
    expect(pages.map(({ KeyCount }) => KeyCount)).toEqual([1000, 50])
    expect(pages.flatMap(({ Contents = [] }) => Contents.map(({ Key }) => Key))).toEqual(keys)
  })

  test('tags and reads and writes on conditions', async () => {
    const place = { Bucket: 'js-details', Key: 'o' }
    await s3.send(new CreateBucketCommand({ Bucket: place.Bucket }))
    const { ETag } = await s3.send(new PutObjectCommand({ ...place, Body: 'one', IfNoneMatch: '*', Tagging: 'a=b' }))
    const again = s3.send(new PutObjectCommand({ ...place, Body: 'two', IfNoneMatch: '*' }))
    await expect(again).rejects.toMatchObject({ name: 'PreconditionFailed' })
    const same = s3.send(new GetObjectCommand({ ...place, IfNoneMatch: ETag }))
    await expect(same).rejects.toMatchObject({ $metadata: { httpStatusCode: 304 } })
    expect(await s3.send(new GetObjectTaggingCommand(place))).toMatchObject({ TagSet: [{ Key: 'a', Value: 'b' }] })
    const TagSet = [{ Key: 'c', Value: 'd e' }]
    await s3.send(new PutObjectTaggingCommand({ ...place, Tagging: { TagSet } }))
    expect(await s3.send(new GetObjectTaggingCommand(place))).toMatchObject({ TagSet })
    expect((await read(place.Bucket, place.Key)).toString()).toBe('one')
  })

  test('acts as the user that the access key names', async () => {
    const Bucket = 'js-users'
    await s3.send(new CreateBucketCommand({ Bucket }))
    await s3.send(new PutObjectCommand({ Bucket, Key: 'o', Body: 'hers' }))
    const other = client(otherUser)
    const theft = other.send(new GetObjectCommand({ Bucket, Key: 'o' }))
    await expect(theft).rejects.toMatchObject({ name: 'AccessDenied', $metadata: { httpStatusCode: 403 } })
    expect((await other.send(new ListBucketsCommand({}))).Buckets ?? []).toEqual([])
    expect((await s3.send(new ListBucketsCommand({}))).Buckets?.map(({ Name }) => Name)).toContain(Bucket)
  })

  test('may leave the access key and the secret empty, which names nobody', async () => {
    const nobody = client('')
    await nobody.send(new CreateBucketCommand({ Bucket: 'js-nobody' }))
    await nobody.send(new PutObjectCommand({ Bucket: 'js-nobody', Key: 'o', Body: 'x' }))
    expect((await nobody.send(new ListBucketsCommand({}))).Buckets ?? []).toEqual([])
  })
})
