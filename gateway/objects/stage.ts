import type { Identity } from '../identity/identity.ts'
import type { Staged, StagedFile, Target } from '../namespace/namespace.ts'
import { S3Error } from '../s3/errors.ts'
import type { Displace, FinishedObject, WrittenObject } from './objects.ts'
import { publishObject, settle } from './publish.ts'
import type { Stores } from './stores.ts'

/** How a new file comes about. */
export interface Making {
  /** Begins the file, under the given temporary name if there must be one, whether or not a folder is in its place. */
  stage(temp: string | undefined, overFolder: boolean): Promise<Staged>
  /** Gives it its content, checks it, and says what object it is to be. Whatever it throws discards the file. */
  complete(staged: Staged): Promise<{ readonly file: StagedFile; readonly object: FinishedObject }>
  /** See NewObject. */
  readonly displace?: Displace | undefined
}

/**
 * From nothing to an object: stage, complete, publish. Where temporary files cannot be nameless, the name is registered
 * as an intent before the file exists, so that a process that dies leaves nothing that is not known.
 */
export async function makeObject(stores: Stores, as: Identity, target: Target, making: Making): Promise<WrittenObject> {
  const temp = stores.namespace.features.tmpfile ? undefined : stores.namespace.tempName(target)
  const registered =
    temp === undefined ? undefined : await stores.metadata.begin({ path: temp, exclusive: false, temp, durable: false })
  try {
    const { staged, makeRoom } = await stage(making, temp)
    const { file, object } = await complete(making, staged)
    return await publishObject(stores, as, target, staged, file, { ...object, makeRoom })
  } finally {
    if (registered !== undefined) settle(registered)
  }
}

async function stage(
  making: Making,
  temp: string | undefined,
): Promise<{ readonly staged: Staged; readonly makeRoom?: () => Promise<void> }> {
  try {
    return { staged: await making.stage(temp, false) }
  } catch (error) {
    const inTheWay = error instanceof S3Error && error.code === 'ExistingObjectIsDirectory'
    const makeRoom = inTheWay ? await making.displace?.() : undefined
    if (makeRoom === undefined) throw error
    return { staged: await making.stage(temp, true), makeRoom }
  }
}

async function complete(making: Making, staged: Staged): ReturnType<Making['complete']> {
  try {
    return await making.complete(staged)
  } catch (error) {
    await staged.discard()
    throw error
  }
}
