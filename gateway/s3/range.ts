import { S3Error } from './errors.ts'

/** A range of bytes. */
export interface Range {
  readonly start: number
  readonly length: number
}

const form = /^bytes=[ \t]*(\d*)-(\d*)[ \t]*$/i

/**
 * The range to answer with 206; undefined to answer with everything: no header, another unit, several ranges (as S3), or
 * one that is malformed (RFC 9110 §14.2). Throws InvalidRange, with Content-Range, for one outside the `size` bytes.
 */
export function parseRange(header: string | undefined, size: number): Range | undefined {
  if (header === undefined) return undefined
  const match = form.exec(header.trim())
  if (!match) return undefined
  const [, first = '', last = ''] = match
  if (first === '') {
    if (last === '') return undefined
    const length = Math.min(Number(last), size)
    if (length === 0) throw unsatisfiable(header, size)
    return { start: size - length, length }
  }
  const start = Number(first)
  if (last !== '' && Number(last) < start) return undefined
  if (start >= size) throw unsatisfiable(header, size)
  const end = last === '' ? size - 1 : Math.min(Number(last), size - 1)
  return { start, length: end - start + 1 }
}

/** Value of Content-Range in a 206. */
export function contentRange({ start, length }: Range, size: number): string {
  return `bytes ${start}-${start + length - 1}/${size}`
}

/**
 * `x-amz-copy-source-range`, which must be `bytes=first-last`. Throws InvalidArgument when it is not, and (with the
 * source's `size` given) when it ends beyond the source: it is not clipped.
 */
export function copySourceRange(header: string | undefined, size?: number): Range | undefined {
  if (header === undefined) return undefined
  const match = /^bytes=(\d{1,15})-(\d{1,15})$/.exec(header.trim())
  const start = Number(match?.[1])
  const end = Number(match?.[2])
  if (!match || end < start) {
    throw invalid(
      'The x-amz-copy-source-range value must be of the form bytes=first-last where first and last are the zero-based offsets of the first and last bytes to copy',
      header,
    )
  }
  if (size !== undefined && end >= size) {
    throw invalid(`Range specified is not valid for source object of size: ${size}`, header)
  }
  return { start, length: end - start + 1 }
}

function invalid(message: string, value: string): S3Error {
  const details = { ArgumentName: 'x-amz-copy-source-range', ArgumentValue: value }
  return new S3Error('InvalidArgument', message, { details })
}

function unsatisfiable(header: string, size: number): S3Error {
  return new S3Error('InvalidRange', undefined, {
    headers: { 'Content-Range': `bytes */${size}` },
    details: { RangeRequested: header, ActualObjectSize: String(size) },
  })
}
