import { checksumNames } from './checksum.ts'
import { S3Error } from './errors.ts'
import { unquote } from './etag.ts'
import { maxPartNumber, partNumber } from './part-number.ts'
import type { XmlNode } from './xml/parse.ts'
import { childrenOf, malformedXml, readXml, requiredText, textOf } from './xml/read.ts'

/** Largest body of a CompleteMultipartUpload, in bytes: 10,000 parts with every checksum fit. */
export const completionMaxBytes = 8 * 1024 * 1024

export interface CompletedPart {
  readonly number: number
  /** Without quotes. */
  readonly etag?: string
  /** Base64 by algorithm in lower case. */
  readonly checksums?: Record<string, string>
}

/**
 * The part list of a CompleteMultipartUpload: ascending numbers, ETags optional (spec §4), other children ignored.
 * Throws MalformedXML (also for no part, or more than 10,000), InvalidArgument (numbers), InvalidPartOrder.
 */
export function readCompletion(body: Uint8Array): { readonly parts: readonly CompletedPart[] } {
  const parts = childrenOf(readXml(body, 'CompleteMultipartUpload'), 'Part').map(readPart)
  if (parts.length === 0) throw malformedXml('It lists no Part.')
  if (parts.length > maxPartNumber) throw malformedXml(`It lists more than ${maxPartNumber} parts.`)
  for (const [index, part] of parts.entries()) {
    if (part.number <= (parts[index - 1]?.number ?? 0)) throw new S3Error('InvalidPartOrder')
  }
  return { parts }
}

function readPart(part: XmlNode): CompletedPart {
  const number = requiredText(part, 'PartNumber').trim()
  if (!/^[+-]?\d+$/.test(number)) throw malformedXml('PartNumber must be a number.')
  const etag = textOf(part, 'ETag')?.trim()
  const checksums = readChecksums(part)
  return {
    number: partNumber(number),
    ...(etag !== undefined && etag !== '' && { etag: unquote(etag) }),
    ...(checksums !== undefined && { checksums }),
  }
}

/** `<ChecksumCRC32>…`, as clients send them back that got them with the parts. */
function readChecksums(part: XmlNode): Record<string, string> | undefined {
  let checksums: Record<string, string> | undefined
  for (const { name, text } of part.children) {
    const algorithm = name.startsWith('Checksum') ? name.slice('Checksum'.length).toLowerCase() : ''
    if (checksumNames.includes(algorithm) && text.trim() !== '') checksums = { ...checksums, [algorithm]: text.trim() }
  }
  return checksums
}
