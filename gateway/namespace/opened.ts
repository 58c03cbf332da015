import { entryOf, type WireEntry } from './entry.ts'
import { directSend } from './libc-sendfile.ts'
import type { Opened, OpenFile } from './namespace.ts'
import { closeLater } from './sync.ts'

/** `isLocal`: it is sure that the file is on a local file system. */
export function openedOf(wire: WireEntry, fd: number, bytes: Buffer | undefined, isLocal = false): Opened {
  const entry = entryOf(wire)
  if (bytes !== undefined) return { entry, bytes }
  return fd < 0 ? { entry } : { entry, file: openFile(fd, entry.size, isLocal) }
}

function openFile(fd: number, size: number, isLocal: boolean): OpenFile {
  let isOpen = true
  return {
    fd,
    size,
    ...(isLocal ? { direct: directSend(fd) } : {}),
    close() {
      if (isOpen) closeLater(fd)
      isOpen = false
    },
  }
}
