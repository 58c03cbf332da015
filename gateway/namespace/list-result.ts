import { entryOf } from './entry.ts'
import type { ListPage } from './namespace.ts'
import { numbersPerEntry, type WirePage } from './steps/list-page.ts'

/** A page as it came from its thread. */
export function pageOf({ keys, ids, numbers, commonPrefixes, next }: WirePage): ListPage {
  const entryIds = split(ids)
  const contents = split(keys).map((key, index) => {
    const at = index * numbersPerEntry
    const [size = 0, modifiedMs = 0, uid = 0, links = 1] = numbers.subarray(at, at + numbersPerEntry)
    return { key, entry: entryOf([key.endsWith('/'), entryIds[index] ?? '', size, modifiedMs, uid, links]) }
  })
  return { contents, commonPrefixes: split(commonPrefixes), next }
}

function split(text: string): string[] {
  return text === '' ? [] : text.split('\0')
}
