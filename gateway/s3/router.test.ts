import { describe, expect, it } from 'vitest'
import type { Route, RoutedRequest } from './route.ts'
import { compileRouter, overlaps } from './router.ts'

const route = (name: string, method: Route['method'], target: Route['target'], query?: string[], header?: string) => ({
  name,
  route: { method, target, ...(query && { query }), ...(header && { header }) },
})

/** The table of spec §4, and the two that clients ask first (design §1). */
const table = [
  route('ListBuckets', 'GET', 'service'),
  route('CreateBucket', 'PUT', 'bucket'),
  route('HeadBucket', 'HEAD', 'bucket'),
  route('DeleteBucket', 'DELETE', 'bucket'),
  route('ListObjects', 'GET', 'bucket'),
  route('ListObjectsV2', 'GET', 'bucket', ['list-type=2']),
  route('ListMultipartUploads', 'GET', 'bucket', ['uploads']),
  route('DeleteObjects', 'POST', 'bucket', ['delete']),
  route('GetBucketTagging', 'GET', 'bucket', ['tagging']),
  route('PutBucketTagging', 'PUT', 'bucket', ['tagging']),
  route('DeleteBucketTagging', 'DELETE', 'bucket', ['tagging']),
  route('GetBucketLocation', 'GET', 'bucket', ['location']),
  route('GetBucketVersioning', 'GET', 'bucket', ['versioning']),
  route('PutObject', 'PUT', 'object'),
  route('GetObject', 'GET', 'object'),
  route('HeadObject', 'HEAD', 'object'),
  route('DeleteObject', 'DELETE', 'object'),
  route('CopyObject', 'PUT', 'object', [], 'x-amz-copy-source'),
  route('GetObjectTagging', 'GET', 'object', ['tagging']),
  route('PutObjectTagging', 'PUT', 'object', ['tagging']),
  route('DeleteObjectTagging', 'DELETE', 'object', ['tagging']),
  route('CreateMultipartUpload', 'POST', 'object', ['uploads']),
  route('UploadPart', 'PUT', 'object', ['uploadId', 'partNumber']),
  route('UploadPartCopy', 'PUT', 'object', ['uploadId', 'partNumber'], 'x-amz-copy-source'),
  route('ListParts', 'GET', 'object', ['uploadId']),
  route('CompleteMultipartUpload', 'POST', 'object', ['uploadId']),
  route('AbortMultipartUpload', 'DELETE', 'object', ['uploadId']),
]

function request(line: string, headers: Record<string, string> = {}): RoutedRequest {
  const [method = '', path = ''] = line.split(' ')
  const [resource = '', query = ''] = path.split('?')
  const target = resource === '/' ? 'service' : resource === '/b' ? 'bucket' : 'object'
  return { method, target, query: new Map(new URLSearchParams(query)), headers }
}

const find = compileRouter(table)
const copy = { 'x-amz-copy-source': 'a/b' }

describe('routing', () => {
  const found: [line: string, name: string, headers?: Record<string, string>][] = [
    ['GET /', 'ListBuckets'],
    ['PUT /b', 'CreateBucket'],
    ['HEAD /b', 'HeadBucket'],
    ['DELETE /b', 'DeleteBucket'],
    ['GET /b', 'ListObjects'],
    ['GET /b?prefix=x&delimiter=/', 'ListObjects'],
    ['GET /b?list-type=1', 'ListObjects'],
    ['GET /b?list-type=2&prefix=x', 'ListObjectsV2'],
    ['GET /b?uploads', 'ListMultipartUploads'],
    ['GET /b?uploads=&prefix=x', 'ListMultipartUploads'],
    ['POST /b?delete', 'DeleteObjects'],
    ['GET /b?tagging', 'GetBucketTagging'],
    ['PUT /b?tagging', 'PutBucketTagging'],
    ['DELETE /b?tagging', 'DeleteBucketTagging'],
    ['GET /b?location', 'GetBucketLocation'],
    ['GET /b?versioning', 'GetBucketVersioning'],
    ['PUT /b/k', 'PutObject'],
    ['GET /b/k', 'GetObject'],
    ['HEAD /b/k', 'HeadObject'],
    ['DELETE /b/k', 'DeleteObject'],
    ['PUT /b/k', 'CopyObject', copy],
    ['GET /b/k', 'GetObject', copy],
    ['GET /b/k?tagging', 'GetObjectTagging'],
    ['PUT /b/k?tagging', 'PutObjectTagging'],
    ['DELETE /b/k?tagging', 'DeleteObjectTagging'],
    ['POST /b/k?uploads', 'CreateMultipartUpload'],
    ['PUT /b/k?uploadId=1&partNumber=1', 'UploadPart'],
    ['PUT /b/k?partNumber=1&uploadId=1', 'UploadPart'],
    ['PUT /b/k?uploadId=1&partNumber=1', 'UploadPartCopy', copy],
    ['GET /b/k?uploadId=1', 'ListParts'],
    ['GET /b/k?uploadId=1&max-parts=2', 'ListParts'],
    ['POST /b/k?uploadId=1', 'CompleteMultipartUpload'],
    ['DELETE /b/k?uploadId=1', 'AbortMultipartUpload'],
    ['GET /b/k?partNumber=1', 'GetObject'],
    ['HEAD /b/k?partNumber=1', 'HeadObject'],
    ['PUT /b/k?x-id=PutObject', 'PutObject'],
    ['GET /b/k?response-content-type=a/b&unknown&X-Amz-Credential=x', 'GetObject'],
    ['GET /b/k?versionId=null', 'GetObject'],
    ['GET /b/k?versionId=', 'GetObject'],
    ['GET /?x-id=ListBuckets', 'ListBuckets'],
  ]
  for (const [line, name, headers] of found) {
    it(`${line}${headers ? ' with a copy source' : ''} is ${name}`, () => {
      expect(find(request(line, headers)).name).toBe(name)
    })

    it(`${line}${headers ? ' with a copy source' : ''} is ${name}, whatever the order of the table`, () => {
      expect(compileRouter([...table].reverse())(request(line, headers)).name).toBe(name)
    })
  }

  const refused: [line: string, code: string, allow?: string][] = [
    // Sub-resources that S3 knows and we do not (FACTS §13; spec §1.5).
    ...[
      'acl',
      'policy',
      'lifecycle',
      'cors',
      'notification',
      'versions',
      'website',
      'encryption',
      'replication',
      'analytics',
      'session',
      'object-lock',
      'policyStatus',
      'intelligent-tiering',
    ].flatMap((name): [string, string][] => [
      [`GET /b?${name}`, 'NotImplemented'],
      [`PUT /b?${name}`, 'NotImplemented'],
      [`DELETE /b?${name}&id=1`, 'NotImplemented'],
    ]),
    ...['acl', 'retention', 'legal-hold', 'torrent', 'attributes'].flatMap((name): [string, string][] => [
      [`GET /b/k?${name}`, 'NotImplemented'],
      [`PUT /b/k?${name}`, 'NotImplemented'],
      [`DELETE /b/k?${name}`, 'NotImplemented'],
    ]),
    ['POST /b/k?restore', 'NotImplemented'],
    ['POST /b/k?select&select-type=2', 'NotImplemented'],
    ['PUT /b/k?renameObject', 'NotImplemented'],
    ['PUT /b?versioning', 'NotImplemented'],
    ['GET /b?list-type=2&versions', 'NotImplemented'],
    ['PUT /b/k?delete', 'NotImplemented'],
    ['PUT /b/k?location', 'NotImplemented'],
    // Ours with another method.
    ['GET /b?delete', 'MethodNotAllowed', 'POST'],
    ['PUT /b?uploads', 'MethodNotAllowed', 'GET'],
    ['DELETE /b?versioning', 'MethodNotAllowed', 'GET'],
    ['PUT /b?location', 'MethodNotAllowed', 'GET'],
    ['POST /b?tagging', 'MethodNotAllowed', 'DELETE, GET, PUT'],
    ['HEAD /b?tagging', 'MethodNotAllowed', 'DELETE, GET, PUT'],
    ['PUT /b/k?uploads', 'MethodNotAllowed', 'POST'],
    ['DELETE /b/k?uploads', 'MethodNotAllowed', 'POST'],
    ['HEAD /b/k?uploadId=1', 'MethodNotAllowed', 'DELETE, GET, POST, PUT'],
    // Methods that a resource does not have.
    ['PUT /', 'MethodNotAllowed', 'GET'],
    ['HEAD /', 'MethodNotAllowed', 'GET'],
    ['DELETE /', 'MethodNotAllowed', 'GET'],
    ['POST /b', 'MethodNotAllowed', 'DELETE, GET, HEAD, PUT'],
    ['POST /b/k', 'MethodNotAllowed', 'DELETE, GET, HEAD, PUT'],
    ['PATCH /b/k', 'MethodNotAllowed', 'DELETE, GET, HEAD, PUT'],
    ['BREW /b/k', 'MethodNotAllowed', 'DELETE, GET, HEAD, PUT'],
    // Halves and doubles, which must not fall through to a PUT or DELETE of the object.
    ['PUT /b/k?uploadId=1', 'InvalidArgument'],
    ['PUT /b/k?partNumber=1', 'InvalidArgument'],
    ['PUT /b/k?tagging&uploadId=1', 'InvalidArgument'],
    ['DELETE /b/k?tagging&uploadId=1', 'InvalidArgument'],
    ['GET /b?uploads&tagging', 'InvalidArgument'],
    // Versions, which do not exist (spec §9.2).
    ['GET /b/k?versionId=3', 'InvalidArgument'],
    ['DELETE /b/k?versionId=3', 'InvalidArgument'],
    ['GET /b/k?tagging&versionId=3', 'InvalidArgument'],
  ]
  for (const [line, code, allow] of refused) {
    it(`${line} is refused with ${code}`, () => {
      const expected = { name: 'S3Error', code, ...(allow !== undefined && { headers: { Allow: allow } }) }
      expect(() => find(request(line))).toThrow(expect.objectContaining(expected))
    })
  }

  it('tells a browser’s form from a mistake (spec §1.5: POST object is unsupported)', () => {
    const form = { 'content-type': 'Multipart/Form-Data; boundary=x' }
    expect(() => find(request('POST /b', form))).toThrow(
      expect.objectContaining({ code: 'NotImplemented', status: 501 }),
    )
  })

  it('answers 501 for what is not implemented and 405 for what is not allowed', () => {
    expect(() => find(request('GET /b?acl'))).toThrow(expect.objectContaining({ status: 501 }))
    expect(() => find(request('POST /b'))).toThrow(expect.objectContaining({ status: 405 }))
  })
})

describe('overlapping routes', () => {
  it('are none in the table of the specification', () => {
    expect(overlaps(table)).toEqual([])
  })

  it('are found when two equally demanding routes can hold for one request', () => {
    expect(overlaps([route('A', 'GET', 'bucket'), route('B', 'GET', 'bucket')])).toEqual([['A', 'B']])
    expect(overlaps([route('A', 'GET', 'bucket', ['x']), route('B', 'GET', 'bucket', ['y'])])).toEqual([['A', 'B']])
    expect(overlaps([route('A', 'PUT', 'object', ['x']), route('B', 'PUT', 'object', [], 'h')])).toEqual([['A', 'B']])
    expect(overlaps([route('A', 'GET', 'bucket', ['x=1']), route('B', 'GET', 'bucket', ['x'])])).toEqual([['A', 'B']])
  })

  it('are none when method, target, a value or a sub-resource tells them apart', () => {
    expect(overlaps([route('A', 'GET', 'bucket'), route('B', 'PUT', 'bucket'), route('C', 'GET', 'object')])).toEqual(
      [],
    )
    expect(overlaps([route('A', 'GET', 'bucket', ['x=1']), route('B', 'GET', 'bucket', ['x=2'])])).toEqual([])
    expect(overlaps([route('A', 'GET', 'bucket', ['uploads']), route('B', 'GET', 'bucket', ['tagging'])])).toEqual([])
  })
})
