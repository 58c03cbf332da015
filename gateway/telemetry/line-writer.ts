import { fstatSync, write, writeSync } from 'node:fs'

/** Bytes kept for a reader that is too slow; more lines are dropped and counted. */
const maxPendingBytes = 16 * 2 ** 20
/** POSIX PIPE_BUF: up to so many bytes reach a pipe in one piece, whoever else writes to it. */
const pipeBytes = 4096
const fileBytes = 65536

/**
 * Writes lines to a descriptor in batches, without blocking the event loop. Processes that share a pipe must not tear
 * each other's lines, so with `shared` a batch for a pipe is never larger than what the kernel keeps in one piece.
 */
export class LineWriter {
  readonly #fd: number
  readonly #batchBytes: number
  #lines: string[] = []
  #pending = 0
  #writing: Buffer | undefined
  #scheduled = false
  dropped = 0

  constructor(fd: number, shared: boolean) {
    this.#fd = fd
    this.#batchBytes = shared && isPipe(fd) ? pipeBytes : fileBytes
  }

  /** `line` ends with a newline. */
  write(line: string): void {
    if (this.#pending > maxPendingBytes) {
      this.dropped++
      return
    }
    this.#lines.push(line)
    this.#pending += line.length
    if (this.#scheduled || this.#writing) return
    this.#scheduled = true
    // Lines of requests that end within a few milliseconds of each other go out together.
    setTimeout(() => {
      this.#scheduled = false
      this.#next()
    }, 10)
  }

  /** Writes what is pending at once; for the end of the process. */
  flush(): void {
    const rest = [...(this.#writing ? [this.#writing] : []), ...this.#lines.map((line) => Buffer.from(line))]
    this.#writing = undefined
    this.#lines = []
    this.#pending = 0
    for (let bytes of rest) {
      // A full pipe answers EAGAIN: try for a moment, then leave; an exit must not hang on a reader that is gone.
      for (let attempt = 0; bytes.length > 0 && attempt < 100; attempt++) {
        try {
          bytes = bytes.subarray(writeSync(this.#fd, bytes))
        } catch (error) {
          if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') return
          Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10)
        }
      }
    }
  }

  #next(): void {
    if (this.#writing || this.#lines.length === 0) return
    this.#writing = this.#batch()
    this.#send(this.#writing)
  }

  #batch(): Buffer {
    let bytes = 0
    let count = 0
    for (; count < this.#lines.length; count++) {
      const line = this.#lines[count] as string
      const size = Buffer.byteLength(line)
      if (count > 0 && bytes + size > this.#batchBytes) break
      bytes += size
    }
    const lines = this.#lines.splice(0, count)
    for (const line of lines) this.#pending -= line.length
    return Buffer.from(lines.join(''))
  }

  #send(bytes: Buffer): void {
    write(this.#fd, bytes, (error, written) => {
      if (this.#writing === undefined) return
      if (error?.code === 'EAGAIN') {
        setTimeout(() => this.#send(bytes), 10)
        return
      }
      if (!error && written < bytes.length) {
        this.#writing = bytes.subarray(written)
        this.#send(this.#writing)
        return
      }
      this.#writing = undefined
      this.#next()
    })
  }
}

function isPipe(fd: number): boolean {
  try {
    const kind = fstatSync(fd)
    return kind.isFIFO() || kind.isSocket()
  } catch {
    return false
  }
}
