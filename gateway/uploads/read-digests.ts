import { read } from 'node:fs'
import { promisify } from 'node:util'
import type { Identity } from '../identity/identity.ts'
import type { Upload } from '../metadata/metadata.ts'
import { createDigest, type Digest } from '../s3/checksum.ts'
import { S3Error } from '../s3/errors.ts'
import { partOf } from './find-upload.ts'
import type { ListedPart } from './part-list.ts'
import type { Stores } from './stores.ts'

const readBytes = promisify(read)
const chunkSize = 1024 * 1024

/**
 * Computes those of the wanted digests of a part that no record tells: of a file put or changed by a client of the file
 * system, or of a copied object. Throws OperationAborted when the part has been replaced meanwhile.
 */
export async function readDigests(
  stores: Stores,
  as: Identity,
  upload: Upload,
  part: ListedPart,
  wanted: readonly Digest[],
  signal: AbortSignal,
): Promise<void> {
  const missing = wanted.filter((digest) => !part.digests.has(digest))
  if (missing.length === 0) return
  const computing = missing.map((digest) => ({ digest, state: createDigest(digest) }))
  const opened = await stores.namespace.open(as, partOf(upload, part.number))
  try {
    if (opened.entry.id !== part.entry.id) throw replaced(part.number)
    if (opened.bytes !== undefined) for (const { state } of computing) state.update(opened.bytes)
    if (opened.file !== undefined) {
      const buffer = Buffer.allocUnsafe(Math.min(chunkSize, Math.max(1, part.entry.size)))
      for (let position = 0; position < part.entry.size; ) {
        signal.throwIfAborted()
        const { bytesRead } = await readBytes(opened.file.fd, buffer, 0, buffer.length, position)
        if (bytesRead === 0) throw replaced(part.number)
        for (const { state } of computing) state.update(buffer.subarray(0, bytesRead))
        position += bytesRead
      }
    }
  } finally {
    opened.file?.close()
  }
  for (const { digest, state } of computing) part.digests.set(digest, state.digest())
}

export function replaced(part: number): S3Error {
  return new S3Error('OperationAborted', `Part ${part} was replaced while the upload was completed. Complete it again.`)
}
