import * as lmdb from 'lmdb'
import { type Db, openFile } from './file.ts'

/** A reader that is not used for so long lets go of its snapshot, whose pages could not be used again otherwise. */
const letGoMs = 50

/**
 * Reads single keys, always as of the newest commit of any process. lmdb's own reads stay at the snapshot of the first
 * one until a timer fires, which is stale by a millisecond or more; asking it to forget that costs 8 µs a read, since
 * it sets the timer each time. This keeps a read transaction of its own (2 µs), so it opens the file once more.
 */
export class Reader {
  readonly #db: Db
  readonly #transaction: lmdb.Transaction & { readonly address: number }
  readonly #options: { readonly transaction: lmdb.Transaction }
  #letGo: NodeJS.Timeout | undefined

  constructor(path: string) {
    this.#db = openFile(path)
    this.#transaction = this.#db.useReadTransaction() as lmdb.Transaction & { readonly address: number }
    this.#options = { transaction: this.#transaction }
    native.resetTxn(this.#transaction.address)
  }

  get(key: string): unknown {
    this.#renew()
    return this.#db.get(key, this.#options)
  }

  has(key: string): boolean {
    this.#renew()
    return this.#db.doesExist(key, undefined, this.#options)
  }

  /** Every read begins the transaction again if it was reset before. */
  #renew(): void {
    native.resetTxn(this.#transaction.address)
    this.#letGo ??= setTimeout(() => {
      this.#letGo = undefined
      native.resetTxn(this.#transaction.address)
    }, letGoMs).unref()
  }

  async close(): Promise<void> {
    clearTimeout(this.#letGo)
    this.#transaction.done()
    await this.#db.close()
  }
}

/** Exported by lmdb, but not by its types. */
const native = (lmdb as unknown as { nativeAddon: { resetTxn(address: number): void } }).nativeAddon
