import { closeSync, fsync, openSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { RootDatabase } from 'lmdb'
import { numbersOf, removeLogsBefore, syncDirectory } from './log.ts'

/**
 * Copies the store, durably, to `snapshot-<log>`: it holds all that is in logs before that one, which are removed then.
 * The copy is made off the event loop, while others read and write.
 */
export async function takeSnapshot(directory: string, db: RootDatabase<unknown, string>, log: number): Promise<void> {
  const path = snapshotPath(directory, log)
  const temporary = `${path}.copying`
  rmSync(temporary, { force: true })
  try {
    await db.backup(temporary, false)
    const file = openSync(temporary, 'r+')
    try {
      await promisify(fsync)(file)
    } finally {
      closeSync(file)
    }
    renameSync(temporary, path)
  } catch (error) {
    rmSync(temporary, { force: true })
    throw error
  }
  syncDirectory(directory)
  for (const old of snapshotNumbers(directory)) {
    if (old < log) rmSync(snapshotPath(directory, old), { force: true })
  }
  removeLogsBefore(directory, log)
}

/** Numbers of the logs that the snapshots go before, in order. */
export function snapshotNumbers(directory: string): number[] {
  return numbersOf(directory, 'snapshot-')
}

export function snapshotPath(directory: string, log: number): string {
  return join(directory, `snapshot-${log}`)
}
