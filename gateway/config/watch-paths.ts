import { statSync } from 'node:fs'

/**
 * Calls `changed` when what a path names is not what it was: written to, replaced by rename, or swapped by a symlink as
 * in a mounted ConfigMap. It polls, since no notification covers all of these, and looks once at the first turn in any
 * case: what changed since the caller read the files must not be missed. Returns a function that stops.
 */
export function watchPaths(paths: readonly string[], changed: () => void, intervalMs: number): () => void {
  let seen: string | undefined
  const timer = setInterval(() => {
    const now = paths.map(fingerprint).join()
    if (now === seen) return
    seen = now
    changed()
  }, intervalMs)
  timer.unref()
  return () => clearInterval(timer)
}

function fingerprint(path: string): string {
  try {
    const { dev, ino, size, mtimeMs, ctimeMs } = statSync(path)
    return `${dev} ${ino} ${size} ${mtimeMs} ${ctimeMs}`
  } catch {
    return 'missing'
  }
}
