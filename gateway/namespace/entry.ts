import { stat } from './libc.ts'
import type { Entry, FileId } from './namespace.ts'

/** An entry as it travels between threads: folder, id, size, modified, uid, links. */
export type WireEntry = readonly [boolean, FileId, number, number, number, number]

export function entryOf([isFolder, id, size, modifiedMs, uid, links]: WireEntry): Entry {
  return { kind: isFolder ? 'folder' : 'file', id, size, modifiedMs, uid, links }
}

/** The file or folder that was looked at last (see `stat` in libc.ts). */
export function entryOfStat(): WireEntry {
  const isFolder = stat.isDirectory
  return [isFolder, isFolder ? folderId() : fileId(), isFolder ? 0 : stat.size, modifiedMs(), stat.uid, stat.links]
}

export function modifiedMs(): number {
  return stat.modifiedSeconds * 1000 + Math.floor(stat.modifiedNanoseconds / 1e6)
}

/** Where the file system knows no birth time, the change time of the directory's inode is no stand-in: it moves. */
export function createdMs(): number {
  if (!stat.hasBirthTime) return modifiedMs()
  return stat.birthSeconds * 1000 + Math.floor(stat.birthNanoseconds / 1e6)
}

/** Identity of the content of the file that was looked at last. */
export function fileId(): FileId {
  return `${stat.inodeText}.${stat.modifiedSeconds.toString(36)}.${stat.modifiedNanoseconds.toString(36)}.${stat.size.toString(36)}`
}

/** Identity of the folder that was looked at last: by birth time too, as inodes are used again. */
export function folderId(): FileId {
  if (!stat.hasBirthTime) return `d${stat.inodeText}`
  return `d${stat.inodeText}.${stat.birthSeconds.toString(36)}.${stat.birthNanoseconds.toString(36)}`
}

/** Identity that the file looked at last will have with another modification time (ns). */
export function fileIdAt(ns: bigint): FileId {
  const seconds = ns / 1_000_000_000n
  return `${stat.inodeText}.${seconds.toString(36)}.${(ns % 1_000_000_000n).toString(36)}.${stat.size.toString(36)}`
}

/** Modification time (ns) of a file's identity; undefined when it is none. */
export function modifiedOf(id: FileId): bigint | undefined {
  const match = /^[0-9a-z]+\.([0-9a-z]+)\.([0-9a-z]+)\.[0-9a-z]+$/.exec(id)
  if (match === null) return undefined
  return BigInt(Number.parseInt(match[1] ?? '', 36)) * 1_000_000_000n + BigInt(Number.parseInt(match[2] ?? '', 36))
}
