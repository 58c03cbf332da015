import type { Identity } from '../identity/identity.ts'
import type { Upload } from '../metadata/metadata.ts'
import type { Staged, StagedFile, Target } from '../namespace/namespace.ts'
import { S3Error } from '../s3/errors.ts'
import { displaceUpload } from './abort-upload.ts'
import { refuseByCondition } from './completion-condition.ts'
import { assembled, giveBack, refuseRivalry, take } from './completion-state.ts'
import { directoryOf, partOf } from './find-upload.ts'
import { finishedRecord, neededDigests } from './finished-record.ts'
import { checkDigests, type ListedPart, listedParts } from './part-list.ts'
import type { CompletionJob } from './queues.ts'
import { readDigests, replaced } from './read-digests.ts'
import { storedParts } from './stored-parts.ts'
import { isDurable, type Stores } from './stores.ts'

export interface AssembledUpload {
  readonly upload: Upload
  /** The file, when it has been assembled here. */
  readonly staged?: Staged
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
    const stage = () => stageParts(stores, as, taken, target, parts, { temp, signal })
    const { staged, file } = await displacing(stores, as, target, stage)
    const next = await finishing(staged, () => assembled(stores, taken, { temp, id: file.id }, record))
    if (next !== undefined) return { upload: next, staged }
    await staged.discard()
  } catch (error) {
    // In other hands now, the upload decides what this error was worth: its parts may be gone because it is complete.
    if ((await giveBack(stores, taken)) !== undefined) throw error
  }
  await refuseRivalry(stores, taken.id)
  return undefined
}

/** The directory of another upload gives way to an object of its name, as for any write (spec §1.4). */
async function displacing<T>(stores: Stores, as: Identity, target: Target, stage: () => Promise<T>): Promise<T> {
  try {
    return await stage()
  } catch (error) {
    const inTheWay = error instanceof S3Error && error.code === 'ExistingObjectIsDirectory'
    const makeRoom = inTheWay ? await displaceUpload(stores, as, target) : undefined
    if (makeRoom === undefined) throw error
    await makeRoom()
    return stage()
  }
}

interface StagedParts {
  readonly staged: Staged
  readonly file: StagedFile
}

/** A single part is published as it is; more are concatenated. */
async function stageParts(
  stores: Stores,
  as: Identity,
  upload: Upload,
  target: Target,
  parts: readonly ListedPart[],
  options: { temp: string; signal: AbortSignal },
): Promise<StagedParts> {
  const sync = isDurable(stores.config)
  const adopted = await adoptOnly(stores, as, upload, target, parts, options.temp)
  if (adopted !== undefined) return { staged: adopted, file: await finishing(adopted, () => adopted.finish({ sync })) }
  const sources = parts.map(({ number }) => partOf(upload, number))
  const staged = await stores.namespace.assemble(as, sources, target, options)
  const file = await finishing(staged, async () => {
    const finished = await staged.finish({ sync })
    await refuseReplaced(stores, as, upload, parts)
    return finished
  })
  return { staged, file }
}

async function adoptOnly(
  stores: Stores,
  as: Identity,
  upload: Upload,
  target: Target,
  parts: readonly ListedPart[],
  temp: string,
): Promise<Staged | undefined> {
  const [part] = parts
  if (part === undefined || parts.length > 1) return undefined
  const options = { temp, expected: part.entry.id }
  return stores.namespace.adopt(as, partOf(upload, part.number), target, options)
}

/** Discards the file should the step fail. */
async function finishing<T>(staged: Staged, step: () => Promise<T>): Promise<T> {
  try {
    return await step()
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
