import type { Identity } from '../identity/identity.ts'
import type { Staged, Target } from '../namespace/namespace.ts'
import type { Digest } from '../s3/checksum.ts'
import { S3Error } from '../s3/errors.ts'
import type { IncomingContent } from '../s3/incoming-content.ts'
import { writeFolder } from './folder.ts'
import type { NewObject, WrittenObject } from './objects.ts'
import { findObject } from './read.ts'
import { recordOf } from './record.ts'
import { makeObject } from './stage.ts'
import { isFolder, type Stores } from './stores.ts'

/**
 * Receives a body and makes it the object. Small bodies are collected and staged in one step of the file system; larger
 * ones, and those whose client waits for 100 Continue, are staged first, so that a refused upload sends no byte.
 */
export async function writeObject(
  stores: Stores,
  as: Identity,
  target: Target,
  content: IncomingContent,
  object: NewObject,
): Promise<WrittenObject> {
  if (isFolder(target)) return writeFolder(stores, as, target, content, object)
  const digests = digestsOf(content)
  const inline =
    !object.stageFirst && content.length !== undefined && content.length <= stores.config.inlineSize
      ? await collect(content)
      : undefined
  if (inline === undefined) await refuseEarly(stores, as, target, object)
  return makeObject(stores, as, target, {
    displace: object.displace,
    stage: (temp, overFolder) =>
      stores.namespace.stage(as, target, { ...stageOptions(digests, inline, temp), overFolder }),
    async complete(staged) {
      if (inline === undefined) await receive(content, staged)
      const file = await staged.finish({ sync: false })
      content.verify(file.digests, file.size)
      return { file, object: { ...object, record: recordOf(object.record, file, content) } }
    },
  })
}

function stageOptions(digests: readonly Digest[], bytes: Buffer | undefined, temp: string | undefined) {
  return { digests, ...(bytes !== undefined && { bytes }), ...(temp !== undefined && { temp }) }
}

/** The MD5 is the ETag; the rest is what the client wants compared or kept. */
function digestsOf(content: IncomingContent): readonly Digest[] {
  return content.digests.includes('MD5') ? content.digests : ['MD5', ...content.digests]
}

async function collect(content: IncomingContent): Promise<Buffer> {
  let first: Buffer | undefined
  let more: Buffer[] | undefined
  for await (const bytes of content.bytes()) {
    if (first === undefined) first = bytes
    else if (more === undefined) more = [first, bytes]
    else more.push(bytes)
  }
  return more === undefined ? (first ?? Buffer.alloc(0)) : Buffer.concat(more)
}

async function receive(content: IncomingContent, staged: Staged): Promise<void> {
  for await (const bytes of content.bytes()) await staged.write(bytes)
}

/** A condition that fails now may fail now: the write could have been asked for a moment earlier. Saves sending a body. */
async function refuseEarly(stores: Stores, as: Identity, target: Target, object: NewObject): Promise<void> {
  if (object.condition === undefined && !object.ifAbsent) return
  const current = await findObject(stores, as, target)
  if (object.ifAbsent && current !== undefined) throw new S3Error('PreconditionFailed')
  object.condition?.(current)
}
