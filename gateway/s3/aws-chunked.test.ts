import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decodeAwsChunked } from './aws-chunked.ts'

async function* source(buffers: readonly Buffer[]): AsyncGenerator<Buffer> {
  yield* buffers
}

async function decode(
  buffers: readonly Buffer[],
  length?: number,
): Promise<{ payload: string; trailers: Record<string, string> }> {
  let trailers: Record<string, string> | undefined
  const parts: Buffer[] = []
  const decoded = decodeAwsChunked(source(buffers), {
    length,
    onTrailers: (received) => {
      expect(trailers).toBeUndefined()
      trailers = Object.fromEntries(received)
    },
  })
  for await (const part of decoded) parts.push(part)
  if (trailers === undefined) throw new Error('the end was not told')
  return { payload: Buffer.concat(parts).toString('latin1'), trailers }
}

const text = (body: string, length?: number) => decode([Buffer.from(body, 'latin1')], length)
const signature = `;chunk-signature=${'a'.repeat(64)}`

/** Bodies as clients send them, with who does. */
const bodies: Record<string, [body: string, payload: string, trailers?: Record<string, string>]> = {
  'an empty signed body (S3A for a folder)': [`0${signature}\r\n\r\n`, ''],
  'signed chunks (S3A, AWS SDKs)': [
    `5${signature}\r\nhello\r\n6${signature}\r\n world\r\n0${signature}\r\n\r\n`,
    'hello world',
  ],
  'an unsigned trailer (AWS SDK for JavaScript, PyArrow)': [
    'b\r\nhello world\r\n0\r\nx-amz-checksum-crc32:DUoRhQ==\r\n\r\n',
    'hello world',
    { 'x-amz-checksum-crc32': 'DUoRhQ==' },
  ],
  'a signed trailer (AWS documentation)': [
    `B${signature}\r\nhello world\r\n0${signature}\r\nx-amz-checksum-crc32c:yZRlqg==\r\nx-amz-trailer-signature:${'b'.repeat(64)}\r\n\r\n`,
    'hello world',
    { 'x-amz-checksum-crc32c': 'yZRlqg==', 'x-amz-trailer-signature': 'b'.repeat(64) },
  ],
  'trailers that end in LF CR LF (minio-go, signed)': [
    'b\r\nhello world\r\n0\r\nx-amz-checksum-crc32c:yZRlqg==\n\r\nx-amz-trailer-signature:00\r\n\r\n',
    'hello world',
    { 'x-amz-checksum-crc32c': 'yZRlqg==', 'x-amz-trailer-signature': '00' },
  ],
  'a trailer that ends in LF CR LF (minio-go, unsigned)': [
    'b\r\nhello world\r\n0\r\nx-amz-checksum-crc32c:yZRlqg==\n\r\n\r\n',
    'hello world',
    { 'x-amz-checksum-crc32c': 'yZRlqg==' },
  ],
  'leading zeros and capitals': [
    '0000A\r\n0123456789\r\n000\r\nX-Amz-Checksum-SHA1: a b \r\n\r\n',
    '0123456789',
    { 'x-amz-checksum-sha1': 'a b' },
  ],
  'payload that looks like framing': ['9\r\n\r\n0\r\n\r\n\r\n\r\n0\r\n\r\n', '\r\n0\r\n\r\n\r\n'],
}

describe('aws-chunked framing', () => {
  for (const [what, [body, payload, trailers = {}]] of Object.entries(bodies)) {
    it(`is taken off ${what}`, async () => {
      expect(await text(body, payload.length)).toEqual({ payload, trailers })
    })

    it(`is taken off ${what}, when it comes byte by byte`, async () => {
      const bytes = [...Buffer.from(body, 'latin1')].map((byte) => Buffer.from([byte]))
      expect(await decode(bytes, payload.length)).toEqual({ payload, trailers })
    })

    it(`is refused when cut anywhere: ${what}`, async () => {
      for (let end = 0; end < body.length; end++) {
        await expect(text(body.slice(0, end)), `cut at ${end}`).rejects.toMatchObject({ code: 'IncompleteBody' })
      }
    })

    it(`is refused with a byte after its end: ${what}`, async () => {
      await expect(text(`${body}x`)).rejects.toMatchObject({ code: 'InvalidRequest' })
      await expect(decode([Buffer.from(body, 'latin1'), Buffer.from('\n')])).rejects.toMatchObject({
        code: 'InvalidRequest',
      })
    })
  }

  it('gives the same bytes for any content, chunk sizes and split of the wire', async () => {
    const property = fc.asyncProperty(
      fc.array(fc.uint8Array({ minLength: 1, maxLength: 200 }), { maxLength: 8 }),
      fc.array(fc.nat(1000), { maxLength: 30 }),
      fc.boolean(),
      async (chunks, cuts, signed) => {
        const extension = signed ? signature : ''
        const body = Buffer.concat([
          ...chunks.flatMap((chunk) => [
            Buffer.from(`${chunk.length.toString(16)}${extension}\r\n`),
            chunk,
            Buffer.from('\r\n'),
          ]),
          Buffer.from(`0${extension}\r\nx-amz-checksum-crc32:AAAAAA==\r\n\r\n`),
        ])
        const places = [0, ...cuts.map((cut) => cut % body.length).sort((a, b) => a - b), body.length]
        const buffers = places.slice(1).map((end, index) => body.subarray(places[index], end))
        const payload = Buffer.concat(chunks)
        expect(await decode(buffers, payload.length)).toEqual({
          payload: payload.toString('latin1'),
          trailers: { 'x-amz-checksum-crc32': 'AAAAAA==' },
        })
      },
    )
    await fc.assert(property, { numRuns: 300 })
  })

  it('copies no payload', async () => {
    const wire = Buffer.from('5\r\nhello\r\n0\r\n\r\n')
    for await (const part of decodeAwsChunked(source([wire]), { length: 5, onTrailers: () => undefined })) {
      expect(part.buffer).toBe(wire.buffer)
      expect(part.byteOffset).toBe(wire.byteOffset + 3)
    }
  })

  const refused: Record<string, [body: string, code: string]> = {
    'no framing at all': ['hello world, this is no chunk\r\n', 'InvalidRequest'],
    'no size': ['\r\nhello\r\n', 'InvalidRequest'],
    'a negative size': ['-5\r\nhello\r\n', 'InvalidRequest'],
    'a decimal prefix': ['0x5\r\nhello\r\n', 'InvalidRequest'],
    'a space before the size': [' 5\r\nhello\r\n', 'InvalidRequest'],
    'a size beyond all bounds': ['ffffffffffffffff\r\n', 'InvalidRequest'],
    'a size of too many digits': [`${'0'.repeat(17)}\r\n\r\n`, 'InvalidRequest'],
    'a bare LF after the size': ['5\nhello\r\n0\r\n\r\n', 'InvalidRequest'],
    'a chunk longer than its size': ['4\r\nhello\r\n0\r\n\r\n', 'InvalidRequest'],
    'a chunk shorter than its size': ['6\r\nhello\r\n0\r\n\r\n', 'InvalidRequest'],
    'a chunk that ends in LF': ['5\r\nhello\n0\r\n\r\n', 'InvalidRequest'],
    'a size line without end': [`5;${'x'.repeat(2000)}`, 'InvalidRequest'],
    'a control character in an extension': ['5;\u0001\r\nhello\r\n0\r\n\r\n', 'InvalidRequest'],
    'a trailer without a colon': ['0\r\nnonsense\r\n\r\n', 'MalformedTrailerError'],
    'a trailer without a name': ['0\r\n:x\r\n\r\n', 'MalformedTrailerError'],
    'a trailer with a space in its name': ['0\r\na b:x\r\n\r\n', 'MalformedTrailerError'],
    'a trailer that comes twice': ['0\r\na:1\r\nA:2\r\n\r\n', 'MalformedTrailerError'],
    'trailers without end': [
      `0\r\n${Array.from({ length: 2000 }, (_, index) => `a${index}:1\r\n`).join('')}`,
      'MalformedTrailerError',
    ],
    'a trailer line without end': [`0\r\na:${'x'.repeat(5000)}`, 'InvalidRequest'],
  }
  for (const [what, [body, code]] of Object.entries(refused)) {
    it(`is refused with ${what}`, async () => {
      await expect(text(body)).rejects.toMatchObject({ name: 'S3Error', code, status: 400 })
    })
  }

  it('is refused as soon as more bytes are announced than the client promised', async () => {
    let pulled = 0
    async function* endless(): AsyncGenerator<Buffer> {
      while (true) {
        pulled++
        yield Buffer.from('5\r\nhello\r\n')
      }
    }
    const read = async () => {
      for await (const part of decodeAwsChunked(endless(), { length: 12, onTrailers: () => undefined })) {
        expect(part.toString()).toBe('hello')
      }
    }
    await expect(read()).rejects.toMatchObject({ code: 'IncompleteBody' })
    expect(pulled).toBe(3)
  })

  it('gives payload or a 4xx, whatever the bytes', async () => {
    const piece = fc.constantFrom(
      '5',
      '0',
      '\r\n',
      '\r',
      '\n',
      ';',
      ':',
      'hello',
      'ffff',
      '0\r\n',
      '0\r\n\r\n',
      '1\r\nx\r\n',
    )
    const property = fc.asyncProperty(
      fc.array(fc.oneof(piece, fc.string({ maxLength: 4 }))),
      fc.boolean(),
      async (pieces, whole) => {
        const buffers = pieces.map((part) => Buffer.from(part, 'latin1'))
        try {
          await decode(whole ? [Buffer.concat(buffers)] : buffers, 20)
        } catch (error) {
          expect(error).toMatchObject({ name: 'S3Error', status: 400 })
        }
      },
    )
    await fc.assert(property, { numRuns: 3000 })
  })

  it('ends the source when its reader goes away', async () => {
    let ended = false
    async function* watched(): AsyncGenerator<Buffer> {
      try {
        while (true) yield Buffer.from('1\r\nx\r\n')
      } finally {
        ended = true
      }
    }
    for await (const part of decodeAwsChunked(watched(), { length: undefined, onTrailers: () => undefined })) {
      expect(part.toString()).toBe('x')
      break
    }
    expect(ended).toBe(true)
  })
})
