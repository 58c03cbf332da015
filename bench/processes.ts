import { readdirSync, readFileSync, writeFileSync } from 'node:fs'

/** A process and all its descendants. */
export function processTree(root: number): number[] {
  const children = new Map<number, number[]>()
  for (const name of readdirSync('/proc')) {
    const pid = Number(name)
    if (!Number.isInteger(pid)) continue
    const parent = parentOf(pid)
    if (parent !== undefined) children.set(parent, [...(children.get(parent) ?? []), pid])
  }
  const tree = [root]
  for (const pid of tree) tree.push(...(children.get(pid) ?? []))
  return tree
}

function parentOf(pid: number): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])
  } catch {
    return undefined
  }
}

/** Bytes of memory: the sum and the largest of `VmRSS` (now) or `VmHWM` (the peak since `resetPeaks`). */
export function memory(pids: readonly number[], field: 'VmRSS' | 'VmHWM'): { sum: number; largest: number } {
  const sizes = pids.map((pid) => {
    try {
      return Number(new RegExp(`${field}:\\s+(\\d+) kB`).exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1] ?? 0)
    } catch {
      return 0
    }
  })
  return { sum: sizes.reduce((a, b) => a + b, 0) * 1024, largest: Math.max(...sizes) * 1024 }
}

/** Lets the peaks of memory begin anew: proc(5), clear_refs. */
export function resetPeaks(pids: readonly number[]): void {
  for (const pid of pids) writeFileSync(`/proc/${pid}/clear_refs`, '5')
}
