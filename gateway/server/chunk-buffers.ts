/** What all transfers of a process may hold together before they get the smallest buffers only. */
const budgetBytes = 64 * 2 ** 20
/** Kept for the next transfer instead of being given back to the allocator. */
const keptBytes = 16 * 2 ** 20
export const largestChunk = 2 ** 19
const sizes = [largestChunk, 256 * 1024, 64 * 1024] as const

/**
 * Buffers that file transfers read into, lent for one chunk at a time. Large ones cost the least CPU per byte; when many
 * transfers run at once they get smaller ones, so that memory stays bounded with thousands of clients.
 */
export class ChunkBuffers {
  readonly #free = new Map<number, Buffer[]>(sizes.map((size) => [size, []]))
  #freeBytes = 0
  #lentBytes = 0

  /** A buffer of at most 512 KiB, not larger than what `wanted` bytes need. Its content is whatever was there. */
  take(wanted: number): Buffer {
    const size =
      sizes.find((candidate, index) => {
        const smaller = sizes[index + 1] ?? 0
        return wanted > smaller && this.#lentBytes + candidate <= budgetBytes
      }) ?? 64 * 1024
    this.#lentBytes += size
    const buffer = this.#free.get(size)?.pop()
    if (buffer === undefined) return Buffer.allocUnsafeSlow(size)
    this.#freeBytes -= size
    return buffer
  }

  /** Takes back a whole buffer that `take` gave. */
  give(buffer: Buffer): void {
    this.#lentBytes -= buffer.length
    if (this.#freeBytes + buffer.length > keptBytes) return
    this.#freeBytes += buffer.length
    this.#free.get(buffer.length)?.push(buffer)
  }

  /** Counts a buffer as gone that `take` gave and that must not be used again. */
  forget(buffer: Buffer): void {
    this.#lentBytes -= buffer.length
  }
}
