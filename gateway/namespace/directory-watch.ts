import { addWatch, IN_IGNORED, IN_Q_OVERFLOW, openEvents, readEvents, removeWatch } from './libc-inotify.ts'

/**
 * Names that come and go in directories, as the kernel reports them (inotify): so that the listing of a large directory
 * that changes all the time is kept up to date instead of being read again. An event is there before the call that made
 * the change returns, whichever process of this machine made it; so this is for file systems of this machine only.
 */

/** Directories watched by one thread; each costs the kernel about a kilobyte. */
const mostWatched = 256
/** Names that may wait until the directory is listed; with more it is read again. */
const mostNames = 5000

interface Watched {
  /** Number of this watch among all there ever were. */
  readonly number: number
  /** The kernel's number, which it may use again. */
  readonly watch: number
  /** Names (bytes as latin1) that came or went since they were last taken. */
  names: Set<string>
}

/** By directory, the longest watched first. */
const watched = new Map<string, Watched>()
const directories = new Map<number, string>()
const buffer = Buffer.allocUnsafeSlow(64 * 1024)
let watches = 0
/** Undefined until it is needed; negative where there is none to be had. */
let events: number | undefined

/** Watches an open directory from now on; undefined where that cannot be: limits of the kernel, say. */
export function watchDirectory(id: string, directory: number): number | undefined {
  events ??= openEvents()
  if (events < 0) return undefined
  unwatchDirectory(id)
  const watch = addWatch(events, directory)
  if (watch < 0) return undefined
  watches += 1
  directories.set(watch, id)
  watched.set(id, { number: watches, watch, names: new Set() })
  for (const oldest of watched.keys()) {
    if (watched.size <= mostWatched) break
    unwatchDirectory(oldest)
  }
  return watches
}

export function unwatchDirectory(id: string): void {
  const found = watched.get(id)
  if (found === undefined || events === undefined) return
  watched.delete(id)
  directories.delete(found.watch)
  removeWatch(events, found.watch)
}

/** Names that came or went in a directory since the last call; undefined when that watch is no more. */
export function takeNames(id: string, number: number): ReadonlySet<string> | undefined {
  readAll()
  const found = watched.get(id)
  if (found === undefined || found.number !== number) return undefined
  const { names } = found
  if (names.size > 0) found.names = new Set()
  return names
}

function readAll(): void {
  if (events === undefined) return
  for (let length = readEvents(events, buffer); length > 0; length = readEvents(events, buffer)) {
    for (let at = 0; at < length; at += 16 + buffer.readUInt32LE(at + 12)) take(at)
  }
}

function take(at: number): void {
  const mask = buffer.readUInt32LE(at + 4)
  if ((mask & IN_Q_OVERFLOW) !== 0) {
    for (const id of [...watched.keys()]) unwatchDirectory(id)
    return
  }
  const id = directories.get(buffer.readInt32LE(at))
  const found = id === undefined ? undefined : watched.get(id)
  if (id === undefined || found === undefined) return
  if ((mask & IN_IGNORED) !== 0) {
    watched.delete(id)
    directories.delete(found.watch)
    return
  }
  const start = at + 16
  found.names.add(buffer.toString('latin1', start, buffer.indexOf(0, start)))
  if (found.names.size > mostNames) unwatchDirectory(id)
}
