import { S3Error } from './errors.ts'
import type { Tag } from './object-record.ts'
import { percentDecode } from './percent.ts'
import { childOf, childrenOf, malformedXml, readXml, requiredText } from './xml/read.ts'

/** Largest body of a tagging document, in bytes. */
export const taggingMaxBytes = 256 * 1024

const maxTags = 10
const maxKeyLength = 128
const maxValueLength = 256

/**
 * The tags of a `Tagging` document. `restrictions`: 10 tags, keys of 128 and values of 256 characters (spec §8).
 * Throws MalformedXML, InvalidTag.
 */
export function readTagging(body: Uint8Array, restrictions: boolean): Tag[] {
  const set = childOf(readXml(body, 'Tagging'), 'TagSet')
  if (set === undefined) throw malformedXml('Tagging has no TagSet.')
  const tags = childrenOf(set, 'Tag').map((tag) => ({
    key: requiredText(tag, 'Key'),
    value: requiredText(tag, 'Value'),
  }))
  return checkTags(tags, restrictions)
}

/**
 * The tags of an `x-amz-tagging` header, which has the form of a query string. `maxSize` is the longest value in bytes,
 * 0 for any (spec §8). Throws MetadataTooLarge, InvalidArgument, InvalidTag.
 */
export function taggingHeader(value: string | undefined, restrictions: boolean, maxSize: number): Tag[] {
  if (value === undefined || value === '') return []
  if (maxSize > 0 && value.length > maxSize) {
    throw new S3Error('MetadataTooLarge', `The x-amz-tagging header exceeds the allowed ${maxSize} bytes.`)
  }
  const tags: Tag[] = []
  for (const pair of value.trim().split('&')) {
    if (pair === '') continue
    const equals = pair.indexOf('=')
    const key = percentDecode(equals < 0 ? pair : pair.slice(0, equals), { plusIsSpace: true })
    const text = equals < 0 ? '' : percentDecode(pair.slice(equals + 1), { plusIsSpace: true })
    if (key === undefined || text === undefined) {
      throw new S3Error(
        'InvalidArgument',
        "The header 'x-amz-tagging' shall be encoded as UTF-8 then URLEncoded URL query parameters without tag name duplicates.",
        { details: { ArgumentName: 'x-amz-tagging', ArgumentValue: value } },
      )
    }
    tags.push({ key, value: text })
  }
  return checkTags(tags, restrictions)
}

function checkTags(tags: Tag[], restrictions: boolean): Tag[] {
  if (new Set(tags.map(({ key }) => key)).size !== tags.length) {
    throw new S3Error('InvalidTag', 'Cannot provide multiple Tags with the same key')
  }
  for (const { key, value } of tags) {
    if (notXml.test(key) || notXml.test(value)) {
      throw new S3Error('InvalidTag', 'A tag has a character that XML cannot carry.')
    }
  }
  if (!restrictions) return tags
  if (tags.length > maxTags)
    throw new S3Error('InvalidTag', `There can be at most ${maxTags} tags, not ${tags.length}.`)
  for (const { key, value } of tags) {
    if (key === '' || longerThan(key, maxKeyLength)) {
      throw new S3Error(
        'InvalidTag',
        `The TagKey you have provided is invalid: it must have 1 to ${maxKeyLength} characters.`,
      )
    }
    if (longerThan(value, maxValueLength)) {
      throw new S3Error(
        'InvalidTag',
        `The TagValue you have provided is invalid: it can have ${maxValueLength} characters.`,
      )
    }
  }
  return tags
}

const notXml = /[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/

/** In Unicode characters, not in UTF-16 units. */
function longerThan(text: string, characters: number): boolean {
  return text.length > characters && (text.length > 2 * characters || [...text].length > characters)
}
