import { read } from 'node:fs'
import type { Config } from '../config/properties.ts'
import type { FileBody } from '../s3/reply.ts'
import { FileTruncated } from './file-truncated.ts'

/** More than this counts as this (spec §8). */
const maxPositionRead = 4 * 2 ** 20

/** Whether so short a range is read into memory at once instead of being streamed. */
export function isPositionRead(length: number, { positionReadSize }: Config): boolean {
  return length > 0 && length < Math.min(positionReadSize, maxPositionRead)
}

/**
 * Reads a range of an open file in one positional read, and closes the file. Throws FileTruncated and what reading threw.
 */
export async function readRange({ file, start, length }: FileBody): Promise<Buffer> {
  try {
    const bytes = Buffer.allocUnsafeSlow(length)
    // One read, but for a file system that gives less than it was asked for.
    for (let done = 0; done < length; ) {
      const size = await readAt(file.fd, done === 0 ? bytes : bytes.subarray(done), length - done, start + done)
      if (size === 0) throw new FileTruncated(start + done, start + length)
      done += size
    }
    return bytes
  } finally {
    file.close()
  }
}

/** Reads at most `length` bytes at `position` into the buffer; resolves with how many, 0 at the end of the file. */
export function readAt(fd: number, buffer: Buffer, length: number, position: number): Promise<number> {
  return new Promise((resolve, reject) => {
    read(fd, buffer, 0, length, position, (error, size) => (error ? reject(error) : resolve(size)))
  })
}
