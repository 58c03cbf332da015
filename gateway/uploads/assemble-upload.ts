import type { Identity } from '../identity/identity.ts'
import type { Upload } from '../metadata/metadata.ts'
import type { Staged, StagedFile, Target } from '../namespace/namespace.ts'
import { S3Error } from '../s3/errors.ts'
import { displaceUpload } from './abort-upload.ts'
import { refuseByCondition } from './completion-condition.ts'
import { assembled, giveBack, take } from './completion-state.ts'
import { directoryOf, partOf } from './find-upload.ts'
import { finishedRecord, neededDigests } from './finished-record.ts'
import { checkDigests, type ListedPart, listedParts, type StoredPartFile } from './part-list.ts'
import type { CompletionJob } from './queues.ts'
import { readDigests, replaced } from './read-digests.ts'
import { storedParts } from './stored-parts.ts'
import { isDurable, type Stores } from './stores.ts'

export interface AssembledUpload {
  readonly upload: Upload
  readonly staged: Staged
  /** After a refusal to publish: gives a part that was adopted its record back, as it has a new identity. */
  restore(): Promise<void>
}

/**
 * Makes one file of the listed parts and records it as the one to publish. Undefined when the upload's state has changed
 * meanwhile. After any failure the upload is open again.
 */
export async function assembleUpload(
  stores: Stores,
  as: Identity,
  job: CompletionJob,
  upload: Upload,
  signal: AbortSignal,
): Promise<AssembledUpload | undefined> {
  const { completion } = job
  const target = { bucket: upload.bucket, key: upload.key }
  const temp = stores.namespace.tempName(target)
  const taken = await take(stores, upload, job.job, temp)
  if (taken === undefined) return undefined
  try {
    const stored = await storedParts(stores, as, taken, completion)
    const parts = listedParts(taken, completion, stored, stores.config.minPartSize)
    for (const [n, part] of parts.entries()) {
      await readDigests(stores, as, taken, part, neededDigests(taken, completion, n), signal)
    }
    checkDigests(taken, completion, parts)
    const record = finishedRecord(taken, completion, parts)
    await refuseByCondition(stores, as, taken, completion)
    const stage = () => stageParts(stores, as, taken, target, parts, stored, { temp, signal })
    const { staged, file, restore } = await displacing(stores, as, target, stage)
    try {
      return { upload: await assembled(stores, taken, { temp, id: file.id }, record), staged, restore }
    } catch (error) {
      await staged.discard()
      await restore()
      throw error
    }
  } catch (error) {
    await giveBack(stores, taken)
    throw error
  }
}

/** The directory of another upload gives way to an object of its name, as for any write (spec §1.4). */
async function displacing<T>(stores: Stores, as: Identity, target: Target, stage: () => Promise<T>): Promise<T> {
  try {
    return await stage()
  } catch (error) {
    const inTheWay = error instanceof S3Error && error.code === 'ExistingObjectIsDirectory'
    if (!inTheWay || !(await displaceUpload(stores, as, target))) throw error
    return stage()
  }
}

interface StagedParts extends Pick<AssembledUpload, 'staged' | 'restore'> {
  readonly file: StagedFile
}

/** A single part is published as it is; more are concatenated. */
async function stageParts(
  stores: Stores,
  as: Identity,
  upload: Upload,
  target: Target,
  parts: readonly ListedPart[],
  stored: readonly StoredPartFile[],
  options: { temp: string; signal: AbortSignal },
): Promise<StagedParts> {
  const [only] = parts
  const adopted =
    parts.length === 1 && only ? await adoptPart(stores, as, upload, target, only, stored, options.temp) : undefined
  if (adopted !== undefined) return adopted
  const sources = parts.map(({ number }) => partOf(upload, number))
  const staged = await stores.namespace.assemble(as, sources, target, options)
  return finishing(staged, async () => {
    const file = await staged.finish({ sync: isDurable(stores.config) })
    await refuseReplaced(stores, as, upload, parts)
    return { staged, file, restore: async () => {} }
  })
}

async function adoptPart(
  stores: Stores,
  as: Identity,
  upload: Upload,
  target: Target,
  part: ListedPart,
  stored: readonly StoredPartFile[],
  temp: string,
): Promise<StagedParts | undefined> {
  const source = partOf(upload, part.number)
  const staged = await stores.namespace.adopt(as, source, target, { temp, expected: part.entry.id })
  if (staged === undefined) return undefined
  return finishing(staged, async () => {
    const file = await staged.finish({ sync: isDurable(stores.config) })
    const record = stored.find(({ number }) => number === part.number)?.record
    return {
      staged,
      file,
      async restore() {
        if (record === undefined) return
        await stores.namespace.renew(as, source, file.id, (id) => stores.metadata.putRecord(id, record, []))
      },
    }
  })
}

async function finishing(staged: Staged, finish: () => Promise<StagedParts>): Promise<StagedParts> {
  try {
    return await finish()
  } catch (error) {
    await staged.discard()
    throw error
  }
}

/** A part written late, by a request that began before the completion, must not get under another part's ETag. */
async function refuseReplaced(
  stores: Stores,
  as: Identity,
  upload: Upload,
  parts: readonly ListedPart[],
): Promise<void> {
  const now = await stores.namespace.parts(as, directoryOf(upload))
  const ids = new Map(now.map(({ number, entry }) => [number, entry.id]))
  for (const { number, entry } of parts) if (ids.get(number) !== entry.id) throw replaced(number)
}
