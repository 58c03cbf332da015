import type { Upload } from '../metadata/metadata.ts'
import {
  type ChecksumAlgorithm,
  type ChecksumType,
  checksumAlgorithm,
  combineCrc,
  compositeChecksum,
  type Digest,
  isCrc,
} from '../s3/checksum.ts'
import { S3Error } from '../s3/errors.ts'
import { multipartEtag } from '../s3/etag.ts'
import type { ObjectRecord } from '../s3/object-record.ts'
import type { ListedPart } from './part-list.ts'
import type { CompletedUpload, Completion } from './uploads.ts'

interface Checksum {
  readonly algorithm: ChecksumAlgorithm
  readonly type: ChecksumType
}

/**
 * The record of the finished object, from the digests of its parts and no byte of them: S3's `md5(md5s)-N` as ETag, and
 * the checksum over the parts' checksums (COMPOSITE) or over the bytes (FULL_OBJECT, which CRCs allow to combine).
 * Throws BadDigest when the client expects another checksum.
 */
export function finishedRecord(upload: Upload, completion: Completion, parts: readonly ListedPart[]): ObjectRecord {
  const record = {
    ...upload.record,
    etag: multipartEtag(parts.map((part) => digestOf(part, 'MD5').toString('hex'))),
    parts: parts.map(({ entry }) => entry.size),
  }
  const wanted = wantedChecksum(upload, completion) ?? impliedChecksum(parts)
  if (wanted === undefined) return record
  const value =
    wanted.type === 'COMPOSITE'
      ? compositeChecksum(
          wanted.algorithm,
          parts.map((part) => digestOf(part, wanted.algorithm)),
        )
      : combined(wanted.algorithm, parts)
  const name = wanted.algorithm.toLowerCase()
  refuseOther(name, completion.checksums?.[name], value)
  return { ...record, checksums: { [name]: value }, checksumType: wanted.type }
}

/** What CompleteMultipartUpload answers, of a finished record. */
export function completedUpload(record: ObjectRecord): CompletedUpload {
  return { etag: record.etag, checksums: record.checksums ?? {}, checksumType: record.checksumType }
}

/** Digests needed of a part: for the object's ETag and checksum, and to compare with what the client lists for it. */
export function neededDigests(upload: Upload, completion: Completion, part: number): Digest[] {
  const wanted = wantedChecksum(upload, completion)
  const listed = Object.keys(completion.parts[part]?.checksums ?? {}).map(checksumAlgorithm)
  return [...new Set<Digest | undefined>(['MD5', wanted?.algorithm, ...listed])].filter(
    (digest) => digest !== undefined,
  )
}

/**
 * The checksum declared when the upload was opened; else the one the client expects of the whole object now, which only
 * CRCs can give without reading it all. Throws InvalidRequest.
 */
function wantedChecksum(upload: Upload, completion: Completion): Checksum | undefined {
  const { checksumAlgorithm: declared, checksumType } = upload
  if (declared !== undefined) {
    const type = checksumType ?? (declared === 'CRC64NVME' ? 'FULL_OBJECT' : 'COMPOSITE')
    if (completion.checksumType !== undefined && completion.checksumType !== type) {
      throw new S3Error(
        'InvalidRequest',
        `The upload was created using the ${type} checksum mode. The complete request must use the same checksum mode.`,
      )
    }
    return { algorithm: declared, type }
  }
  const expected = Object.keys(completion.checksums ?? {}).map(checksumAlgorithm)[0]
  if (expected === undefined) return undefined
  if (isCrc(expected)) return { algorithm: expected, type: 'FULL_OBJECT' }
  throw new S3Error(
    'InvalidRequest',
    `A ${expected} checksum of a multipart object is made of those of its parts. Name the algorithm when you create the upload.`,
  )
}

/** S3's own choice when nobody names an algorithm, where the parts have come with it anyway. */
function impliedChecksum(parts: readonly ListedPart[]): Checksum | undefined {
  if (!parts.every(({ digests }) => digests.has('CRC64NVME'))) return undefined
  return { algorithm: 'CRC64NVME', type: 'FULL_OBJECT' }
}

function combined(algorithm: ChecksumAlgorithm, parts: readonly ListedPart[]): string {
  if (!isCrc(algorithm)) {
    throw new S3Error('InvalidRequest', `The FULL_OBJECT checksum type cannot be used with ${algorithm}.`)
  }
  const [first, ...rest] = parts
  if (first === undefined) throw new S3Error('MalformedXML')
  return rest
    .reduce(
      (crc, part) => combineCrc(algorithm, crc, digestOf(part, algorithm), part.entry.size),
      digestOf(first, algorithm),
    )
    .toString('base64')
}

/** A composite value may be sent without its `-N`. */
function refuseOther(name: string, expected: string | undefined, value: string): void {
  if (expected === undefined || expected === value || expected === value.replace(/-\d+$/, '')) return
  throw new S3Error('BadDigest', `The ${name} you specified did not match the calculated checksum.`)
}

function digestOf(part: ListedPart, digest: Digest): Buffer {
  const value = part.digests.get(digest)
  if (value === undefined) throw new Error(`part ${part.number} has no ${digest}`)
  return value
}
