import { LRUCache } from 'lru-cache'
import type { EmbeddedStore } from '../embedded/store.ts'
import type { FileId } from '../namespace/namespace.ts'
import type { ObjectRecord, Tag } from '../s3/object-record.ts'
import type { EmbeddedExpiry } from './embedded-expiry.ts'
import type { ObjectMetadata } from './metadata.ts'

/** Bytes of records this process keeps decoded. */
const cacheBytes = 24 * 2 ** 20

/**
 * `final` records never change under their id, so every process may cache them; others (folders: same id for life)
 * are read from the store each time, as tags are.
 */
type RecordValue = readonly [record: ObjectRecord, final?: 1]

/** Object records `r<id>`, tags `t<id>` and marks of deleted folders `d<id>`. */
export class EmbeddedObjects {
  readonly #store: EmbeddedStore
  readonly #expiry: EmbeddedExpiry
  readonly #records = new LRUCache<FileId, ObjectRecord>({ maxSize: cacheBytes, sizeCalculation: recordBytes })

  constructor(store: EmbeddedStore, expiry: EmbeddedExpiry) {
    this.#store = store
    this.#expiry = expiry
  }

  get(id: FileId): ObjectMetadata | undefined {
    const record = this.#record(id)
    const tags = (this.#store.get(`t${id}`) as readonly Tag[] | undefined) ?? noTags
    return record === undefined && tags.length === 0 ? undefined : { record, tags }
  }

  records(ids: readonly FileId[]): (ObjectRecord | undefined)[] {
    return ids.map((id) => this.#record(id))
  }

  #record(id: FileId): ObjectRecord | undefined {
    const cached = this.#records.get(id)
    if (cached) return cached
    const value = this.#store.get(`r${id}`) as RecordValue | undefined
    if (!value) return undefined
    const record = Object.freeze(value[0])
    if (value[1]) this.#records.set(id, record)
    return record
  }

  /** To be called in a step. */
  put(id: FileId, record: ObjectRecord, tags: readonly Tag[], final: boolean): void {
    const value: RecordValue = final ? [record, 1] : [record]
    this.#store.put(`r${id}`, value)
    if (tags.length > 0) this.#store.put(`t${id}`, tags)
    else if (!final) this.#store.remove(`t${id}`)
  }

  putTags(id: FileId, tags: readonly Tag[]): Promise<void> {
    return this.#store.write(() => {
      if (tags.length > 0) this.#store.put(`t${id}`, tags)
      else this.#store.remove(`t${id}`)
    })
  }

  expire(ids: readonly FileId[], dueMs: number): Promise<void> {
    return this.#store.write(() => this.#expiry.put(ids.flatMap(keysOf), dueMs))
  }

  /** Like `expire` after the usual grace period, without anything to wait for. */
  expireLater(id: FileId): void {
    this.#expiry.collect(keysOf(id))
  }

  markDeleted(folder: FileId, deleted: boolean): Promise<void> {
    return this.#store.write(() => {
      if (deleted) this.#store.put(`d${folder}`, null)
      else this.#store.remove(`d${folder}`)
    })
  }

  isMarkedDeleted(folder: FileId): boolean {
    return this.#store.has(`d${folder}`)
  }
}

/** All that may be kept of a file or folder. */
function keysOf(id: FileId): string[] {
  return [`r${id}`, `t${id}`, `d${id}`]
}

const noTags: readonly Tag[] = Object.freeze([])

/** About what the strings of a record take in memory, with the objects around them. */
function recordBytes(record: ObjectRecord, id: FileId): number {
  let bytes = 300 + id.length + (record.parts?.length ?? 0) * 8
  for (const value of Object.values(record)) {
    if (typeof value === 'string') bytes += value.length + 24
    else for (const [name, text] of Object.entries(value)) bytes += name.length + String(text).length + 64
  }
  return bytes
}
