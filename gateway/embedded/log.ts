import {
  closeSync,
  fdatasync,
  fdatasyncSync,
  fsyncSync,
  openSync,
  readdirSync,
  readSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { crc32 } from 'node:zlib'

/** Where the next frame goes: number of the log, bytes in it, checksum of its last frame. Kept in the store itself. */
export type LogPosition = readonly [log: number, bytes: number, checksum: number]

/** One change, as logged: a key with its new value, or a key alone that is removed. */
export type LoggedChange = readonly [key: string, value: unknown] | readonly [key: string]

const syncFile = promisify(fdatasync)
/** Length and checksum. Each checksum goes on from the one before, so that left-overs of an older end are no frames. */
const headerBytes = 8
const maxFrameBytes = 2 ** 30

/**
 * What was committed, in order, in files `log-<n>`: one frame for each transaction. LMDB's own file is never waited for
 * (see EmbeddedStore), so after the loss of the machine it is worth nothing and is made anew from the last snapshot and
 * the logs that follow it (`recovery.ts`).
 *
 * Frames are written inside the transaction, at the position that the last committed one left: so the order is that of
 * the commits, whichever process made them, and what a killed process or an aborted transaction wrote is overwritten.
 */
export class Log {
  readonly #directory: string
  #current: { readonly number: number; readonly file: number } | undefined
  /** Files written to since they were last synced; those that are not current are closed then. */
  #unsynced = new Set<number>()

  constructor(directory: string) {
    this.#directory = directory
  }

  /** To be called in a transaction. Throws when there is no room; the position given stays the right one then. */
  append([number, bytes, checksum]: LogPosition, payload: Uint8Array): LogPosition {
    const file = this.#open(number)
    const frame = Buffer.allocUnsafe(headerBytes + payload.length)
    const next = crc32(payload, checksum)
    frame.writeUInt32LE(payload.length, 0)
    frame.writeUInt32LE(next, 4)
    frame.set(payload, headerBytes)
    for (let done = 0; done < frame.length; ) done += writeSync(file, frame, done, frame.length - done, bytes + done)
    this.#unsynced.add(file)
    return [number, bytes + frame.length, next]
  }

  /**
   * To be called in a transaction: begins the next log. The last one is complete on stable storage before, so that
   * what is in the next one never stands without it.
   */
  rotate([number]: LogPosition): LogPosition {
    fdatasyncSync(this.#open(number))
    closeSync(openSync(logPath(this.#directory, number + 1), 'w', 0o600))
    syncDirectory(this.#directory)
    return [number + 1, 0, 0]
  }

  /** Resolves when all frames written by this process before are on stable storage. */
  async sync(): Promise<void> {
    const files = [...this.#unsynced]
    this.#unsynced.clear()
    try {
      await Promise.all(files.map((file) => syncFile(file)))
    } catch (error) {
      for (const file of files) this.#unsynced.add(file)
      throw error
    }
    for (const file of files) {
      if (file !== this.#current?.file && !this.#unsynced.has(file)) closeSync(file)
    }
  }

  #open(number: number): number {
    if (this.#current?.number === number) return this.#current.file
    const old = this.#current?.file
    const file = openSync(logPath(this.#directory, number), 'r+')
    this.#current = { number, file }
    if (old !== undefined && !this.#unsynced.has(old)) closeSync(old)
    return file
  }

  async close(): Promise<void> {
    await this.sync().catch(() => {})
    if (this.#current) closeSync(this.#current.file)
  }
}

/** The frames of a log, up to the first that is not whole. */
export function* readLog(directory: string, number: number): Generator<Buffer> {
  const file = openSync(logPath(directory, number), 'r')
  try {
    const header = Buffer.alloc(headerBytes)
    let checksum = 0
    for (let position = 0; ; ) {
      if (readSync(file, header, 0, headerBytes, position) < headerBytes) return
      const length = header.readUInt32LE(0)
      if (length === 0 || length > maxFrameBytes) return
      const payload = Buffer.allocUnsafe(length)
      if (readSync(file, payload, 0, length, position + headerBytes) < length) return
      checksum = crc32(payload, checksum)
      if (checksum !== header.readUInt32LE(4)) return
      yield payload
      position += headerBytes + length
    }
  } finally {
    closeSync(file)
  }
}

/** Makes an empty log, durably. */
export function createLog(directory: string, number: number): LogPosition {
  closeSync(openSync(logPath(directory, number), 'w', 0o600))
  syncDirectory(directory)
  return [number, 0, 0]
}

/** Numbers of the logs that are there, in order. */
export function logNumbers(directory: string): number[] {
  return numbersOf(directory, 'log-')
}

export function numbersOf(directory: string, prefix: string): number[] {
  return readdirSync(directory)
    .filter((name) => name.startsWith(prefix) && /^\d+$/.test(name.slice(prefix.length)))
    .map((name) => Number(name.slice(prefix.length)))
    .sort((a, b) => a - b)
}

export function removeLogsBefore(directory: string, number: number): void {
  for (const old of logNumbers(directory)) if (old < number) rmSync(logPath(directory, old), { force: true })
}

export function syncDirectory(directory: string): void {
  const folder = openSync(directory, 'r')
  try {
    fsyncSync(folder)
  } finally {
    closeSync(folder)
  }
}

function logPath(directory: string, number: number): string {
  return join(directory, `log-${number}`)
}
