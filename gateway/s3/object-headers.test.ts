import { describe, expect, it } from 'vitest'
import { checksumHeaders, objectHeaders, recordFromHeaders } from './object-headers.ts'

const modifiedMs = Date.UTC(2026, 0, 2, 3, 4, 5, 678)
const reply = (record: object, more: object = {}) =>
  objectHeaders({ record: { etag: 'abc', ...record }, modifiedMs, tagCount: 0, ...more })

describe('the record of an upload', () => {
  it('keeps the headers that belong to the object, and no others', () => {
    const headers = {
      'content-type': 'text/plain; charset=utf-8',
      'cache-control': 'no-cache',
      'content-disposition': 'attachment; filename="a"',
      'content-encoding': 'gzip',
      'content-language': 'de',
      expires: 'Thu, 01 Dec 2094 16:00:00 GMT',
      'content-length': '5',
      'x-amz-acl': 'private',
      authorization: 'AWS a:',
    }
    expect(recordFromHeaders(headers, 2048)).toEqual({
      contentType: 'text/plain; charset=utf-8',
      cacheControl: 'no-cache',
      contentDisposition: 'attachment; filename="a"',
      contentEncoding: 'gzip',
      contentLanguage: 'de',
      expires: 'Thu, 01 Dec 2094 16:00:00 GMT',
    })
    expect(recordFromHeaders({ 'content-type': '' }, 2048)).toEqual({})
  })

  const encodings: [sent: string, kept: string | undefined][] = [
    ['aws-chunked', undefined],
    ['aws-chunked,gzip', 'gzip'],
    ['gzip, aws-chunked', 'gzip'],
    ['AWS-Chunked , gzip,br', 'gzip,br'],
    ['gzip, br', 'gzip, br'],
  ]
  for (const [sent, kept] of encodings) {
    it(`keeps ${kept ?? 'nothing'} of the content encoding ${sent}`, () => {
      expect(recordFromHeaders({ 'content-encoding': sent }, 0).contentEncoding).toBe(kept)
    })
  }

  it('keeps user metadata under its names without prefix', () => {
    const headers = {
      'x-amz-meta-mtime': '1',
      'x-amz-meta-': 'x',
      'x-amz-meta-é': '\xe9',
      'x-amz-metadata-directive': 'COPY',
    }
    expect(recordFromHeaders(headers, 2048)).toEqual({ userMetadata: { mtime: '1', '': 'x', é: '\xe9' } })
  })

  it('limits names and values of user metadata together, unless the limit is 0 (spec §8)', () => {
    const headers = { 'x-amz-meta-ab': 'x'.repeat(98) }
    expect(recordFromHeaders(headers, 100).userMetadata).toEqual({ ab: 'x'.repeat(98) })
    expect(() => recordFromHeaders(headers, 99)).toThrow(
      expect.objectContaining({ code: 'MetadataTooLarge', status: 400 }),
    )
    expect(recordFromHeaders(headers, 0).userMetadata).toBeDefined()
    expect(() => recordFromHeaders({ ...headers, 'x-amz-meta-c': 'd' }, 101)).toThrow(/exceed/)
  })

  it('takes the name __proto__ for a name like any other', () => {
    const headers = JSON.parse('{"x-amz-meta-__proto__": "x"}') as Record<string, string>
    expect(Object.entries(recordFromHeaders(headers, 0).userMetadata ?? {})).toEqual([['__proto__', 'x']])
  })
})

describe('the headers of an object', () => {
  it('are those of the specification (§4), with a quoted ETag', () => {
    expect(reply({}, { size: 5 })).toEqual({
      'Accept-Ranges': 'bytes',
      'Content-Length': '5',
      'Content-Type': 'application/octet-stream',
      ETag: '"abc"',
      'Last-Modified': 'Fri, 02 Jan 2026 03:04:05 GMT',
    })
  })

  it('leave Content-Length to the server when no size is given', () => {
    expect(reply({})).not.toHaveProperty('Content-Length')
  })

  it('give back what was kept of the upload', () => {
    const headers = {
      'content-type': 'a/b',
      'cache-control': 'c',
      'content-disposition': 'd',
      'content-encoding': 'e',
      'content-language': 'l',
      expires: 'x',
      'x-amz-meta-m': '\xfc',
    }
    expect(reply(recordFromHeaders(headers, 0))).toMatchObject({
      'Content-Type': 'a/b',
      'Cache-Control': 'c',
      'Content-Disposition': 'd',
      'Content-Encoding': 'e',
      'Content-Language': 'l',
      Expires: 'x',
      'x-amz-meta-m': '\xfc',
    })
  })

  it('count tags and parts only where there are any', () => {
    expect(reply({}, { tagCount: 2, partsCount: 3 })).toMatchObject({
      'x-amz-tagging-count': '2',
      'x-amz-mp-parts-count': '3',
    })
    expect(reply({})).not.toHaveProperty('x-amz-tagging-count')
    expect(reply({})).not.toHaveProperty('x-amz-mp-parts-count')
  })

  it('show checksums only when they are asked for', () => {
    const record = { checksums: { crc32: 'AAAAAA==', sha256: 'x' }, checksumType: 'FULL_OBJECT' }
    const shown = {
      'x-amz-checksum-crc32': 'AAAAAA==',
      'x-amz-checksum-sha256': 'x',
      'x-amz-checksum-type': 'FULL_OBJECT',
    }
    expect(reply(record, { checksumMode: true })).toMatchObject(shown)
    expect(reply(record)).not.toHaveProperty('x-amz-checksum-crc32')
    expect(checksumHeaders({ checksums: record.checksums, checksumType: 'FULL_OBJECT' })).toEqual(shown)
    expect(checksumHeaders({ checksumType: 'FULL_OBJECT' })).toEqual({})
  })

  it('are replaced by response-* parameters, as they are sent', () => {
    const overrides = new Map([
      ['response-content-type', 'text/x; a="b"'],
      ['response-cache-control', 'c'],
      ['response-content-disposition', 'attachment; filename="ü.txt"'],
      ['response-content-encoding', 'e'],
      ['response-content-language', 'l'],
      ['response-expires', 'never'],
      ['response-etag', 'x'],
    ])
    expect(reply({ contentType: 'a/b' }, { overrides })).toEqual({
      'Accept-Ranges': 'bytes',
      'Content-Type': 'text/x; a="b"',
      'Cache-Control': 'c',
      'Content-Disposition': Buffer.from('attachment; filename="ü.txt"').toString('latin1'),
      'Content-Encoding': 'e',
      'Content-Language': 'l',
      Expires: 'never',
      ETag: '"abc"',
      'Last-Modified': 'Fri, 02 Jan 2026 03:04:05 GMT',
    })
  })

  for (const value of ['a\r\nSet-Cookie: x', 'a\n', '\u0000', '\u007f']) {
    it(`cannot be injected by ${JSON.stringify(value)}`, () => {
      expect(() => reply({}, { overrides: new Map([['response-content-type', value]]) })).toThrow(
        expect.objectContaining({ code: 'InvalidArgument', status: 400 }),
      )
    })
  }
})
