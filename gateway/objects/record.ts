import type { StagedFile } from '../namespace/namespace.ts'
import type { ChecksumAlgorithm, Digest } from '../s3/checksum.ts'
import { S3Error } from '../s3/errors.ts'
import type { IncomingContent } from '../s3/incoming-content.ts'
import type { ObjectRecord } from '../s3/object-record.ts'
import type { StoredObject } from './objects.ts'
import { isRecorded } from './read.ts'

/** The record of received content: its MD5 as etag, and the client's checksum if it uses one. */
export function recordOf(
  base: Omit<ObjectRecord, 'etag'>,
  file: Pick<StagedFile, 'digests'>,
  content: Pick<IncomingContent, 'checksumAlgorithm'>,
): ObjectRecord {
  const etag = digestOf(file, 'MD5').toString('hex')
  const algorithm = content.checksumAlgorithm
  if (algorithm === undefined) return { ...base, etag }
  const checksums = { [algorithm.toLowerCase()]: digestOf(file, algorithm).toString('base64') }
  return { ...base, etag, checksums, checksumType: 'FULL_OBJECT' }
}

/** A digest that was asked for when the file was staged. */
function digestOf(file: Pick<StagedFile, 'digests'>, digest: Digest): Buffer {
  const value = file.digests.get(digest)
  if (value === undefined) throw new S3Error('InternalError', undefined, { cause: new Error(`no ${digest}`) })
  return value
}

/**
 * What the source's record does not tell about the copy: the MD5 of a file of others, of a multipart object (its ETag is
 * none) or of a range; and a checksum in the wanted algorithm, which by S3's rule is the source's if none is named.
 */
export function digestsToCompute(from: StoredObject, whole: boolean, wanted: ChecksumAlgorithm | undefined): Digest[] {
  const kept = whole ? copiedFields(from.record) : undefined
  const digests: Digest[] = kept !== undefined && isRecorded(from) && isMd5(kept.etag) ? [] : ['MD5']
  const algorithm = wanted ?? algorithmOf(from.record)
  if (algorithm !== undefined && kept?.checksums?.[algorithm.toLowerCase()] === undefined) digests.push(algorithm)
  return digests
}

/** ETag and checksums of a whole object that hold for a copy of it: those of its parts do not. */
export function copiedFields(record: ObjectRecord): Pick<ObjectRecord, 'etag' | 'checksums' | 'checksumType'> {
  const { etag, checksums } = record
  if (checksums === undefined || record.checksumType === 'COMPOSITE') return { etag }
  return { etag, checksums, checksumType: 'FULL_OBJECT' }
}

/** The fields of a record that were computed over the bytes. */
export function computedFields(digests: readonly Digest[], file: Pick<StagedFile, 'digests'>): Partial<ObjectRecord> {
  const fields: { -readonly [K in keyof ObjectRecord]?: ObjectRecord[K] } = {}
  for (const digest of digests) {
    const value = digestOf(file, digest)
    if (digest === 'MD5') fields.etag = value.toString('hex')
    else {
      fields.checksums = { [digest.toLowerCase()]: value.toString('base64') }
      fields.checksumType = 'FULL_OBJECT'
    }
  }
  return fields
}

/** A record without what belongs to the content. */
export function headersOf(record: Omit<ObjectRecord, 'etag'>): Omit<ObjectRecord, 'etag'> {
  const { checksums: _checksums, checksumType: _type, parts: _parts, ...headers } = record
  if ('etag' in headers) delete headers.etag
  return headers
}

function algorithmOf(record: ObjectRecord): ChecksumAlgorithm | undefined {
  const name = Object.keys(record.checksums ?? {})[0]
  return name?.toUpperCase() as ChecksumAlgorithm | undefined
}

function isMd5(etag: string): boolean {
  return /^[0-9a-f]{32}$/.test(etag)
}
