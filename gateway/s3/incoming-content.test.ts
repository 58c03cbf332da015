import { describe, expect, it } from 'vitest'
import { createDigest, type Digest } from './checksum.ts'
import { type IncomingContent, incomingContent } from './incoming-content.ts'
import type { S3Request } from './request.ts'

type Headers = Record<string, string>

function request(headers: Headers, body = '', length: number | 'chunked' = body.length): S3Request {
  return {
    id: '1',
    method: 'PUT',
    resource: '/b/k',
    bucket: 'b',
    key: 'k',
    query: new Map(),
    headers,
    body: {
      length: length === 'chunked' ? undefined : length,
      async *stream() {
        yield Buffer.from(body, 'latin1')
      },
      read: async () => Buffer.from(body, 'latin1'),
    },
  }
}

/** Reads, computes what is asked for and verifies, as an upload does. */
async function receive(content: IncomingContent): Promise<string> {
  const digests = content.digests.map((digest) => [digest, createDigest(digest)] as const)
  const parts: Buffer[] = []
  for await (const part of content.bytes()) {
    parts.push(part)
    for (const [, computing] of digests) computing.update(part)
  }
  const payload = Buffer.concat(parts)
  content.verify(new Map(digests.map(([digest, computing]) => [digest, computing.digest()])), payload.length)
  return payload.toString('latin1')
}

function base64(digest: Digest, text: string): string {
  const computing = createDigest(digest)
  computing.update(Buffer.from(text))
  return computing.digest().toString('base64')
}

const hello = 'hello world'
const unsigned = { 'x-amz-content-sha256': 'STREAMING-UNSIGNED-PAYLOAD-TRAILER' }
const framed = (trailer: string) => `b\r\n${hello}\r\n0\r\n${trailer}\r\n`

describe('the content of an upload', () => {
  it('is taken with headers that ask for what every object has, or that mean nothing here (our choice)', async () => {
    const headers = {
      'x-amz-server-side-encryption': 'AES256',
      'x-amz-acl': 'private',
      'x-amz-storage-class': 'GLACIER',
    }
    expect(await receive(incomingContent(request(headers, hello)))).toBe(hello)
  })

  it('is the body itself, and needs no digest when the client gives none', async () => {
    const content = incomingContent(request({ 'x-amz-content-sha256': 'UNSIGNED-PAYLOAD' }, hello))
    expect(content).toMatchObject({ length: 11, digests: [], checksumAlgorithm: undefined })
    expect(await receive(content)).toBe(hello)
  })

  it('may have no announced length (HTTP chunked)', async () => {
    const content = incomingContent(request({}, hello, 'chunked'))
    expect(content.length).toBeUndefined()
    expect(await receive(content)).toBe(hello)
  })

  it('is compared with Content-MD5', async () => {
    const right = incomingContent(request({ 'content-md5': base64('MD5', hello) }, hello))
    expect(right).toMatchObject({ digests: ['MD5'], checksumAlgorithm: undefined })
    expect(await receive(right)).toBe(hello)
    const wrong = incomingContent(request({ 'content-md5': base64('MD5', 'other') }, hello))
    await expect(receive(wrong)).rejects.toMatchObject({ code: 'BadDigest', status: 400 })
  })

  it('refuses a Content-MD5 that is none before the body is read', () => {
    for (const md5 of ['', 'x', '5eb63bbbe01eeed093cb22bb8f5acdc3', base64('SHA1', hello), '====']) {
      expect(() => incomingContent(request({ 'content-md5': md5 }, hello))).toThrow(
        expect.objectContaining({ code: 'InvalidDigest', status: 400 }),
      )
    }
  })

  for (const algorithm of ['CRC32', 'CRC32C', 'CRC64NVME', 'SHA1', 'SHA256'] as const) {
    const name = `x-amz-checksum-${algorithm.toLowerCase()}`

    it(`is compared with ${name}`, async () => {
      const headers = { [name]: base64(algorithm, hello), 'x-amz-sdk-checksum-algorithm': algorithm }
      const right = incomingContent(request(headers, hello))
      expect(right).toMatchObject({ digests: [algorithm], checksumAlgorithm: algorithm })
      expect(await receive(right)).toBe(hello)
      const wrong = incomingContent(request({ [name]: base64(algorithm, 'other') }, hello))
      await expect(receive(wrong)).rejects.toMatchObject({
        code: 'BadDigest',
        message: `The ${algorithm} you specified did not match the calculated checksum.`,
      })
    })

    it(`is compared with the trailer ${name}`, async () => {
      const headers = { ...unsigned, 'x-amz-trailer': name, 'x-amz-decoded-content-length': '11' }
      const right = incomingContent(request(headers, framed(`${name}:${base64(algorithm, hello)}\r\n`)))
      expect(right).toMatchObject({ length: 11, digests: [algorithm], checksumAlgorithm: algorithm })
      expect(await receive(right)).toBe(hello)
      const wrong = incomingContent(request(headers, framed(`${name}:${base64(algorithm, 'other')}\r\n`)))
      await expect(receive(wrong)).rejects.toMatchObject({ code: 'BadDigest' })
    })

    it(`refuses a ${name} that is none before the body is read`, () => {
      for (const value of ['', 'x', base64('MD5', hello)]) {
        expect(() => incomingContent(request({ [name]: value }, hello))).toThrow(
          expect.objectContaining({ code: 'InvalidRequest', message: `Value for ${name} header is invalid.` }),
        )
      }
    })
  }

  it('is compared with both Content-MD5 and a checksum', async () => {
    const headers = { 'content-md5': base64('MD5', hello), 'x-amz-checksum-crc32': base64('CRC32', hello) }
    const content = incomingContent(request(headers, hello))
    expect(content.digests).toEqual(['MD5', 'CRC32'])
    expect(await receive(content)).toBe(hello)
  })

  it('is compared with the digest of the signature only when nothing else is there (our choice)', async () => {
    const hex = Buffer.from(base64('SHA256', hello), 'base64').toString('hex')
    const right = incomingContent(request({ 'x-amz-content-sha256': hex }, hello))
    expect(right).toMatchObject({ digests: ['SHA256'], checksumAlgorithm: undefined })
    expect(await receive(right)).toBe(hello)
    const wrong = incomingContent(request({ 'x-amz-content-sha256': hex }, 'HELLO WORLD'))
    await expect(receive(wrong)).rejects.toMatchObject({ code: 'XAmzContentSHA256Mismatch', status: 400 })
    const both = incomingContent(request({ 'x-amz-content-sha256': hex, 'content-md5': base64('MD5', hello) }, hello))
    expect(both.digests).toEqual(['MD5'])
  })

  it('is taken out of its framing in each of S3’s forms', async () => {
    for (const form of [
      'STREAMING-AWS4-HMAC-SHA256-PAYLOAD',
      'STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER',
      'STREAMING-AWS4-ECDSA-P256-SHA256-PAYLOAD',
      'STREAMING-UNSIGNED-PAYLOAD-TRAILER',
    ]) {
      const content = incomingContent(
        request({ 'x-amz-content-sha256': form, 'x-amz-decoded-content-length': '11' }, framed('')),
      )
      expect(content).toMatchObject({ length: 11, digests: [] })
      expect(await receive(content)).toBe(hello)
    }
  })

  it('is taken out of its framing by Content-Encoding alone when the request is not signed', async () => {
    const content = incomingContent(request({ 'content-encoding': 'gzip, aws-chunked' }, framed('')))
    expect(await receive(content)).toBe(hello)
    const plain = { 'content-encoding': 'aws-chunked', 'x-amz-content-sha256': 'UNSIGNED-PAYLOAD' }
    expect(await receive(incomingContent(request(plain, hello)))).toBe(hello)
  })

  it('is framed with no announced length (PyArrow)', async () => {
    const content = incomingContent(request(unsigned, framed(''), 'chunked'))
    expect(content.length).toBeUndefined()
    expect(await receive(content)).toBe(hello)
  })

  it('is incomplete when it has another length than announced', async () => {
    const short = incomingContent(request({ ...unsigned, 'x-amz-decoded-content-length': '12' }, framed('')))
    await expect(receive(short)).rejects.toMatchObject({ code: 'IncompleteBody' })
    const long = incomingContent(request({ ...unsigned, 'x-amz-decoded-content-length': '10' }, framed('')))
    await expect(receive(long)).rejects.toMatchObject({ code: 'IncompleteBody' })
    const plain = incomingContent(request({}, hello, 12))
    await expect(receive(plain)).rejects.toMatchObject({ code: 'IncompleteBody' })
    expect(() => incomingContent(request({ ...unsigned, 'x-amz-decoded-content-length': '100' }, framed('')))).toThrow(
      expect.objectContaining({ code: 'IncompleteBody' }),
    )
  })

  it('is refused when a promised trailer does not come, or comes unannounced', async () => {
    const promised = { ...unsigned, 'x-amz-trailer': 'x-amz-checksum-crc32' }
    await expect(receive(incomingContent(request(promised, framed(''))))).rejects.toMatchObject({
      code: 'MalformedTrailerError',
    })
    const other = framed(`x-amz-checksum-sha1:${base64('SHA1', hello)}\r\n`)
    await expect(receive(incomingContent(request(promised, other)))).rejects.toMatchObject({
      code: 'MalformedTrailerError',
    })
    await expect(receive(incomingContent(request(unsigned, other)))).rejects.toMatchObject({
      code: 'MalformedTrailerError',
    })
    const broken = framed('x-amz-checksum-crc32:x\r\n')
    await expect(receive(incomingContent(request(promised, broken)))).rejects.toMatchObject({ code: 'InvalidRequest' })
  })

  const refused: Record<string, [headers: Headers, code: string, status?: number]> = {
    'two checksums': [
      { 'x-amz-checksum-crc32': base64('CRC32', ''), 'x-amz-checksum-sha1': base64('SHA1', '') },
      'InvalidRequest',
    ],
    'a checksum as header and as trailer': [
      { ...unsigned, 'x-amz-checksum-crc32': base64('CRC32', ''), 'x-amz-trailer': 'x-amz-checksum-crc32' },
      'InvalidRequest',
    ],
    'two trailers': [{ ...unsigned, 'x-amz-trailer': 'x-amz-checksum-crc32, x-amz-checksum-sha1' }, 'InvalidRequest'],
    'a trailer that is no checksum': [{ ...unsigned, 'x-amz-trailer': 'x-other' }, 'InvalidRequest'],
    'a trailer without framing': [{ 'x-amz-trailer': 'x-amz-checksum-crc32' }, 'InvalidRequest'],
    'an unknown algorithm': [{ 'x-amz-sdk-checksum-algorithm': 'MD4' }, 'InvalidRequest'],
    'an algorithm without a checksum': [{ 'x-amz-sdk-checksum-algorithm': 'CRC32' }, 'InvalidRequest'],
    'an algorithm that is not the checksum’s': [
      { 'x-amz-sdk-checksum-algorithm': 'CRC32C', 'x-amz-checksum-crc32': base64('CRC32', '') },
      'InvalidRequest',
    ],
    'an unknown framing': [{ 'x-amz-content-sha256': 'STREAMING-NEW-THING' }, 'InvalidArgument'],
    'a length that is none': [{ ...unsigned, 'x-amz-decoded-content-length': '-1' }, 'InvalidArgument'],
    'a length beyond all bounds': [
      { ...unsigned, 'x-amz-decoded-content-length': '9999999999999999' },
      'InvalidArgument',
    ],
    'an append': [{ 'x-amz-write-offset-bytes': '0' }, 'NotImplemented', 501],
    'a key of the client’s own': [
      { 'x-amz-server-side-encryption-customer-algorithm': 'AES256' },
      'NotImplemented',
      501,
    ],
    'a key of a key service': [{ 'x-amz-server-side-encryption': 'aws:kms' }, 'NotImplemented', 501],
    'a lock': [{ 'x-amz-object-lock-mode': 'COMPLIANCE' }, 'NotImplemented', 501],
  }
  for (const [what, [headers, code, status = 400]] of Object.entries(refused)) {
    it(`is refused with ${what} before a byte is read`, () => {
      expect(() => incomingContent(request(headers))).toThrow(
        expect.objectContaining({ name: 'S3Error', code, status }),
      )
    })
  }
})
