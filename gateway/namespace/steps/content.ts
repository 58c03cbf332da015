import { createDigest, type Digest } from '../../s3/checksum.ts'
import { EINVAL, ENOSYS, EOPNOTSUPP, EPERM, EXDEV, orFail } from '../errno.ts'
import { copyRange, readAt } from '../libc.ts'
import { digestOf, finish, type WireFinished, writeWhole } from './stage.ts'
import type { Scene } from './step.ts'

/** Digests under way, by the number of their upload. They live in the one thread that writes the file. */
const computing = new Map<number, readonly ReturnType<typeof createDigest>[]>()

function digestsOf(upload: number, digests: readonly Digest[]): readonly ReturnType<typeof createDigest>[] {
  let found = computing.get(upload)
  if (found === undefined) {
    found = digests.map(createDigest)
    computing.set(upload, found)
  }
  return found
}

/** Writes and digests a block of a staged file; gives the block's memory back. */
export function writeBlock(
  scene: Scene,
  upload: number,
  fd: number,
  position: number,
  memory: ArrayBuffer,
  length: number,
  digests: readonly Digest[],
): ArrayBuffer {
  const block = new Uint8Array(memory, 0, length)
  writeWhole(fd, block, position)
  for (const digest of digestsOf(upload, digests)) digest.update(block)
  scene.transfer(memory)
  return memory
}

/** Writes, digests and ends a staged file in one step: what is small need not go to a thread for contents. */
export function finishWhole(
  scene: Scene,
  fd: number,
  memory: ArrayBuffer,
  length: number,
  digests: readonly Digest[],
): readonly [WireFinished, ArrayBuffer] {
  const content = new Uint8Array(memory, 0, length)
  writeWhole(fd, content, 0)
  const values = digests.map((digest) => digestOf(digest, content))
  scene.transfer(memory)
  return [finish(scene, fd, values), memory]
}

/** Ends a staged file that was written in blocks or copied. */
export function finishContent(scene: Scene, upload: number, fd: number, digests: readonly Digest[]): WireFinished {
  const values = digestsOf(upload, digests).map((digest) => digest.digest())
  computing.delete(upload)
  return finish(scene, fd, values)
}

/** Forgets a file that will not be ended. */
export function dropContent(_scene: Scene, upload: number): void {
  computing.delete(upload)
}

const buffer = Buffer.alloc(256 * 1024)

/** Copies up to `length` bytes and digests them on the way; returns how many, 0 at the end of the source. */
export function copyDigested(
  _scene: Scene,
  upload: number,
  from: number,
  fromAt: number,
  fd: number,
  at: number,
  length: number,
  digests: readonly Digest[],
): number {
  const updated = digestsOf(upload, digests)
  let done = 0
  while (done < length) {
    const read = orFail(readAt(from, buffer, Math.min(buffer.length, length - done), fromAt + done), 'read')
    if (read === 0) break
    const bytes = buffer.subarray(0, read)
    writeWhole(fd, bytes, at + done)
    for (const digest of updated) digest.update(bytes)
    done += read
  }
  return done
}

/** Failures of copy_file_range that say nothing about the files. */
const unsupported = new Set([EXDEV, EINVAL, ENOSYS, EOPNOTSUPP, EPERM])

/** Copies up to `length` bytes in the kernel where that can be; returns how many, 0 at the end of the source. */
export function copySlice(
  scene: Scene,
  upload: number,
  from: number,
  fromAt: number,
  fd: number,
  at: number,
  length: number,
): number {
  const copied = copyRange(from, fromAt, fd, at, length)
  if (copied > 0) return copied
  // Some file systems answer 0 where they cannot copy, so the end of the source is for read to find.
  if (copied < 0 && !unsupported.has(copied)) orFail(copied, 'copy_file_range')
  return copyDigested(scene, upload, from, fromAt, fd, at, Math.min(length, 8 << 20), [])
}
