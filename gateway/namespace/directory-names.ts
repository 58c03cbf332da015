import { isListable, scanDirectory } from './directory-scan.ts'
import { takeNames, unwatchDirectory, watchDirectory } from './directory-watch.ts'
import { ENOENT, orFail } from './errno.ts'
import { realTime, stat, statAt, statOpen } from './libc.ts'
import type { Mount } from './mount.ts'
import { lastOf, perName, type SortedNames } from './sorted-names.ts'
import { type Slot, updateNames } from './updated-names.ts'

/** A stretch of a directory's names in order: those after `floor`, up to the last one here or, if `whole`, to the end. */
export interface DirectoryWindow {
  readonly names: SortedNames
  /** Undefined: from the first name on. */
  readonly floor: Buffer | undefined
  readonly whole: boolean
  /** Change time (ns) of the directory that this shows. */
  readonly changed: bigint
  /** The watch it was read under: what has changed since is reported. */
  readonly watch: number | undefined
}

/** Kept windows by directory, the least recently used first. */
const kept = new Map<string, DirectoryWindow>()
let keptBytes = 0
/** Directories that are being read by a step that has let others run. */
const reading = new Set<string>()
/** Directories that are worth watching when they have to be read once more. */
const changing = new Set<string>()
/** Directories that did not fit: they are read from where the listing is. */
const large = new Set<string>()

/** A directory is believed when its last change lies further back than the coarsest clock of a file system ticks. */
const settledAfter = 2_000_000_000n
/** Names kept of a directory that changes all the time, for each name of the page. */
const spareFactor = 4
/** A directory of fewer names is read again in no time. */
const worthWatching = 500

/**
 * Names of an open directory that come after `after`, at least `wanted` of them or all. They come from memory when the
 * directory's change time says that nothing has changed (the change time, since the modification time can be set back),
 * or when the kernel has reported all that has.
 */
export function* directoryNames(
  mount: Mount,
  fd: number,
  after: Buffer,
  wanted: number,
): Generator<undefined, DirectoryWindow> {
  orFail(statOpen(fd), 'statx')
  const directory: Directory = {
    fd,
    id: `${stat.device}:${stat.inodeText}`,
    isLocal: stat.device === mount.localDevice,
  }
  while (reading.has(directory.id)) yield
  const found = current(mount, directory)
  if (found !== undefined && covers(found, after)) return found
  reading.add(directory.id)
  try {
    return yield* readNames(mount, directory, after, wanted)
  } finally {
    reading.delete(directory.id)
  }
}

interface Directory {
  readonly fd: number
  readonly id: string
  /** Nobody changes it but through this machine's kernel. */
  readonly isLocal: boolean
}

/** What is kept of a directory, brought up to date; undefined when it must be read again. */
function current(mount: Mount, { fd, id }: Directory): DirectoryWindow | undefined {
  const found = kept.get(id)
  if (found === undefined) return undefined
  const touched = found.watch === undefined ? undefined : takeNames(id, found.watch)
  // With the watch went what made this window good, whatever the time says.
  if (found.watch !== undefined && touched === undefined) return undefined
  const isTouched = touched !== undefined && touched.size > 0
  const names = isTouched ? withNames(found, fd, touched) : found.names
  orFail(statOpen(fd), 'statx')
  if (!isTouched && stat.changed !== found.changed) return undefined
  // A change whose report is still to come may be in this time already: it has not been answered to anybody yet.
  const window = { ...found, names, changed: stat.changed }
  keep(mount, id, window)
  return window
}

/** Both forms of the names that came or went, as they are now. */
function withNames({ names, floor, whole }: DirectoryWindow, fd: number, touched: ReadonlySet<string>): SortedNames {
  const last = whole || names.count === 0 ? undefined : lastOf(names)
  const slots = [...touched]
    .map((text) => Buffer.from(text, 'latin1'))
    .filter(isListable)
    .flatMap((name) => slotsOf(fd, name))
    .filter(({ name }) => floor === undefined || Buffer.compare(name, floor) > 0)
    .filter(({ name }) => last === undefined || Buffer.compare(name, last) <= 0)
  return slots.length === 0 ? names : updateNames(names, slots)
}

const slash = Buffer.from('/')
const nul = Buffer.alloc(1)

function slotsOf(directory: number, name: Buffer): Slot[] {
  const result = statAt(directory, Buffer.concat([name, nul]))
  const isUncertain = result < 0 ? result !== ENOENT : stat.isSymlink
  const isFile = result === 0 && stat.isFile
  const isFolder = result === 0 && stat.isDirectory
  return [
    { name, isThere: isFile || isUncertain, isUncertain },
    { name: Buffer.concat([name, slash]), isThere: isFolder || isUncertain, isUncertain },
  ]
}

function covers({ floor, whole, names }: DirectoryWindow, after: Buffer): boolean {
  if (floor !== undefined && Buffer.compare(after, floor) < 0) return false
  return whole || (names.count > 0 && Buffer.compare(after, lastOf(names)) < 0)
}

function* readNames(
  mount: Mount,
  directory: Directory,
  after: Buffer,
  wanted: number,
): Generator<undefined, DirectoryWindow> {
  const { fd, id } = directory
  // Who must read a large directory a second time has it watched from before that on.
  const watching = directory.isLocal && changing.has(id) ? watchDirectory(id, fd) : undefined
  orFail(statOpen(fd), 'statx')
  const { changed } = stat
  const isSettled = realTime() + mount.clockOffset - changed >= settledAfter
  const isKept = isSettled || watching !== undefined
  const most = isKept ? Number.POSITIVE_INFINITY : wanted * spareFactor
  for (;;) {
    const floor = isKept && !large.has(id) ? undefined : after
    const { names, isCut, entries } = yield* scanDirectory(fd, floor, mount.listMemory, most)
    const window = {
      names,
      floor: floor === undefined ? undefined : Buffer.from(floor),
      whole: !isCut,
      changed,
      watch: watching,
    }
    if (isCut && isKept) remember(large, id)
    if (entries > worthWatching) remember(changing, id)
    if (!covers(window, after)) continue
    orFail(statOpen(fd), 'statx')
    if (watching !== undefined || (isSettled && stat.changed === changed)) keep(mount, id, window)
    return window
  }
}

function remember(set: Set<string>, id: string): void {
  if (set.size >= 10_000) set.clear()
  set.add(id)
}

function keep(mount: Mount, id: string, window: DirectoryWindow): void {
  drop(id)
  kept.set(id, window)
  keptBytes += sizeOf(window)
  for (const oldest of kept.keys()) {
    if (keptBytes <= mount.listMemory || oldest === id) break
    drop(oldest)
    unwatchDirectory(oldest)
  }
}

function drop(id: string): void {
  const window = kept.get(id)
  if (window === undefined) return
  kept.delete(id)
  keptBytes -= sizeOf(window)
}

/** With something for the objects themselves. */
function sizeOf({ names }: DirectoryWindow): number {
  return names.bytes.length + names.count * perName + 500
}
