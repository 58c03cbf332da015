import type { ChecksumAlgorithm, Digest } from './checksum.ts'

/** The content of an upload: payload bytes with all framing taken off, and what the client says about them. */
export interface IncomingContent {
  /** Bytes of payload (Content-Length, or x-amz-decoded-content-length); undefined when chunked and unannounced. */
  readonly length: number | undefined
  /** Throws IncompleteBody, InvalidRequest (bad framing), … */
  bytes(): AsyncIterable<Buffer>
  /** Digests that `verify` will need. */
  readonly digests: readonly Digest[]
  /** Checksum algorithm the client uses, whose value is stored and returned. */
  readonly checksumAlgorithm: ChecksumAlgorithm | undefined
  /** After the last byte (trailers included): compares. Throws BadDigest, XAmzContentChecksumMismatch, IncompleteBody. */
  verify(computed: ReadonlyMap<Digest, Buffer>, size: number): void
}
