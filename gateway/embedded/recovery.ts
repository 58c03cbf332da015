import {
  copyFileSync,
  existsSync,
  linkSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { type Db, decodeChanges, openFile } from './file.ts'
import { createLog, logNumbers, readLog, syncDirectory } from './log.ts'
import { bootId, isAlive, ownProcessId } from './process-identity.ts'
import { Room } from './room.ts'
import { snapshotNumbers, snapshotPath } from './snapshot.ts'

const claimPrefix = 'recovery-'
const pollMs = 20
const framesPerTransaction = 1000

/** Where the store keeps the position in the log; next to the intents, so that both mostly share a page. */
export const positionKey = 'hw'

/**
 * Makes the store anew after the machine was lost. Commits do not wait for the disk, so what lies there then may be any
 * mixture of old and new pages; certain are the newest snapshot and the logs that follow it. While the machine runs, the
 * kernel has all that was committed, whoever was killed, and nothing needs to be done. So this acts when the boot is not
 * the one the store was last opened in (file `boot`), or when the store is missing.
 * To be called before the store is opened. Of several processes one does it, and the others wait.
 */
export async function recover(directory: string, boot: string = bootId): Promise<void> {
  while (!isWhole(directory, boot)) {
    if (!claimRecovery(directory)) {
      await pause(pollMs)
      continue
    }
    // Another may have done it before this process got the claim.
    if (!isWhole(directory, boot)) {
      await rebuild(directory)
      writeBoot(directory, boot)
    }
    for (const name of claims(directory)) rmSync(join(directory, name), { force: true })
  }
}

function isWhole(directory: string, boot: string): boolean {
  return readText(join(directory, 'boot')) === boot && existsSync(join(directory, 'store.mdb'))
}

/** From the newest snapshot and the logs from there on; they stay as they are, and a new log is begun. */
async function rebuild(directory: string): Promise<void> {
  const path = join(directory, 'store.mdb')
  const temporary = `${path}.rebuilding`
  for (const name of [temporary, `${temporary}-lock`]) rmSync(name, { force: true })
  const snapshot = snapshotNumbers(directory).at(-1)
  if (snapshot !== undefined) copyFileSync(snapshotPath(directory, snapshot), temporary)
  const logs = logNumbers(directory).filter((number) => number >= (snapshot ?? 0))
  const db = openFile(temporary)
  const room = new Room(temporary, db)
  for (const number of logs) replay(directory, number, db, room)
  room.close()
  db.putSync(positionKey, createLog(directory, Math.max(0, ...logNumbers(directory)) + 1))
  await db.close()
  for (const name of [`${path}-lock`, `${temporary}-lock`]) rmSync(name, { force: true })
  renameSync(temporary, path)
  syncDirectory(directory)
}

/** Changes are whole values, so that repeating what a snapshot has already does no harm. */
function replay(directory: string, number: number, db: Db, room: Room): void {
  const frames = readLog(directory, number)
  for (let done = false; !done; ) {
    db.transactionSync(() => {
      for (let count = 0; count < framesPerTransaction; count++) {
        const next = frames.next()
        done = next.done === true
        if (next.done) return
        const changes = decodeChanges(db, next.value)
        room.ensure(changes.length, next.value.length, false)
        for (const change of changes) {
          if (change.length === 2) db.put(change[0], change[1])
          else db.remove(change[0])
        }
      }
    })
  }
}

/**
 * The process named in `recovery-<n>` with the highest n may recover. One who finds it dead makes the next number, which
 * only one can (link fails where something is); the dead one cannot come back, so there are never two at work.
 */
function claimRecovery(directory: string): boolean {
  const newest = Math.max(0, ...claims(directory).map((name) => Number(name.slice(claimPrefix.length))))
  if (newest > 0 && isAlive(readText(join(directory, claimPrefix + newest)) ?? ownProcessId)) return false
  const own = join(directory, `claim.${ownProcessId}`)
  writeFileSync(own, ownProcessId, { mode: 0o600 })
  try {
    linkSync(own, join(directory, claimPrefix + (newest + 1)))
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  } finally {
    rmSync(own, { force: true })
  }
}

function claims(directory: string): string[] {
  return readdirSync(directory).filter((name) => name.startsWith(claimPrefix))
}

function writeBoot(directory: string, boot: string): void {
  const path = join(directory, 'boot')
  const temporary = `${path}.${ownProcessId}`
  writeFileSync(temporary, boot, { mode: 0o600, flush: true })
  renameSync(temporary, path)
  syncDirectory(directory)
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}
