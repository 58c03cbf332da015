import { S3Error } from './errors.ts'

const longestLine = 1024
const longestTrailers = 8192
const CR = 0x0d
const LF = 0x0a

export interface AwsChunkedOptions {
  /** Bytes of payload announced (x-amz-decoded-content-length); undefined when they were not. */
  readonly length: number | undefined
  /** Called once, when the end has been reached: trailers by name in lower case. */
  readonly onTrailers: (trailers: ReadonlyMap<string, string>) => void
}

/**
 * Takes the aws-chunked framing off a body: `<hex size>[;extensions]CRLF <bytes> CRLF …`, a last chunk of size 0,
 * trailers and an empty line. Yields slices of the incoming buffers, without copies. Chunk signatures are not checked
 * (spec §5.1). Strict otherwise: throws InvalidRequest for broken framing or more bytes than announced or after the
 * end, MalformedTrailerError, IncompleteBody for a body that ends early.
 */
export async function* decodeAwsChunked(
  source: AsyncIterable<Buffer>,
  { length, onTrailers }: AwsChunkedOptions,
): AsyncGenerator<Buffer, void, void> {
  const lines = createLineReader()
  const trailers = new Map<string, string>()
  let state: 'size' | 'data' | 'dataEnd' | 'trailer' | 'done' = 'size'
  let left = 0
  let total = 0
  let trailerBytes = 0

  for await (const buffer of source) {
    let at = 0
    while (at < buffer.length) {
      if (state === 'data') {
        const end = Math.min(at + left, buffer.length)
        yield at === 0 && end === buffer.length ? buffer : buffer.subarray(at, end)
        left -= end - at
        at = end
        if (left === 0) state = 'dataEnd'
        continue
      }
      if (state === 'done') throw malformed('bytes follow the end of the body')
      at = lines.read(buffer, at, state === 'dataEnd' ? 0 : longestLine)
      const line = lines.take()
      if (line === undefined) break
      if (state === 'dataEnd') state = 'size'
      else if (state === 'size') {
        left = chunkSize(line)
        total += left
        if (length !== undefined && total > length) {
          throw new S3Error('IncompleteBody', 'The body has more bytes than x-amz-decoded-content-length announced.')
        }
        state = left === 0 ? 'trailer' : 'data'
      } else if (line === '') state = 'done'
      else {
        trailerBytes += line.length
        if (trailerBytes > longestTrailers) throw malformedTrailer('they are too long')
        addTrailer(trailers, line)
      }
    }
  }
  if (state !== 'done') {
    throw new S3Error('IncompleteBody', 'The body ended before its last chunk was complete. Send the request again.')
  }
  onTrailers(trailers)
}

/** Collects lines that end in CRLF, possibly over several buffers. */
function createLineReader() {
  let begun = ''
  let complete: string | undefined
  return {
    /** Reads on from `at`; returns where it stopped. A line may have `longest` bytes. */
    read(buffer: Buffer, at: number, longest: number): number {
      // A bare LF does not end a line: minio's SDKs write one at the end of a trailer, before the CRLF.
      let lf = buffer.indexOf(LF, at)
      while (
        lf >= 0 &&
        lf - at <= longest + 2 &&
        (lf > at ? buffer[lf - 1] : begun.charCodeAt(begun.length - 1)) !== CR
      ) {
        lf = buffer.indexOf(LF, lf + 1)
      }
      const end = lf < 0 ? buffer.length : lf + 1
      if (begun.length + end - at > longest + (lf < 0 ? 1 : 2)) throw malformed('a line is too long or missing')
      begun += buffer.toString('latin1', at, end)
      if (lf >= 0) {
        complete = begun.slice(0, -2)
        begun = ''
      }
      return end
    },
    /** The line that was completed, without its CRLF; undefined when it goes on in the next buffer. */
    take(): string | undefined {
      const line = complete
      complete = undefined
      return line
    },
  }
}

const sizeLine = /^([0-9a-fA-F]{1,16})(?:;[\t\x20-\x7e]*)?$/

function chunkSize(line: string): number {
  const size = Number.parseInt(sizeLine.exec(line)?.[1] ?? '', 16)
  if (!Number.isSafeInteger(size)) throw malformed('a chunk does not begin with its size in hexadecimal')
  return size
}

function addTrailer(trailers: Map<string, string>, line: string): void {
  const colon = line.indexOf(':')
  const name = line.slice(0, colon).toLowerCase()
  if (colon < 1 || !/^[!#$%&'*+\-.^_`|~0-9a-z]+$/.test(name)) throw malformedTrailer('a line is not name:value')
  if (trailers.has(name)) throw malformedTrailer(`${name} comes twice`)
  trailers.set(name, line.slice(colon + 1).trim())
}

function malformed(what: string): S3Error {
  return new S3Error('InvalidRequest', `The aws-chunked framing of the body is broken: ${what}.`)
}

function malformedTrailer(what: string): S3Error {
  return new S3Error('MalformedTrailerError', `The trailers of the body are not well-formed: ${what}.`)
}
