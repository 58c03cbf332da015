import { Readable } from 'node:stream'
import * as sdk from '@aws-sdk/client-s3'
import { describe, expect, it } from 'vitest'
import { parseTarget } from './address.ts'
import { actingUserName } from './authorization.ts'
import { createDigest } from './checksum.ts'
import { readCompletion } from './completion.ts'
import { copySource } from './copy-source.ts'
import { readDelete } from './delete-objects.ts'
import { incomingContent } from './incoming-content.ts'
import { objectHeaders, recordFromHeaders } from './object-headers.ts'
import { readTagging, taggingHeader } from './tagging.ts'
import * as documents from './xml/documents.ts'
import * as listings from './xml/listings.ts'

/** A request as the SDK would put it on the wire, and an answer as it would read it: no network in between. */
interface Sent {
  readonly method: string
  readonly url: string
  readonly headers: Record<string, string>
  readonly body: Buffer
}

interface SdkRequest {
  readonly method: string
  readonly path: string
  readonly query: Record<string, string | string[] | null>
  readonly headers: Record<string, string>
  readonly body: unknown
}

const base = '/api/v1/s3'

function client(
  answer: string,
  headers: Record<string, string> = {},
  status = 200,
): { s3: sdk.S3Client; sent: Sent[] } {
  const sent: Sent[] = []
  const requestHandler = {
    async handle(request: SdkRequest) {
      sent.push({
        method: request.method,
        url: `${request.path}?${queryOf(request)}`,
        headers: Object.fromEntries(
          Object.entries(request.headers).map(([name, value]) => [name.toLowerCase(), value]),
        ),
        body: await bytesOf(request.body),
      })
      return { response: { statusCode: status, headers, body: Readable.from([Buffer.from(answer)]) } }
    },
  }
  const s3 = new sdk.S3Client({
    endpoint: `http://127.0.0.1:1${base}`,
    region: 'us-east-1',
    forcePathStyle: true,
    credentials: { accessKeyId: 'alice', secretAccessKey: 'any' },
    requestHandler: requestHandler as never,
    maxAttempts: 1,
  })
  return { s3, sent }
}

function queryOf({ query }: SdkRequest): string {
  return Object.entries(query)
    .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(String(value ?? ''))}`)
    .join('&')
}

async function bytesOf(body: unknown): Promise<Buffer> {
  if (body === undefined) return Buffer.alloc(0)
  if (typeof body === 'string' || body instanceof Uint8Array) return Buffer.from(body)
  const chunks: Buffer[] = []
  for await (const chunk of body as AsyncIterable<Buffer | string>) chunks.push(Buffer.from(chunk))
  return Buffer.concat(chunks)
}

function only(sent: readonly Sent[]): Sent {
  const [first] = sent
  if (first === undefined || sent.length !== 1) throw new Error(`${sent.length} requests were sent`)
  return first
}

/** What an upload stores of it. */
async function stored({ headers, body }: Sent): Promise<string> {
  const content = incomingContent({
    id: '1',
    method: 'PUT',
    resource: '/',
    bucket: 'b',
    key: 'k',
    query: new Map(),
    headers,
    body: {
      length: headers['content-length'] === undefined ? undefined : Number(headers['content-length']),
      async *stream() {
        for (let at = 0; at < body.length; at += 1000) yield body.subarray(at, at + 1000)
      },
      read: async () => body,
    },
  })
  const computing = content.digests.map((digest) => [digest, createDigest(digest)] as const)
  const parts: Buffer[] = []
  for await (const part of content.bytes()) {
    parts.push(part)
    for (const [, digest] of computing) digest.update(part)
  }
  const payload = Buffer.concat(parts)
  content.verify(new Map(computing.map(([name, digest]) => [name, digest.digest()])), payload.length)
  return payload.toString('latin1')
}

const bucket = { Bucket: 'b' }
const object = { ...bucket, Key: 'a b/c+é.txt' }
const modifiedMs = Date.UTC(2026, 0, 2, 3, 4, 5)
const etag = '9b2cf535f27731c974343645a3985328'

describe('what the AWS SDK for JavaScript sends', () => {
  it('addresses bucket, key and user', async () => {
    const { s3, sent } = client('')
    await s3.send(new sdk.HeadObjectCommand({ ...object, PartNumber: 2 }))
    const request = only(sent)
    const address = parseTarget(request.url, base)
    expect(address).toMatchObject({ target: 'object', bucket: 'b', key: object.Key })
    expect(address?.query.get('partNumber')).toBe('2')
    expect(actingUserName({ headers: request.headers, query: new Map() })).toBe('alice')
  })

  it('can have an empty access key (spec §5.3)', async () => {
    const { s3, sent } = client('')
    s3.config.credentials = async () => ({ accessKeyId: '', secretAccessKey: '' })
    await s3.send(new sdk.HeadObjectCommand(object))
    expect(actingUserName({ headers: only(sent).headers, query: new Map() })).toBeUndefined()
  })

  const payload = 'hello world '.repeat(5000)
  for (const ChecksumAlgorithm of [undefined, 'CRC32', 'CRC32C', 'CRC64NVME', 'SHA1', 'SHA256'] as const) {
    it(`uploads a buffer with ${ChecksumAlgorithm ?? 'the default'} checksum`, async () => {
      const { s3, sent } = client('', { etag: '"x"' })
      await s3.send(new sdk.PutObjectCommand({ ...object, Body: payload, ChecksumAlgorithm }))
      expect(await stored(only(sent))).toBe(payload)
    })

    it(`uploads a stream with ${ChecksumAlgorithm ?? 'the default'} checksum`, async () => {
      const { s3, sent } = client('', { etag: '"x"' })
      const Body = Readable.from([Buffer.from(payload)])
      await s3.send(
        new sdk.PutObjectCommand({
          ...object,
          Body,
          ContentLength: payload.length,
          ChecksumAlgorithm,
          ContentEncoding: 'gzip',
        }),
      )
      const request = only(sent)
      expect(request.headers['content-encoding']).toContain('aws-chunked')
      expect(await stored(request)).toBe(payload)
      expect(recordFromHeaders(request.headers, 2048).contentEncoding).toBe('gzip')
    })
  }

  it('keeps metadata and tags in headers', async () => {
    const { s3, sent } = client('', { etag: '"x"' })
    await s3.send(
      new sdk.PutObjectCommand({ ...object, Body: 'x', Metadata: { Mtime: '1.5' }, Tagging: 'a=1&b=x%20y' }),
    )
    const { headers } = only(sent)
    expect(recordFromHeaders(headers, 2048).userMetadata).toEqual({ mtime: '1.5' })
    expect(taggingHeader(headers['x-amz-tagging'], true, 2048)).toEqual([
      { key: 'a', value: '1' },
      { key: 'b', value: 'x y' },
    ])
  })

  it('names a copy source', async () => {
    const { s3, sent } = client(documents.copyObjectResult({ etag, modifiedMs }))
    await s3.send(new sdk.CopyObjectCommand({ ...object, CopySource: encodeURIComponent('src/a b+c') }))
    expect(copySource(only(sent).headers)).toEqual({ bucket: 'src', key: 'a b+c' })
  })

  it('lists tags, parts and keys in bodies', async () => {
    const tags = client('')
    const TagSet = [{ Key: 'a&b', Value: ' <x> ' }]
    await tags.s3.send(new sdk.PutObjectTaggingCommand({ ...object, Tagging: { TagSet } }))
    expect(readTagging(only(tags.sent).body, true)).toEqual([{ key: 'a&b', value: ' <x> ' }])

    const completion = client(documents.completeMultipartUploadResult({ bucket: 'b', key: 'k', etag }))
    const Parts = [
      { PartNumber: 1, ETag: `"${etag}"`, ChecksumCRC32: 'AAAAAA==' },
      { PartNumber: 3, ETag: etag },
    ]
    await completion.s3.send(
      new sdk.CompleteMultipartUploadCommand({ ...object, UploadId: '1', MultipartUpload: { Parts } }),
    )
    expect(readCompletion(only(completion.sent).body).parts).toEqual([
      { number: 1, etag, checksums: { crc32: 'AAAAAA==' } },
      { number: 3, etag },
    ])

    const deletion = client(documents.deleteResult([], { quiet: true, emptyDeleteMarker: false }))
    const Objects = ['007', ' a ', 'a\rb', 'é&<'].map((Key) => ({ Key }))
    await deletion.s3.send(new sdk.DeleteObjectsCommand({ ...bucket, Delete: { Objects, Quiet: true } }))
    const read = readDelete(only(deletion.sent).body)
    expect(read.keys.map(({ key }) => key)).toEqual(Objects.map(({ Key }) => Key))
    expect(read.quiet).toBe(true)
  })
})

describe('what the AWS SDK for JavaScript reads', () => {
  const listing = { bucket: 'b', prefix: 'p', delimiter: '/', maxKeys: 2, commonPrefixes: ['x/'] }
  const contents = [{ key: ' a&b\r"1" ', size: 5, modifiedMs, etag }]
  const Contents = [
    { Key: ' a&b\r"1" ', Size: 5, ETag: `"${etag}"`, StorageClass: 'STANDARD', LastModified: new Date(modifiedMs) },
  ]

  it('is a listing', async () => {
    const v1 = listings.listObjectsResult({ ...listing, contents, encodingType: undefined, marker: '', next: 'x/' })
    expect(await client(v1).s3.send(new sdk.ListObjectsCommand(bucket))).toMatchObject({
      Name: 'b',
      Prefix: 'p',
      Delimiter: '/',
      MaxKeys: 2,
      IsTruncated: true,
      NextMarker: '/b/x/',
      Contents,
      CommonPrefixes: [{ Prefix: 'x/' }],
    })
    const v2 = listings.listObjectsV2Result({
      ...listing,
      contents,
      encodingType: undefined,
      continuationToken: undefined,
      nextContinuationToken: 'n',
      startAfter: 's',
    })
    expect(await client(v2).s3.send(new sdk.ListObjectsV2Command(bucket))).toMatchObject({
      KeyCount: 2,
      IsTruncated: true,
      NextContinuationToken: 'n',
      StartAfter: 's',
      Contents,
    })
  })

  it('is a list of buckets', async () => {
    const text = documents.listAllMyBucketsResult({ buckets: [{ name: 'b', createdMs: modifiedMs }] })
    const { Buckets } = await client(text).s3.send(new sdk.ListBucketsCommand({}))
    expect(Buckets).toEqual([{ Name: 'b', CreationDate: new Date(modifiedMs) }])
  })

  it('is the result of a deletion', async () => {
    const outcomes = [{ key: 'a' }, { key: 'b', code: 'AccessDenied', message: 'Access Denied' }]
    const text = documents.deleteResult(outcomes, { quiet: false, emptyDeleteMarker: false })
    const result = await client(text).s3.send(
      new sdk.DeleteObjectsCommand({ ...bucket, Delete: { Objects: [{ Key: 'a' }] } }),
    )
    expect(result.Deleted).toMatchObject([{ Key: 'a', DeleteMarker: false }])
    expect(result.Errors).toEqual([{ Key: 'b', Code: 'AccessDenied', Message: 'Access Denied' }])
  })

  it('are the documents of multipart uploads', async () => {
    const created = documents.initiateMultipartUploadResult({ bucket: 'b', key: 'k', uploadId: '1' })
    expect(await client(created).s3.send(new sdk.CreateMultipartUploadCommand(object))).toMatchObject({
      UploadId: '1',
      Key: 'k',
    })

    const parts = listings.listPartsResult({
      bucket: 'b',
      key: 'k',
      uploadId: '1',
      partNumberMarker: 0,
      maxParts: 1,
      truncated: true,
      parts: [{ number: 7, size: 5, modifiedMs, etag, checksums: { crc32: 'AAAAAA==' } }],
    })
    const listed = await client(parts).s3.send(new sdk.ListPartsCommand({ ...object, UploadId: '1' }))
    expect(listed).toMatchObject({
      Bucket: '/b',
      IsTruncated: true,
      NextPartNumberMarker: '7',
      StorageClass: 'STANDARD',
    })
    expect(listed.Parts).toMatchObject([{ PartNumber: 7, Size: 5, ETag: `"${etag}"`, ChecksumCRC32: 'AAAAAA==' }])

    const uploads = listings.listMultipartUploadsResult({
      bucket: 'b',
      prefix: '',
      delimiter: '',
      keyMarker: '',
      uploadIdMarker: '',
      maxUploads: 1,
      next: { key: 'k', uploadId: '1' },
      uploads: [{ key: 'k', uploadId: '1', initiatedMs: modifiedMs }],
      commonPrefixes: [],
    })
    expect(await client(uploads).s3.send(new sdk.ListMultipartUploadsCommand(bucket))).toMatchObject({
      IsTruncated: true,
      NextKeyMarker: 'k',
      NextUploadIdMarker: '1',
      Uploads: [{ Key: 'k', UploadId: '1', Initiated: new Date(modifiedMs) }],
    })

    const checksums = { crc64nvme: 'AAAAAAAAAAA=' }
    const completed = documents.completeMultipartUploadResult({
      bucket: 'b',
      key: 'k',
      etag,
      checksums,
      checksumType: 'FULL_OBJECT',
    })
    expect(
      await client(completed).s3.send(new sdk.CompleteMultipartUploadCommand({ ...object, UploadId: '1' })),
    ).toMatchObject({
      Location: '/b/k',
      ETag: `"${etag}"`,
      ChecksumCRC64NVME: 'AAAAAAAAAAA=',
      ChecksumType: 'FULL_OBJECT',
    })

    const copied = documents.copyPartResult({ etag, modifiedMs })
    const copy = new sdk.UploadPartCopyCommand({ ...object, UploadId: '1', PartNumber: 1, CopySource: 'b/k' })
    expect((await client(copied).s3.send(copy)).CopyPartResult).toMatchObject({ ETag: `"${etag}"` })
  })

  it('are tags, a location and a versioning state', async () => {
    const tagging = documents.taggingDocument([{ key: ' k ', value: '' }])
    const { TagSet } = await client(tagging).s3.send(new sdk.GetObjectTaggingCommand(object))
    expect(TagSet).toEqual([{ Key: ' k ', Value: '' }])
    const none = await client(documents.taggingDocument([])).s3.send(new sdk.GetBucketTaggingCommand(bucket))
    expect(none.TagSet).toEqual([])
    const location = await client(documents.locationConstraint()).s3.send(new sdk.GetBucketLocationCommand(bucket))
    expect(location.LocationConstraint ?? '').toBe('')
    const versioning = await client(documents.versioningConfiguration()).s3.send(
      new sdk.GetBucketVersioningCommand(bucket),
    )
    expect(versioning.Status).toBeUndefined()
  })

  it('are the headers of an object', async () => {
    const record = { etag, contentType: 'text/plain', userMetadata: { m: 'x' }, checksums: { crc32: 'AAAAAA==' } }
    const headers = objectHeaders({ record, size: 5, modifiedMs, tagCount: 2, checksumMode: true })
    const lower = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
    expect(await client('', lower).s3.send(new sdk.HeadObjectCommand(object))).toMatchObject({
      ETag: `"${etag}"`,
      ContentLength: 5,
      ContentType: 'text/plain',
      LastModified: new Date(modifiedMs),
      Metadata: { m: 'x' },
      TagCount: 2,
      ChecksumCRC32: 'AAAAAA==',
      AcceptRanges: 'bytes',
    })
  })

  it('are errors by their code', async () => {
    const text = documents.errorDocument({
      code: 'NoSuchKey',
      message: 'No & none',
      resource: '/b/k',
      requestId: '7',
      details: { Key: 'k' },
    })
    const failure = client(text, { 'x-amz-request-id': '7' }, 404).s3.send(new sdk.GetObjectCommand(object))
    await expect(failure).rejects.toMatchObject({ name: 'NoSuchKey', message: 'No & none', Key: 'k' })
    await expect(failure).rejects.toBeInstanceOf(sdk.NoSuchKey)
  })
})
