import { S3Error } from './errors.ts'
import type { XmlNode } from './xml/parse.ts'
import { childrenOf, malformedXml, readXml, requiredText, textOf } from './xml/read.ts'

/** Largest body of a DeleteObjects, in bytes: 1,000 keys of 1,024 bytes fit, however they are escaped. */
export const deleteMaxBytes = 8 * 1024 * 1024

const maxKeys = 1000

export interface KeyToDelete {
  /** Exactly as written, spaces and leading zeros included. */
  readonly key: string
  /** Why this one cannot be deleted: it names a version or a condition. To be reported as its Error element. */
  readonly refused: S3Error | undefined
}

/**
 * The body of a DeleteObjects: 1 to 1,000 keys. `quiet` is false unless the document says true (S3's default; the
 * reference has it the other way). Throws MalformedXML.
 */
export function readDelete(body: Uint8Array): { readonly keys: readonly KeyToDelete[]; readonly quiet: boolean } {
  const root = readXml(body, 'Delete')
  const keys = childrenOf(root, 'Object').map(readKey)
  if (keys.length === 0) throw malformedXml('It lists no Object.')
  if (keys.length > maxKeys) throw malformedXml(`It lists ${keys.length} objects; ${maxKeys} are allowed.`)
  return { keys, quiet: textOf(root, 'Quiet')?.trim().toLowerCase() === 'true' }
}

function readKey(object: XmlNode): KeyToDelete {
  const key = requiredText(object, 'Key')
  if (key === '') throw malformedXml('A Key is empty.')
  return { key, refused: refusal(object) }
}

function refusal(object: XmlNode): S3Error | undefined {
  const version = textOf(object, 'VersionId')?.trim()
  if (version !== undefined && version !== '' && version !== 'null') {
    return new S3Error(
      'InvalidArgument',
      'Invalid version id specified. There are no versions here: leave VersionId out.',
    )
  }
  for (const condition of ['ETag', 'LastModifiedTime', 'Size']) {
    if (textOf(object, condition) !== undefined) {
      return new S3Error('NotImplemented', `Deleting under a condition (${condition}) is not implemented.`)
    }
  }
  return undefined
}
