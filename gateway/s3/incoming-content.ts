import { decodeAwsChunked } from './aws-chunked.ts'
import {
  type ChecksumAlgorithm,
  checksumAlgorithm,
  checksumAlgorithms,
  checksumSizes,
  type Digest,
} from './checksum.ts'
import { S3Error } from './errors.ts'
import type { S3Request } from './request.ts'
import { refuseUnsupportedHeaders } from './unsupported.ts'

/** The content of an upload: payload bytes with all framing taken off, and what the client says about them. */
export interface IncomingContent {
  /** Bytes of payload (Content-Length, or x-amz-decoded-content-length); undefined when chunked and unannounced. */
  readonly length: number | undefined
  /** Throws IncompleteBody, InvalidRequest (bad framing), … */
  bytes(): AsyncIterable<Buffer>
  /** Digests that `verify` will need. MD5 is among them only when the client sent a Content-MD5. */
  readonly digests: readonly Digest[]
  /** Checksum algorithm the client uses, whose value is stored and returned. */
  readonly checksumAlgorithm: ChecksumAlgorithm | undefined
  /**
   * After the last byte (trailers included): compares.
   * Throws BadDigest, XAmzContentSHA256Mismatch, IncompleteBody, MalformedTrailerError.
   */
  verify(computed: ReadonlyMap<Digest, Buffer>, size: number): void
}

type Headers = S3Request['headers']

/**
 * Reads what the head of an upload says about its content, and refuses what is wrong with it before a byte is asked for.
 * Throws InvalidDigest (Content-MD5), InvalidRequest (checksums), InvalidArgument (lengths, framing), NotImplemented.
 *
 * A hexadecimal x-amz-content-sha256 belongs to the signature, which is not checked; it is compared only when the client
 * gave no other digest: SHA-256 costs up to three times the MD5 that every upload pays (our choice).
 */
export function incomingContent(request: S3Request): IncomingContent {
  const { headers, body } = request
  refuseUnsupportedHeaders(headers)
  const framed = isAwsChunked(headers)
  const length = framed ? decodedLength(headers) : body.length
  if (framed && length !== undefined && body.length !== undefined && body.length < length) {
    throw new S3Error('IncompleteBody', 'x-amz-decoded-content-length is larger than the Content-Length of the body.')
  }
  const expected = new Map<Digest, Buffer>()
  const md5 = headers['content-md5']
  if (md5 !== undefined) expected.set('MD5', base64(md5, 16) ?? refuseMd5())
  const sent = sentChecksum(headers, framed)
  if (sent?.value !== undefined) expected.set(sent.algorithm, sent.value)
  const signedSha256 = md5 === undefined && sent === undefined ? hexSha256(headers) : undefined
  if (signedSha256 !== undefined) expected.set('SHA256', signedSha256)
  const digests = [...expected.keys()]
  if (sent !== undefined && sent.value === undefined) digests.push(sent.algorithm)
  let trailers: ReadonlyMap<string, string> | undefined

  return {
    length,
    digests,
    checksumAlgorithm: sent?.algorithm,
    bytes() {
      const raw = body.stream()
      if (!framed) return raw
      return decodeAwsChunked(raw, {
        length,
        onTrailers: (received) => {
          trailers = received
        },
      })
    },
    verify(computed, size) {
      if (length !== undefined && size !== length) throw new S3Error('IncompleteBody')
      if (framed) {
        if (trailers === undefined) throw new S3Error('IncompleteBody')
        const promised = sent !== undefined && sent.value === undefined ? sent.algorithm : undefined
        const value = trailerChecksum(trailers, promised)
        if (promised !== undefined && value !== undefined) expected.set(promised, value)
      }
      for (const [digest, value] of expected) {
        const actual = computed.get(digest)
        if (actual === undefined) throw new S3Error('InternalError', undefined, { cause: new Error(`no ${digest}`) })
        if (!actual.equals(value)) throw mismatch(digest, signedSha256 !== undefined)
      }
    },
  }
}

const framings = new Set([
  'STREAMING-AWS4-HMAC-SHA256-PAYLOAD',
  'STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER',
  'STREAMING-AWS4-ECDSA-P256-SHA256-PAYLOAD',
  'STREAMING-AWS4-ECDSA-P256-SHA256-PAYLOAD-TRAILER',
  'STREAMING-UNSIGNED-PAYLOAD-TRAILER',
])

/** x-amz-content-sha256 decides; without it (requests that are not signed at all) the content encoding does. */
function isAwsChunked(headers: Headers): boolean {
  const payload = headers['x-amz-content-sha256']
  if (payload === undefined) return /(?:^|,)\s*aws-chunked\s*(?:,|$)/i.test(headers['content-encoding'] ?? '')
  if (!payload.startsWith('STREAMING-')) return false
  if (framings.has(payload)) return true
  throw new S3Error('InvalidArgument', `x-amz-content-sha256 names a framing that is not known: ${payload}`)
}

function decodedLength(headers: Headers): number | undefined {
  const value = headers['x-amz-decoded-content-length']
  if (value === undefined) return undefined
  const length = /^\d{1,16}$/.test(value) ? Number(value) : Number.NaN
  if (Number.isSafeInteger(length)) return length
  throw new S3Error('InvalidArgument', 'x-amz-decoded-content-length must be a whole number of bytes.')
}

interface SentChecksum {
  readonly algorithm: ChecksumAlgorithm
  /** Undefined when it comes as a trailer. */
  readonly value: Buffer | undefined
}

/** The one checksum of a body, by header or by trailer. Throws InvalidRequest, with S3's messages. */
function sentChecksum(headers: Headers, framed: boolean): SentChecksum | undefined {
  let sent: SentChecksum | undefined
  for (const algorithm of checksumAlgorithms) {
    const text = headers[headerNames[algorithm]]
    if (text === undefined) continue
    if (sent !== undefined)
      throw invalid('Expecting a single x-amz-checksum- header. Multiple checksum Types are not allowed.')
    const value = base64(text, checksumSizes[algorithm])
    if (value === undefined) throw invalid(`Value for ${headerNames[algorithm]} header is invalid.`)
    sent = { algorithm, value }
  }
  for (const algorithm of announcedTrailers(headers, framed)) {
    if (sent !== undefined) throw invalid('Expecting a single x-amz-checksum- header or trailer.')
    sent = { algorithm, value: undefined }
  }
  const named = headers['x-amz-sdk-checksum-algorithm']
  if (named === undefined) return sent
  const algorithm = checksumAlgorithm(named)
  if (algorithm === undefined) throw invalid('Value for x-amz-sdk-checksum-algorithm header is invalid.')
  if (sent === undefined) {
    throw invalid(
      'x-amz-sdk-checksum-algorithm specified, but no corresponding x-amz-checksum-* or x-amz-trailer headers were found.',
    )
  }
  if (sent.algorithm !== algorithm) throw invalid('Value for x-amz-sdk-checksum-algorithm header is invalid.')
  return sent
}

function announcedTrailers(headers: Headers, framed: boolean): ChecksumAlgorithm[] {
  const names = headers['x-amz-trailer']
  if (names === undefined) return []
  if (!framed) throw invalid('x-amz-trailer needs a body in one of the STREAMING- framings.')
  return names.split(',').map((name) => {
    const algorithm = checksumOfHeader(name.trim().toLowerCase())
    if (algorithm === undefined) throw invalid('The value specified in the x-amz-trailer header is not supported')
    return algorithm
  })
}

function trailerChecksum(
  trailers: ReadonlyMap<string, string>,
  promised: ChecksumAlgorithm | undefined,
): Buffer | undefined {
  for (const name of trailers.keys()) {
    const algorithm = checksumOfHeader(name)
    if (algorithm !== undefined && algorithm !== promised) {
      throw new S3Error('MalformedTrailerError', `The trailer ${name} was not announced in x-amz-trailer.`)
    }
  }
  if (promised === undefined) return undefined
  const text = trailers.get(headerNames[promised])
  if (text === undefined) {
    throw new S3Error('MalformedTrailerError', `The trailer ${headerNames[promised]} was announced and did not come.`)
  }
  const value = base64(text, checksumSizes[promised])
  if (value === undefined) throw invalid(`Value for ${headerNames[promised]} trailing header is invalid.`)
  return value
}

const headerNames = Object.fromEntries(
  checksumAlgorithms.map((algorithm) => [algorithm, `x-amz-checksum-${algorithm.toLowerCase()}`]),
) as Record<ChecksumAlgorithm, string>

function checksumOfHeader(name: string): ChecksumAlgorithm | undefined {
  return checksumAlgorithms.find((algorithm) => headerNames[algorithm] === name)
}

function hexSha256(headers: Headers): Buffer | undefined {
  const value = headers['x-amz-content-sha256']
  return value !== undefined && /^[0-9a-fA-F]{64}$/.test(value) ? Buffer.from(value, 'hex') : undefined
}

/** Undefined when it is not the base64 of so many bytes. */
function base64(text: string, size: number): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64')
  return bytes.length === size && bytes.toString('base64') === text.trim() ? bytes : undefined
}

function mismatch(digest: Digest, signed: boolean): S3Error {
  if (digest === 'MD5') return new S3Error('BadDigest')
  if (signed) return new S3Error('XAmzContentSHA256Mismatch')
  return new S3Error('BadDigest', `The ${digest} you specified did not match the calculated checksum.`)
}

function refuseMd5(): never {
  throw new S3Error('InvalidDigest', 'The Content-MD5 you specified was invalid: it is not the base64 of 16 bytes.')
}

function invalid(message: string): S3Error {
  return new S3Error('InvalidRequest', message)
}
