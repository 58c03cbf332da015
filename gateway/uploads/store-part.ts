import type { Identity } from '../identity/identity.ts'
import type { Upload } from '../metadata/metadata.ts'
import type { Target } from '../namespace/namespace.ts'
import type { CopySource, WrittenObject } from '../objects/objects.ts'
import type { ChecksumAlgorithm } from '../s3/checksum.ts'
import { S3Error } from '../s3/errors.ts'
import type { IncomingContent } from '../s3/incoming-content.ts'
import { directoryOf, findOpenUpload, partOf, refuseIfOver, withDirectory } from './find-upload.ts'
import type { Stores } from './stores.ts'
import type { StoreOptions } from './uploads.ts'

/** Stores a part, in place of one of the same number (spec §3), as any object is written. */
export async function storePart(
  stores: Stores,
  as: Identity,
  target: Target,
  id: string,
  part: number,
  content: IncomingContent,
  options: StoreOptions = {},
): Promise<WrittenObject> {
  const upload = await findDirectory(stores, as, target, id)
  const checked = withChecksum(content, upload.checksumAlgorithm)
  const written = await stores.objects.write(as, partOf(upload, part), checked, {
    record: {},
    tags: [],
    stageFirst: options.stageFirst,
  })
  await refuseIfOver(stores, as, upload)
  return written
}

/** Stores (a range of) another object as a part. */
export async function copyPart(
  stores: Stores,
  as: Identity,
  target: Target,
  id: string,
  part: number,
  source: CopySource,
): Promise<WrittenObject> {
  const upload = await findDirectory(stores, as, target, id)
  const written = await stores.objects.copy(as, source, partOf(upload, part), {
    record: {},
    tags: [],
    checksumAlgorithm: upload.checksumAlgorithm,
  })
  await refuseIfOver(stores, as, upload)
  return written
}

/** The write of a part would make its parent folders again, so that they are looked for first. */
async function findDirectory(stores: Stores, as: Identity, target: Target, id: string): Promise<Upload> {
  const upload = await findOpenUpload(stores, as, target, id)
  await withDirectory(stores, as, upload, () => stores.namespace.stat(as, directoryOf(upload)))
  return upload
}

/** The content with the checksum of its upload computed too, whether the client sends one or not. */
function withChecksum(content: IncomingContent, algorithm: ChecksumAlgorithm | undefined): IncomingContent {
  if (algorithm === undefined || content.checksumAlgorithm === algorithm) return content
  if (content.checksumAlgorithm !== undefined) {
    // As S3 words it.
    throw new S3Error(
      'InvalidRequest',
      `Checksum Type mismatch occurred, expected checksum Type: ${algorithm.toLowerCase()}, actual checksum Type: ${content.checksumAlgorithm.toLowerCase()}`,
    )
  }
  return {
    length: content.length,
    digests: content.digests.includes(algorithm) ? content.digests : [...content.digests, algorithm],
    checksumAlgorithm: algorithm,
    bytes: () => content.bytes(),
    verify: (computed, size) => content.verify(computed, size),
  }
}
