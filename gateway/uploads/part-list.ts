import type { Upload } from '../metadata/metadata.ts'
import type { Entry } from '../namespace/namespace.ts'
import type { Digest } from '../s3/checksum.ts'
import { S3Error } from '../s3/errors.ts'
import { foreignEtag, unquote } from '../s3/etag.ts'
import type { ObjectRecord } from '../s3/object-record.ts'
import type { Completion } from './uploads.ts'

/** A part that a completion lists, as it is stored. */
export interface ListedPart {
  readonly number: number
  readonly entry: Entry
  /** As ListParts shows it, without quotes. */
  readonly etag: string
  /** Digests of its bytes, as far as they are known. */
  readonly digests: Map<Digest, Buffer>
}

export interface StoredPartFile {
  readonly number: number
  readonly entry: Entry
  readonly record: ObjectRecord | undefined
}

/**
 * The stored parts that a completion lists, in its order. Throws InvalidPartOrder, InvalidPart, EntityTooSmall,
 * InvalidRequest (size of the object). Digests that are not known yet are not compared: see `checkDigests`.
 */
export function listedParts(
  upload: Upload,
  completion: Completion,
  stored: readonly StoredPartFile[],
  minPartSize: number,
): ListedPart[] {
  refuseDisorder(completion)
  const byNumber = new Map(stored.map((part) => [part.number, part]))
  const parts = completion.parts.map((listed) => {
    const file = byNumber.get(listed.number)
    if (file === undefined) throw invalidPart(upload, listed)
    return {
      number: file.number,
      entry: file.entry,
      etag: file.record?.etag ?? foreignEtag(file.entry.id),
      digests: knownDigests(file.record),
    }
  })
  checkDigests(upload, completion, parts)
  refuseSmallParts(parts, minPartSize)
  refuseOtherSize(completion, parts)
  return parts
}

/** Compares the ETags and checksums given in the list with the digests that are known. Throws InvalidPart. */
export function checkDigests(upload: Upload, completion: Completion, parts: readonly ListedPart[]): void {
  for (const [n, part] of parts.entries()) {
    const listed = completion.parts[n]
    if (listed !== undefined && !agrees(listed, part)) throw invalidPart(upload, listed)
  }
}

type Listed = Completion['parts'][number]

function agrees(listed: Listed, part: ListedPart): boolean {
  const md5 = part.digests.get('MD5')?.toString('hex')
  const etag = listed.etag === undefined ? undefined : unquote(listed.etag).toLowerCase()
  if (etag !== undefined && etag !== part.etag && md5 !== undefined && etag !== md5) return false
  return Object.entries(listed.checksums ?? {}).every(([algorithm, value]) => {
    const known = part.digests.get(algorithm.toUpperCase() as Digest)
    return known === undefined || known.toString('base64') === value
  })
}

function refuseDisorder({ parts }: Completion): void {
  if (parts.length === 0) throw new S3Error('MalformedXML', 'You must specify at least one part')
  for (const [n, { number }] of parts.entries()) {
    if (number <= (parts[n - 1]?.number ?? 0)) throw new S3Error('InvalidPartOrder')
  }
}

function refuseSmallParts(parts: readonly ListedPart[], minPartSize: number): void {
  const small = parts.slice(0, -1).find(({ entry }) => entry.size < minPartSize)
  if (small === undefined) return
  throw new S3Error('EntityTooSmall', undefined, {
    details: {
      ProposedSize: String(small.entry.size),
      MinSizeAllowed: String(minPartSize),
      PartNumber: String(small.number),
      ETag: small.etag,
    },
  })
}

function refuseOtherSize({ objectSize }: Completion, parts: readonly ListedPart[]): void {
  const size = sizeOf(parts)
  if (objectSize === undefined || objectSize === size) return
  throw new S3Error(
    'InvalidRequest',
    `The provided 'x-amz-mp-object-size' header value ${objectSize} does not match what was computed: ${size}`,
  )
}

function sizeOf(parts: readonly ListedPart[]): number {
  return parts.reduce((sum, { entry }) => sum + entry.size, 0)
}

function knownDigests(record: ObjectRecord | undefined): Map<Digest, Buffer> {
  const digests = new Map<Digest, Buffer>()
  if (record === undefined) return digests
  if (/^[0-9a-f]{32}$/.test(record.etag)) digests.set('MD5', Buffer.from(record.etag, 'hex'))
  if (record.checksumType === 'COMPOSITE') return digests
  for (const [name, value] of Object.entries(record.checksums ?? {})) {
    digests.set(name.toUpperCase() as Digest, Buffer.from(value, 'base64'))
  }
  return digests
}

function invalidPart(upload: Upload, listed: Listed): S3Error {
  return new S3Error('InvalidPart', undefined, {
    details: { UploadId: upload.id, PartNumber: String(listed.number), ETag: listed.etag ?? '' },
  })
}
