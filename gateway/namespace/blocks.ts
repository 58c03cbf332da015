/**
 * Memory for contents on their way to a file: blocks that travel to a thread and come back. The more uploads there are,
 * the smaller they are, so that all together stay bounded.
 */
const sizes = [
  { uploads: 16, size: 512 * 1024 },
  { uploads: 128, size: 128 * 1024 },
  { uploads: Number.POSITIVE_INFINITY, size: 32 * 1024 },
]
/** Bytes of blocks kept for the next upload. */
const mostKept = 16 * 1024 * 1024

const kept = new Map<number, ArrayBuffer[]>()
let keptBytes = 0
let uploads = 0

/** Counts an upload until the returned function is called. */
export function enterUpload(): () => void {
  let isOpen = true
  uploads += 1
  return () => {
    if (isOpen) uploads -= 1
    isOpen = false
  }
}

export function takeBlock(): ArrayBuffer {
  const size = sizes.find((candidate) => uploads <= candidate.uploads)?.size ?? 32 * 1024
  const block = kept.get(size)?.pop()
  if (block === undefined) return new ArrayBuffer(size)
  keptBytes -= size
  return block
}

export function giveBlock(block: ArrayBuffer): void {
  const size = block.byteLength
  if (size === 0 || keptBytes + size > mostKept) return
  keptBytes += size
  const blocks = kept.get(size)
  if (blocks === undefined) kept.set(size, [block])
  else blocks.push(block)
}
