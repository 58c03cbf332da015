import { open, type RootDatabase, type RootDatabaseOptionsWithPath } from 'lmdb'
import type { LoggedChange } from './log.ts'

export type Db = RootDatabase<unknown, string>

/** Only address space: the file grows as needed. */
const mapBytes = 64 * 2 ** 30
const pageBytes = 4096

/** Opens an LMDB file: values are MessagePack, keys are strings compared by their UTF-8 bytes; commits do not wait. */
export function openFile(path: string): Db {
  const options: RootDatabaseOptionsWithPath & { permissionsMode: number } = {
    path,
    noSubdir: true,
    encoding: 'msgpack',
    keyEncoder,
    mapSize: mapBytes,
    pageSize: pageBytes,
    maxReaders: 1024,
    noSync: true,
    overlappingSync: false,
    noMemInit: true,
    permissionsMode: 0o600,
  }
  return open<unknown, string>(options)
}

/** How much of the file is in use, its free pages included, as of the last commit. */
export function usedBytes(db: Db): number {
  const { lastPageNumber } = (db as unknown as { env: { info(): { lastPageNumber: number } } }).env.info()
  return (lastPageNumber + 1) * pageBytes
}

/** Changes as bytes, in the encoding of the values themselves. The bytes are good until the next call. */
export function encodeChanges(db: Db, changes: readonly LoggedChange[]): Uint8Array {
  return coder(db).encode(changes)
}

export function decodeChanges(db: Db, bytes: Uint8Array): LoggedChange[] {
  return coder(db).decode(bytes) as LoggedChange[]
}

/** lmdb's own MessagePack, which its types do not mention. */
function coder(db: Db): { encode(value: unknown): Uint8Array; decode(bytes: Uint8Array): unknown } {
  return (db as unknown as { encoder: ReturnType<typeof coder> }).encoder
}

/** Strings go straight into lmdb's key buffer, without a Buffer of their own. */
const keyEncoder = {
  writeKey: (key: string, target: Buffer, start: number): number => start + target.write(key, start, 'utf8'),
  readKey: (source: Buffer, start: number, end: number): string =>
    Buffer.from(source.buffer, source.byteOffset + start, end - start).toString('utf8'),
}
