/**
 * Names of a directory in byte order, compactly: the bytes one after the other, and where each begins. Directories have
 * a final slash here, which gives the order of full keys: `b-`, `b/`, `b0`.
 */
export interface SortedNames {
  readonly count: number
  readonly bytes: Buffer<ArrayBuffer>
  /** `count + 1` offsets into `bytes`. */
  readonly starts: Uint32Array<ArrayBuffer>
  /** 1 where the directory did not tell what the name stands for: both forms of the name are there then. */
  readonly uncertain: Uint8Array<ArrayBuffer>
}

/** Names as they come, to be sorted; the smallest are kept when they become too many. */
export interface NameHeap {
  readonly count: number
  /** Memory in use, in bytes. */
  readonly size: number
  add(source: Uint8Array, start: number, length: number, isFolder: boolean, isUncertain: boolean): void
  /** Sorts, keeps the smallest `most` and lets the rest go. */
  keep(most: number): SortedNames
  sorted(): SortedNames
}

const slash = 0x2f
/** Bytes of administration for each name. */
export const perName = 5

export function createNameHeap(): NameHeap {
  let bytes = Buffer.allocUnsafeSlow(4096)
  let starts = new Uint32Array(257)
  let uncertain = new Uint8Array(256)
  let count = 0
  let end = 0

  return {
    get count() {
      return count
    },
    get size() {
      return end + count * perName
    },
    add(source, start, length, isFolder, isUncertain) {
      if (end + length + 1 > bytes.length) bytes = grown(bytes, Buffer.allocUnsafeSlow(bytes.length * 2 + length))
      if (count + 1 >= starts.length) {
        starts = grown(starts, new Uint32Array(count * 2 + 1))
        uncertain = grown(uncertain, new Uint8Array(count * 2))
      }
      for (let at = 0; at < length; at += 1) bytes[end + at] = source[start + at] ?? 0
      end += length
      if (isFolder) {
        bytes[end] = slash
        end += 1
      }
      uncertain[count] = isUncertain ? 1 : 0
      count += 1
      starts[count] = end
    },
    keep(most) {
      const names = sortNames(bytes, starts, uncertain, count, Math.min(most, count))
      ;({ bytes, starts, uncertain, count } = names)
      end = starts[count] ?? 0
      return names
    },
    sorted: () => sortNames(bytes, starts, uncertain, count, count),
  }
}

function grown<T extends Uint32Array | Uint8Array>(from: T, to: T): T {
  to.set(from)
  return to
}

/** The smallest `most` of `count` names, in order, in memory of their own. */
function sortNames(
  bytes: Buffer<ArrayBuffer>,
  starts: Uint32Array,
  uncertain: Uint8Array,
  count: number,
  most: number,
): SortedNames {
  const order = new Uint32Array(count)
  for (let index = 0; index < count; index += 1) order[index] = index
  const depth = commonLength(bytes, starts, count)
  sortRange({ bytes, starts, order, scratch: new Float64Array(count) }, 0, count, depth)
  let length = 0
  for (let at = 0; at < most; at += 1) length += lengthOf(starts, order[at] ?? 0)
  const result: SortedNames = {
    count: most,
    bytes: Buffer.allocUnsafeSlow(Math.max(length, 1)),
    starts: new Uint32Array(most + 1),
    uncertain: new Uint8Array(most),
  }
  let end = 0
  for (let at = 0; at < most; at += 1) {
    const index = order[at] ?? 0
    const from = starts[index] ?? 0
    const to = starts[index + 1] ?? 0
    for (let from_ = from; from_ < to; from_ += 1) {
      result.bytes[end] = bytes[from_] ?? 0
      end += 1
    }
    result.starts[at + 1] = end
    result.uncertain[at] = uncertain[index] ?? 0
  }
  return result
}

/** Bytes that all names begin with: often many, and there is nothing in them to sort by. */
function commonLength(bytes: Buffer, starts: Uint32Array, count: number): number {
  const first = starts[0] ?? 0
  let common = count < 2 ? 0 : lengthOf(starts, 0)
  for (let index = 1; index < count && common > 0; index += 1) {
    const start = starts[index] ?? 0
    common = Math.min(common, lengthOf(starts, index))
    let at = 0
    while (at < common && bytes[start + at] === bytes[first + at]) at += 1
    common = at
  }
  return common
}

function lengthOf(starts: Uint32Array, index: number): number {
  return (starts[index + 1] ?? 0) - (starts[index] ?? 0)
}

interface Sorting {
  readonly bytes: Buffer
  readonly starts: Uint32Array
  readonly order: Uint32Array
  readonly scratch: Float64Array
}

/**
 * Sorts by a few bytes at a time: they and the place fit one number, and the engine sorts plain numbers natively. Names
 * that are the same so far are sorted by their next bytes. Names have no NUL, so 0 stands for the end of one.
 */
function sortRange(sorting: Sorting, from: number, to: number, depth: number): void {
  const count = to - from
  if (count < 24) {
    insertionSort(sorting, from, to, depth)
    return
  }
  const { order } = sorting
  const scale = 2 ** Math.ceil(Math.log2(count))
  const width = Math.floor((53 - Math.log2(scale)) / 8)
  const numbers = sorting.scratch.subarray(from, to)
  for (let at = 0; at < count; at += 1)
    numbers[at] = prefixOf(sorting, order[from + at] ?? 0, depth, width) * scale + at
  numbers.sort()
  const before = order.slice(from, to)
  let run = from
  let prefix = -1
  for (let at = 0; at < count; at += 1) {
    const number = numbers[at] ?? 0
    const place = number % scale
    order[from + at] = before[place] ?? 0
    const own = (number - place) / scale
    if (own === prefix) continue
    // The same scratch serves there: the run ends before the place that is read here.
    if (from + at - run > 1) sortRange(sorting, run, from + at, depth + width)
    run = from + at
    prefix = own
  }
  if (to - run > 1) sortRange(sorting, run, to, depth + width)
}

function prefixOf({ bytes, starts }: Sorting, index: number, depth: number, width: number): number {
  const start = (starts[index] ?? 0) + depth
  const end = starts[index + 1] ?? 0
  let value = 0
  for (let at = start; at < start + width; at += 1) value = value * 256 + (at < end ? (bytes[at] ?? 0) : 0)
  return value
}

function insertionSort({ bytes, starts, order }: Sorting, from: number, to: number, depth: number): void {
  for (let at = from + 1; at < to; at += 1) {
    const index = order[at] ?? 0
    let place = at
    while (place > from && isBefore(bytes, starts, index, order[place - 1] ?? 0, depth)) {
      order[place] = order[place - 1] ?? 0
      place -= 1
    }
    order[place] = index
  }
}

function isBefore(bytes: Buffer, starts: Uint32Array, a: number, b: number, depth: number): boolean {
  let atA = (starts[a] ?? 0) + depth
  let atB = (starts[b] ?? 0) + depth
  const endA = starts[a + 1] ?? 0
  const endB = starts[b + 1] ?? 0
  while (atA < endA && atB < endB) {
    const difference = (bytes[atA] ?? 0) - (bytes[atB] ?? 0)
    if (difference !== 0) return difference < 0
    atA += 1
    atB += 1
  }
  return atA === endA && atB < endB
}

/** Index of the first name that is greater than `key` (`orEqual`: or equal to it). */
export function search(names: SortedNames, key: Uint8Array, orEqual: boolean): number {
  let low = 0
  let high = names.count
  while (low < high) {
    const middle = (low + high) >>> 1
    const order = compareTo(names, middle, key)
    if (order > 0 || (orEqual && order === 0)) high = middle
    else low = middle + 1
  }
  return low
}

/** Negative when the name comes before `key`. */
export function compareTo({ bytes, starts }: SortedNames, index: number, key: Uint8Array): number {
  return bytes.compare(key, 0, key.length, starts[index], starts[index + 1])
}

/** Index of the first name after all that begin with `prefix`, which the name at `from` does. */
export function skipPrefix(names: SortedNames, prefix: Uint8Array, from: number): number {
  let low = from
  let high = names.count
  while (low < high) {
    const middle = (low + high) >>> 1
    if (startsWith(names, middle, prefix)) low = middle + 1
    else high = middle
  }
  return low
}

/** The greatest name; there must be one. It is a view of the names' memory. */
export function lastOf({ bytes, starts, count }: SortedNames): Buffer {
  return bytes.subarray(starts[count - 1] ?? 0, starts[count] ?? 0)
}

export function startsWith({ bytes, starts }: SortedNames, index: number, prefix: Uint8Array): boolean {
  const start = starts[index] ?? 0
  const end = Math.min(starts[index + 1] ?? 0, start + prefix.length)
  return end - start === prefix.length && bytes.compare(prefix, 0, prefix.length, start, end) === 0
}
