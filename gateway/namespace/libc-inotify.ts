import koffi from 'koffi'
import { cstring, O_CLOEXEC, O_NONBLOCK } from './libc.ts'

/** inotify(7). Results are as in libc.ts: the call's value or the negative error number. */

const IN_MOVED_FROM = 0x40
const IN_MOVED_TO = 0x80
const IN_CREATE = 0x100
const IN_DELETE = 0x200
const IN_ONLYDIR = 0x0100_0000
/** In an event: its watch is no more. */
export const IN_IGNORED = 0x8000
/** In an event: others were lost. */
export const IN_Q_OVERFLOW = 0x4000

const libc = koffi.load(null)
const calls = {
  init: libc.func('int inotify_init1(int flags)'),
  add: libc.func('int inotify_add_watch(int fd, const void *path, uint32_t mask)'),
  remove: libc.func('int inotify_rm_watch(int fd, int watch)'),
  read: libc.func('long read(int fd, void *out, size_t length)'),
}

function checked(result: number): number {
  return result < 0 ? -koffi.errno() : result
}

/** A descriptor to read events from, which never waits. */
export function openEvents(): number {
  return checked(calls.init(O_NONBLOCK | O_CLOEXEC))
}

/** Has the coming and going of an open directory's entries reported; returns the number of the watch. */
export function addWatch(events: number, directory: number): number {
  const mask = IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_ONLYDIR
  return checked(calls.add(events, cstring(`/proc/self/fd/${directory}`), mask))
}

export function removeWatch(events: number, watch: number): number {
  return checked(calls.remove(events, watch))
}

/** Reads events: number of the watch (4 bytes), mask (4), cookie (4), length of the name (4), the name and NULs. */
export function readEvents(events: number, out: Uint8Array): number {
  return checked(calls.read(events, out, out.length))
}
