import { describe, expect, it } from 'vitest'
import {
  completeMultipartUploadResult,
  copyObjectResult,
  copyPartResult,
  deleteResult,
  errorDocument,
  initiateMultipartUploadResult,
  listAllMyBucketsResult,
  locationConstraint,
  taggingDocument,
  versioningConfiguration,
} from './documents.ts'
import { listMultipartUploadsResult, listObjectsResult, listObjectsV2Result, listPartsResult } from './listings.ts'
import { parseXml } from './parse.ts'

const day = Date.UTC(2026, 0, 2, 3, 4, 5, 6)
const etag = '9b2cf535f27731c974343645a3985328'
const awkward = 'a&b/<c> "d"\r\te\u0001+é😀.txt'

const listing = {
  bucket: 'photos',
  prefix: '',
  delimiter: '',
  maxKeys: 1000,
  encodingType: undefined,
  contents: [],
  commonPrefixes: [],
} as const
const contents = [
  { key: '2026/', size: 0, modifiedMs: day, etag: 'd41d8cd98f00b204e9800998ecf8427e' },
  { key: `2026/${awkward}`, size: 12, modifiedMs: day, etag: `${etag}-3` },
]
const checksums = { crc32: 'i9aeUg==', crc64nvme: 'AAAAAAAAAAA=' }
const user = { id: 'alice', displayName: 'alice' }

/** Whole documents, each with where its form comes from. */
const documents: Record<string, [source: string, text: string]> = {
  error: [
    'seen on S3; spec §7 leaves the shape open',
    errorDocument({
      code: 'NoSuchKey',
      message: 'The specified key does not exist.',
      resource: '/photos/a%20b',
      requestId: '4442587FB7D0A2F9',
      hostId: 'gateway-0',
      details: { Key: 'a b' },
    }),
  ],
  'list-buckets': [
    'spec §4; Owner seen on S3',
    listAllMyBucketsResult({
      owner: user,
      buckets: [
        { name: 'logs', createdMs: day },
        { name: 'photos', createdMs: day + 999 },
      ],
    }),
  ],
  'list-buckets-none': ['spec §4: without an authenticated user none', listAllMyBucketsResult({ buckets: [] })],
  'list-objects': [
    'spec §2, §4 listing rules',
    listObjectsResult({ ...listing, contents, marker: '', next: undefined }),
  ],
  'list-objects-truncated': [
    'spec §4 listing rule 2: NextMarker is /<bucket>/<key>',
    listObjectsResult({
      ...listing,
      bucket: 'a:b:c',
      prefix: '20',
      delimiter: '/',
      maxKeys: 2,
      commonPrefixes: ['2025/', '2026/'],
      marker: '2024/',
      next: '2026/',
    }),
  ],
  'list-objects-url': [
    'seen on S3: encoding-type=url encodes what stems from keys',
    listObjectsResult({
      ...listing,
      prefix: 'a b+',
      encodingType: 'url',
      contents,
      commonPrefixes: [awkward],
      marker: '/photos/a b',
      next: awkward,
    }),
  ],
  'list-objects-v2': [
    'spec §4; tokens seen on S3',
    listObjectsV2Result({
      ...listing,
      contents: contents.map((content) => ({ ...content, owner: user })),
      commonPrefixes: ['x/'],
      maxKeys: 3,
      continuationToken: 'dG9rZW4',
      nextContinuationToken: 'bW9yZQ',
      startAfter: '2025',
    }),
  ],
  'list-objects-v2-empty': [
    'spec §4',
    listObjectsV2Result({
      ...listing,
      continuationToken: undefined,
      nextContinuationToken: undefined,
      startAfter: undefined,
    }),
  ],
  tagging: [
    'spec §2',
    taggingDocument([
      { key: 'project', value: 'a<b' },
      { key: 'empty', value: '' },
    ]),
  ],
  'tagging-empty': ['spec §2: an empty set is <Tagging><TagSet/></Tagging>', taggingDocument([])],
  location: ['seen on S3: empty in the first region', locationConstraint()],
  versioning: ['seen on S3: empty when versioning was never on', versioningConfiguration()],
  'initiate-multipart-upload': [
    'spec §4',
    initiateMultipartUploadResult({ bucket: 'photos', key: awkward, uploadId: '0f1e2d3c' }),
  ],
  'list-parts': [
    'spec §4: Bucket with a leading slash; paging and checksums seen on S3',
    listPartsResult({
      bucket: 'photos',
      key: 'big',
      uploadId: '0f1e2d3c',
      initiator: user,
      partNumberMarker: 1,
      maxParts: 1,
      truncated: true,
      checksumAlgorithm: 'CRC32',
      checksumType: 'COMPOSITE',
      parts: [{ number: 2, size: 5242880, modifiedMs: day, etag, checksums: { crc32: 'i9aeUg==' } }],
    }),
  ],
  'list-parts-none': [
    'spec §4',
    listPartsResult({
      bucket: 'a:b',
      key: 'big file',
      uploadId: '0f1e2d3c',
      encodingType: 'url',
      partNumberMarker: 0,
      maxParts: 1000,
      truncated: false,
      parts: [],
    }),
  ],
  'list-multipart-uploads': [
    'spec §4; paging seen on S3',
    listMultipartUploadsResult({
      bucket: 'photos',
      prefix: 'b',
      delimiter: '/',
      encodingType: 'url',
      keyMarker: 'a b',
      uploadIdMarker: '00',
      maxUploads: 2,
      next: { key: 'b/c d', uploadId: '02' },
      uploads: [
        { key: 'b', uploadId: '01', initiatedMs: day, initiator: user },
        { key: 'bé', uploadId: '02', initiatedMs: day, checksumAlgorithm: 'CRC64NVME', checksumType: 'FULL_OBJECT' },
      ],
      commonPrefixes: ['b c/'],
    }),
  ],
  'list-multipart-uploads-none': [
    'spec §4',
    listMultipartUploadsResult({
      bucket: 'photos',
      prefix: '',
      delimiter: '',
      keyMarker: '',
      uploadIdMarker: '',
      maxUploads: 1000,
      next: undefined,
      uploads: [],
      commonPrefixes: [],
    }),
  ],
  'complete-multipart-upload': [
    'spec §4: Location is /<bucket>/<key>, Code and Message are empty',
    completeMultipartUploadResult({
      bucket: 'photos',
      key: 'a&b',
      etag: `${etag}-2`,
      checksums,
      checksumType: 'FULL_OBJECT',
    }),
  ],
  'copy-object': [
    'spec §4; checksums seen on S3',
    copyObjectResult({ etag, modifiedMs: day, checksums, checksumType: 'FULL_OBJECT' }),
  ],
  'copy-part': ['spec §4', copyPartResult({ etag, modifiedMs: day })],
  'delete-objects': [
    'spec §4, §7.2; DeleteMarker false is our choice (design §1)',
    deleteResult(
      [{ key: awkward }, { key: 'locked', code: 'AccessDenied', message: 'Access Denied' }, { key: '007' }],
      { quiet: false, emptyDeleteMarker: false },
    ),
  ],
  'delete-objects-empty-marker': [
    'spec §4: DeleteMarker, DeleteMarkerVersionId and VersionId are empty',
    deleteResult([{ key: 'a' }], { quiet: false, emptyDeleteMarker: true }),
  ],
  'delete-objects-quiet': [
    'seen on S3: quiet leaves out what went well',
    deleteResult([{ key: 'a' }, { key: 'b', code: 'AccessDenied', message: 'Access Denied' }], {
      quiet: true,
      emptyDeleteMarker: false,
    }),
  ],
}

describe('the documents of S3', () => {
  for (const [name, [source, text]] of Object.entries(documents)) {
    it(`${name} is as its golden file (${source})`, async () => {
      await expect(`${text.replaceAll('><', '>\n<')}\n`).toMatchFileSnapshot(`__golden__/${name}.xml`)
    })

    it(`${name} is well-formed`, () => {
      expect(parseXml(text).name).not.toBe('')
    })
  }

  it('escapes keys so that a parser gives them back, and writes U+FFFD for what XML cannot carry', () => {
    const text = listObjectsResult({ ...listing, contents, marker: '', next: undefined })
    const key = parseXml(text).children.filter(({ name }) => name === 'Contents')[1]?.children[0]
    expect(key).toMatchObject({ name: 'Key', text: `2026/${awkward.replace('\u0001', '\ufffd')}` })
  })

  it('gives every key back through encoding-type=url', () => {
    const text = listObjectsResult({ ...listing, encodingType: 'url', contents, marker: '', next: undefined })
    const key = parseXml(text).children.filter(({ name }) => name === 'Contents')[1]?.children[0]?.text ?? ''
    expect(decodeURIComponent(key)).toBe(`2026/${awkward}`)
    expect(decodeURIComponent(key.replaceAll('+', ' '))).toBe(`2026/${awkward}`)
  })
})
