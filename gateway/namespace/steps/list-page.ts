import type { WireEntry } from '../entry.ts'
import type { ListQuery } from '../namespace.ts'
import type { Scene } from './step.ts'

/**
 * A page as it travels: keys, common prefixes and identities as text, separated by NUL; size, modification time, uid and
 * links of each key; and the key to go on after.
 */
export interface WirePage {
  readonly keys: string
  readonly ids: string
  readonly numbers: Float64Array<ArrayBuffer>
  readonly commonPrefixes: string
  readonly next: string | undefined
}

/** Numbers of each entry in `WirePage.numbers`. */
export const numbersPerEntry = 4

/** A page being filled. */
export interface Page {
  readonly query: ListQuery
  readonly after: Buffer
  readonly keys: string[]
  readonly entries: WireEntry[]
  readonly commonPrefixes: string[]
  /** Key or common prefix that was put on it last. */
  last: string
  /** There is more than the page can hold. */
  isFull: boolean
}

export function createPage(query: ListQuery): Page {
  const after = Buffer.from(query.after)
  return { query, after, keys: [], entries: [], commonPrefixes: [], last: '', isFull: false }
}

/** Whether one more has room; asked only when there is one more. */
export function hasRoom(page: Page): boolean {
  if (page.keys.length + page.commonPrefixes.length < page.query.maxKeys) return true
  page.isFull = true
  return false
}

/** False when there was no room. */
export function addKey(page: Page, key: string, entry: WireEntry): boolean {
  if (!hasRoom(page)) return false
  page.keys.push(key)
  page.entries.push(entry)
  page.last = key
  return true
}

/** Adds a common prefix once, if it is not on an earlier page. False when there was no room. */
export function addPrefix(page: Page, prefix: string): boolean {
  if (prefix === page.last) return true
  if (page.after.length > 0 && Buffer.compare(Buffer.from(prefix), page.after) <= 0) return true
  if (!hasRoom(page)) return false
  page.commonPrefixes.push(prefix)
  page.last = prefix
  return true
}

export function finishPage(scene: Scene, page: Page): WirePage {
  const numbers = new Float64Array(page.entries.length * numbersPerEntry)
  let at = 0
  for (const [, , size, modifiedMs, uid, links] of page.entries) {
    numbers[at] = size
    numbers[at + 1] = modifiedMs
    numbers[at + 2] = uid
    numbers[at + 3] = links
    at += numbersPerEntry
  }
  scene.transfer(numbers.buffer)
  return {
    keys: page.keys.join('\0'),
    ids: page.entries.map(([, id]) => id).join('\0'),
    numbers,
    commonPrefixes: page.commonPrefixes.join('\0'),
    next: page.isFull ? page.last : undefined,
  }
}
