import { readdirSync, rmdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { reservedPrefix } from './key-path.ts'

/** Nothing that is at work keeps a hidden directory for so long (ms). */
const abandonedAfterMs = 60 * 60_000

/**
 * Removes what processes that were killed have left: the empty directory of a bucket that never appeared, and
 * directories that a start has tried the file system in. What cannot be removed stays, hidden as it is.
 */
export function sweep(root: string): void {
  for (const path of abandoned(root)) attempt(() => rmdirSync(path))
  for (const path of abandoned(join(root, reservedPrefix))) attempt(() => rmSync(path, { recursive: true }))
}

function abandoned(directory: string): string[] {
  return readdirSync(directory)
    .filter((name) => name.startsWith(`${reservedPrefix}-`))
    .map((name) => join(directory, name))
    .filter(
      (path) => Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now()) > abandonedAfterMs,
    )
}

function attempt(removal: () => void): void {
  try {
    removal()
  } catch {
    // Another process may have been faster.
  }
}
