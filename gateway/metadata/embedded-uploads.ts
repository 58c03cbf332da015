import { createHash } from 'node:crypto'
import { type EmbeddedStore, maxKeyBytes } from '../embedded/store.ts'
import type { EmbeddedExpiry } from './embedded-expiry.ts'
import type { Upload, UploadQuery } from './metadata.ts'

/** Completed uploads answer repeated requests for so long. */
const keepCompletedMs = 3_600_000

/**
 * Open uploads: `u<id>` → upload, and for listing `U<bucket>\0<key>\0<id>` while it is not completed.
 */
export class EmbeddedUploads {
  readonly #store: EmbeddedStore
  readonly #expiry: EmbeddedExpiry

  constructor(store: EmbeddedStore, expiry: EmbeddedExpiry) {
    this.#store = store
    this.#expiry = expiry
  }

  create(upload: Upload): Promise<void> {
    return this.#store.write(() => {
      this.#store.put(`u${upload.id}`, upload)
      this.#store.put(indexKey(upload), null)
    })
  }

  get(id: string): Upload | undefined {
    this.#store.refresh()
    return this.#stored(id)
  }

  #stored(id: string): Upload | undefined {
    return this.#store.db.get(`u${id}`) as Upload | undefined
  }

  list(query: UploadQuery): Upload[] {
    this.#store.refresh()
    return query.bucket === undefined
      ? this.#listAll(query.afterId ?? '', query.limit)
      : this.#listBucket(query.bucket, query)
  }

  #listBucket(bucket: string, { prefix = '', afterKey = '', afterId, limit }: UploadQuery): Upload[] {
    const { db } = this.#store
    // `\0` sorts before every character of a key: what follows `afterKey` begins after all uploads of it.
    const after = afterId === undefined ? `${afterKey}\x01` : `${afterKey}\0${afterId}\0`
    const from = afterKey !== '' && compareBytes(after, prefix) > 0 ? after : prefix
    const within = cut(`U${bucket}\0${prefix}`)
    const page: Upload[] = []
    for (const key of db.getKeys({ start: cut(`U${bucket}\0${from}`), end: `U${bucket}\x01` })) {
      if (page.length >= limit || !key.startsWith(within)) break
      const upload = this.#stored(key.slice(key.lastIndexOf('\0') + 1))
      if (!upload?.key.startsWith(prefix)) continue
      if (afterKey === '' || isAfter(upload, afterKey, afterId)) page.push(upload)
    }
    return page
  }

  #listAll(afterId: string, limit: number): Upload[] {
    const page: Upload[] = []
    for (const { value } of this.#store.db.getRange({ start: `u${afterId}\0`, end: 'v' })) {
      const upload = value as Upload
      if (upload.state !== 'completed') page.push(upload)
      if (page.length >= limit) break
    }
    return page
  }

  replace(expected: Upload, next: Upload | undefined): Promise<boolean> {
    return this.#store.write(() => {
      const stored = this.#stored(expected.id)
      if (stored?.version !== expected.version) return false
      if (!next || next.state === 'completed') this.#store.remove(indexKey(stored))
      if (!next) {
        this.#store.remove(`u${stored.id}`)
        return true
      }
      this.#store.put(`u${stored.id}`, { ...next, version: expected.version + 1 })
      if (next.state === 'completed') {
        this.#expiry.put([`u${stored.id}`], (next.completedMs ?? Date.now()) + keepCompletedMs)
      }
      return true
    })
  }
}

/** An index key longer than lmdb allows is cut, and told apart by a hash: order then holds for its first bytes. */
function indexKey({ bucket, key, id }: Upload): string {
  const whole = `U${bucket}\0${key}\0${id}`
  if (Buffer.byteLength(whole) <= maxKeyBytes) return whole
  const hash = createHash('sha256').update(key).digest('base64url')
  return `${cut(`U${bucket}\0${key}`)}\0${hash}\0${id}`
}

/** The first characters that leave room for a hash and an upload id. */
function cut(text: string): string {
  const room = maxKeyBytes - 200
  if (Buffer.byteLength(text) <= room) return text
  // A character cut in two decodes to U+FFFD, which must not be left behind: it would change the order.
  return Buffer.from(text)
    .subarray(0, room)
    .toString()
    .replace(/\uFFFD$/, '')
}

function isAfter(upload: Upload, afterKey: string, afterId: string | undefined): boolean {
  const order = compareBytes(upload.key, afterKey)
  return order > 0 || (order === 0 && afterId !== undefined && upload.id > afterId)
}

function compareBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b))
}
