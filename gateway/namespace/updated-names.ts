import { compareTo, type SortedNames, search } from './sorted-names.ts'

/** One form of a name (with a final slash for a folder), and whether the directory has it. */
export interface Slot {
  readonly name: Buffer
  readonly isThere: boolean
  readonly isUncertain: boolean
}

interface Edit extends Slot {
  /** Place of the name in the old names, or of the first one after it. */
  readonly index: number
  readonly wasThere: boolean
}

/** The names with some of them brought up to date, in new memory: what lies between them is copied in one go. */
export function updateNames(names: SortedNames, slots: readonly Slot[]): SortedNames {
  const edits = slots
    .map((slot) => editOf(names, slot))
    .filter(({ isThere, wasThere }) => isThere || wasThere)
    .sort((a, b) => a.index - b.index || Buffer.compare(a.name, b.name))
  const growth = edits.reduce(
    (sum, { name, isThere, wasThere }) => sum + name.length * (Number(isThere) - Number(wasThere)),
    0,
  )
  const count = edits.reduce((sum, { isThere, wasThere }) => sum + Number(isThere) - Number(wasThere), names.count)
  const result: SortedNames = {
    count,
    bytes: Buffer.allocUnsafeSlow(Math.max(1, (names.starts[names.count] ?? 0) + growth)),
    starts: new Uint32Array(count + 1),
    uncertain: new Uint8Array(count),
  }
  let from = 0
  let to = 0
  for (const { index, name, isThere, wasThere, isUncertain } of edits) {
    to = copy(names, from, index, result, to)
    from = wasThere ? index + 1 : index
    if (isThere) to = put(result, to, name, isUncertain)
  }
  copy(names, from, names.count, result, to)
  return result
}

function editOf(names: SortedNames, slot: Slot): Edit {
  const index = search(names, slot.name, true)
  return { ...slot, index, wasThere: index < names.count && compareTo(names, index, slot.name) === 0 }
}

/** Copies the names from `from` up to before `end`, to `to`; returns where the next goes. */
function copy(names: SortedNames, from: number, end: number, result: SortedNames, to: number): number {
  if (end <= from) return to
  const start = names.starts[from] ?? 0
  const offset = (result.starts[to] ?? 0) - start
  names.bytes.copy(result.bytes, start + offset, start, names.starts[end])
  result.uncertain.set(names.uncertain.subarray(from, end), to)
  for (let index = from + 1; index <= end; index += 1) {
    result.starts[to + index - from] = (names.starts[index] ?? 0) + offset
  }
  return to + end - from
}

function put(result: SortedNames, to: number, name: Buffer, isUncertain: boolean): number {
  const start = result.starts[to] ?? 0
  name.copy(result.bytes, start)
  result.starts[to + 1] = start + name.length
  result.uncertain[to] = isUncertain ? 1 : 0
  return to + 1
}
