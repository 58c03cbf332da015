import { closeSync, fstatSync, openSync, writeSync } from 'node:fs'
import { type Db, usedBytes } from './file.ts'

/** The file is kept this much larger than what is used of it. */
const headroomBytes = 4 * 2 ** 20
/** A process looks again when it may have used so much; 16 processes together stay within the headroom. */
const lookEveryBytes = headroomBytes / 16
/** What a change may use: the pages from the root of the tree down to its leaf, most of which it shares with others. */
const bytesPerChange = 4 * 4096
const zeros = Buffer.alloc(2 ** 20)

/**
 * Room on the disk for the LMDB file, taken ahead of use by writing zeros at its end. lmdb ends the whole process when a
 * commit finds no space (seen with 3.5.6: `free(): invalid pointer`); zeros that find none end a transaction only.
 */
export class Room {
  readonly #db: Db
  readonly #file: number
  #leftBytes = 0

  constructor(path: string, db: Db) {
    this.#db = db
    this.#file = openSync(path, 'r+')
  }

  /**
   * To be called in a transaction before it commits. Throws ENOSPC, EDQUOT. With `reserve` (for what lets go of
   * something) the transaction may use half of the headroom when the disk is full.
   */
  ensure(changes: number, valueBytes: number, reserve: boolean): void {
    const needed = changes * bytesPerChange + valueBytes * 2
    this.#leftBytes -= needed
    if (this.#leftBytes > 0) return
    const used = usedBytes(this.#db)
    try {
      this.#grow(used + needed + headroomBytes)
      this.#leftBytes = lookEveryBytes
    } catch (error) {
      if (!reserve || fstatSync(this.#file).size < used + needed + headroomBytes / 2) throw error
    }
  }

  #grow(wanted: number): void {
    for (let size = fstatSync(this.#file).size; size < wanted; ) {
      size += writeSync(this.#file, zeros, 0, Math.min(zeros.length, wanted - size), size)
    }
  }

  close(): void {
    closeSync(this.#file)
  }
}
