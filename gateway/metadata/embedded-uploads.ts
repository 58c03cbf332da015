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
    return this.#stored(id)
  }

  #stored(id: string): Upload | undefined {
    return this.#store.get(`u${id}`) as Upload | undefined
  }

  list(query: UploadQuery): Upload[] {
    return query.bucket === undefined
      ? this.#listAll(query.afterId ?? '', query.limit)
      : this.#listBucket(query.bucket, query)
  }

  #listBucket(bucket: string, { prefix = '', afterKey = '', afterId, limit }: UploadQuery): Upload[] {
    // `\0` sorts before every character of a key: what follows `afterKey` begins after all uploads of it.
    const after = afterId === undefined ? `${afterKey}\x01` : `${afterKey}\0${afterId}\0`
    const from = afterKey !== '' && compareBytes(after, prefix) > 0 ? after : prefix
    const within = cut(`U${bucket}\0${prefix}`)
    return this.#page(cut(`U${bucket}\0${from}`), `U${bucket}\x01`, limit, (key) => {
      if (!key.startsWith(within)) return null
      const upload = this.#stored(key.slice(key.lastIndexOf('\0') + 1))
      if (!upload?.key.startsWith(prefix)) return undefined
      return afterKey === '' || isAfter(upload, afterKey, afterId) ? upload : undefined
    })
  }

  #listAll(afterId: string, limit: number): Upload[] {
    return this.#page(`u${afterId}\0`, 'v', limit, (key) => {
      const upload = this.#stored(key.slice(1))
      return upload?.state === 'completed' ? undefined : upload
    })
  }

  /** Uploads found at the keys from `start` on, until there are enough or `find` answers null: there are no more. */
  #page(start: string, end: string, limit: number, find: (key: string) => Upload | undefined | null): Upload[] {
    const page: Upload[] = []
    for (let from = start; ; ) {
      const keys = this.#store.keys({ start: from, end, limit: Math.max(limit, 20) })
      for (const key of keys) {
        const upload = page.length < limit ? find(key) : null
        if (upload === null) return page
        if (upload) page.push(upload)
      }
      const last = keys.at(-1)
      if (last === undefined) return page
      from = `${last}\0`
    }
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
