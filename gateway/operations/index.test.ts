import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { overlaps } from '../s3/router.ts'
import { operations } from './index.ts'

describe('the table of operations', () => {
  test('has no two routes that are equally demanding and hold for one request', () => {
    expect(overlaps(operations)).toEqual([])
  })

  test('is that of the specification, row by row (spec §4)', () => {
    const rows = operations.map(({ name, route: { method, target, query = [], header = '' } }) =>
      [name, method, target, query.join('&'), header].filter((cell) => cell !== '').join(' '),
    )
    expect(rows).toEqual([
      'ListBuckets GET service',
      'CreateBucket PUT bucket',
      'HeadBucket HEAD bucket',
      'DeleteBucket DELETE bucket',
      'ListObjects GET bucket',
      'ListObjectsV2 GET bucket list-type=2',
      'ListMultipartUploads GET bucket uploads',
      'DeleteObjects POST bucket delete',
      'GetBucketTagging GET bucket tagging',
      'PutBucketTagging PUT bucket tagging',
      'DeleteBucketTagging DELETE bucket tagging',
      'PutObject PUT object',
      'GetObject GET object',
      'HeadObject HEAD object',
      'DeleteObject DELETE object',
      'CopyObject PUT object x-amz-copy-source',
      'GetObjectTagging GET object tagging',
      'PutObjectTagging PUT object tagging',
      'DeleteObjectTagging DELETE object tagging',
      'CreateMultipartUpload POST object uploads',
      'UploadPart PUT object uploadId&partNumber',
      'UploadPartCopy PUT object uploadId&partNumber x-amz-copy-source',
      'ListParts GET object uploadId',
      'CompleteMultipartUpload POST object uploadId',
      'AbortMultipartUpload DELETE object uploadId',
      // Beyond the specification (design §1).
      'GetBucketLocation GET bucket location',
      'GetBucketVersioning GET bucket versioning',
    ])
  })

  test('has every operation that a file of this folder declares', () => {
    const declared = readdirSync(import.meta.dirname)
      .filter((file) => file.endsWith('.ts') && !file.includes('.test.'))
      .flatMap(
        (file) => /^export const (\w+) = operation\(/m.exec(readFileSync(join(import.meta.dirname, file), 'utf8'))?.[1],
      )
      .filter((name) => name !== undefined)
    expect(declared.sort()).toEqual(operations.map(({ name }) => name).sort())
  })

  test('admits what moves bytes through the heavy pool (FACTS §14)', () => {
    const heavy = operations.filter(({ pool }) => pool === 'heavy').map(({ name }) => name)
    expect(heavy).toEqual(
      expect.arrayContaining(['GetObject', 'PutObject', 'CopyObject', 'UploadPartCopy', 'CompleteMultipartUpload']),
    )
  })

  test('knows which operations a read-only gateway refuses: all that are not GET or HEAD', () => {
    for (const { name, effect, route } of operations) {
      expect([name, effect]).toEqual([name, route.method === 'GET' || route.method === 'HEAD' ? 'read' : 'write'])
    }
  })
})
