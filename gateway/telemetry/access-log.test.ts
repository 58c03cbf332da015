import { describe, expect, it } from 'vitest'
import { type AccessEntry, accessLogFormat } from './access-log.ts'

const entry: AccessEntry = {
  startedAt: new Date('2026-02-03T04:05:06.789Z'),
  requestId: '0123456789ABCDEF',
  hostId: 'aG9zdA==',
  remoteAddress: '10.1.2.3',
  remotePort: 51000,
  method: 'PUT',
  uri: '/api/v1/s3/photos/my%20cat.jpg',
  httpVersion: '1.1',
  headers: {
    host: 'localhost:39999',
    'user-agent': 'aws-cli/1.46 "quoted"',
    authorization: 'AWS4-HMAC-SHA256 Credential=alice/x, Signature=y',
  },
  query: new Map(),
  operation: 'PutObject',
  bucket: 'photos',
  key: 'my cat.jpg',
  user: 'alice',
  group: 'staff',
  authenticated: true,
  status: 200,
  errorCode: undefined,
  bytesReceived: 1234,
  bytesSent: 0,
  objectSize: 1234,
  aborted: false,
  totalMs: 12.3456,
  turnAroundMs: 10.4,
  tls: undefined,
}
const failed: AccessEntry = {
  ...entry,
  method: 'GET',
  operation: 'GetObject',
  key: 'a\n"b"\\',
  user: undefined,
  group: undefined,
  authenticated: false,
  headers: {},
  status: 403,
  errorCode: 'AccessDenied',
  bytesSent: 300,
  objectSize: undefined,
  tls: { version: 'TLSv1.3', cipher: 'TLS_AES_128_GCM_SHA256' },
}

/** Splits an S3 log line as its readers do: brackets and quotes hold together. */
function fields(line: string): string[] {
  return line.match(/\[[^\]]*\]|"[^"]*"|\S+/g) ?? []
}

describe('the access log', () => {
  it('as json is one object with everything in it', () => {
    const line = accessLogFormat('json')?.(entry) ?? ''
    expect(JSON.parse(line)).toEqual({
      level: 'info',
      time: '2026-02-03T04:05:06.789Z',
      msg: 'access',
      requestId: '0123456789ABCDEF',
      remote: '10.1.2.3',
      method: 'PUT',
      uri: '/api/v1/s3/photos/my%20cat.jpg',
      operation: 'PutObject',
      bucket: 'photos',
      key: 'my cat.jpg',
      user: 'alice',
      authenticated: true,
      status: 200,
      bytesIn: 1234,
      bytesOut: 0,
      objectSize: 1234,
      ms: 12.346,
      turnAroundMs: 10.4,
      userAgent: 'aws-cli/1.46 "quoted"',
    })
    const hostile = JSON.parse(accessLogFormat('json')?.(failed) ?? '')
    expect(hostile).toMatchObject({ key: 'a\n"b"\\', status: 403, error: 'AccessDenied' })
  })

  it('as aws has the 26 fields of S3 in their order', () => {
    const line = accessLogFormat('aws')?.(entry) ?? ''
    expect(fields(line)).toEqual([
      '-',
      'photos',
      '[03/Feb/2026:04:05:06 +0000]',
      '10.1.2.3',
      'alice',
      '0123456789ABCDEF',
      'REST.PUT.OBJECT',
      'my%20cat.jpg',
      '"PUT /api/v1/s3/photos/my%20cat.jpg HTTP/1.1"',
      '200',
      '-',
      '-',
      '1234',
      '12',
      '10',
      '"-"',
      '"aws-cli/1.46 \\x22quoted\\x22"',
      '-',
      'aG9zdA==',
      'SigV4',
      '-',
      'AuthHeader',
      'localhost:39999',
      '-',
      '-',
      '-',
    ])
  })

  it('as aws stays one line of 26 fields whatever the client wrote', () => {
    const line = accessLogFormat('aws')?.(failed) ?? ''
    expect(line).not.toContain('\n')
    expect(fields(line)).toHaveLength(26)
    expect(fields(line).slice(6, 12)).toEqual([
      'REST.GET.OBJECT',
      'a%0A%22b%22%5C',
      '"GET /api/v1/s3/photos/my%20cat.jpg HTTP/1.1"',
      '403',
      'AccessDenied',
      '300',
    ])
    expect(fields(line).slice(19, 24)).toEqual(['-', 'TLS_AES_128_GCM_SHA256', '-', '-', 'TLSv1.3'])
  })

  it.each([
    ['CopyObject', 'REST.COPY.OBJECT'],
    ['ListParts', 'REST.PUT.UPLOAD'],
    ['UploadPart', 'REST.PUT.PART'],
    ['DeleteObjects', 'REST.PUT.MULTI_OBJECT_DELETE'],
    [undefined, 'REST.PUT.OBJECT'],
  ])('as aws names %s %s', (operation, name) => {
    expect(fields(accessLogFormat('aws')?.({ ...entry, operation }) ?? '')[6]).toBe(name)
  })

  it('as alluxio is the audit line of the reference (seen on the reference)', () => {
    expect(accessLogFormat('alluxio')?.(entry)).toBe(
      'succeeded=true\tallowed=true\tugi=alice,staff\tip=10.1.2.3:51000\tcmd=PutObject\tbucket=photos\tobject=my cat.jpg\texecutionTimeUs=12346',
    )
    expect(accessLogFormat('alluxio')?.({ ...failed, operation: 'DeleteObject' })).toBe(
      'succeeded=false\tallowed=false\tugi=null,null\tip=10.1.2.3:51000\tcmd=deleteObject\tbucket=photos\tobject=a\\x0a"b"\\x5c\texecutionTimeUs=12346',
    )
  })

  it('can be off', () => {
    expect(accessLogFormat('off')).toBeUndefined()
  })
})
