import { createHash, randomBytes } from 'node:crypto'
import { link, mkdir, open, readdir, readFile, stat, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { S3Error } from '../s3/errors.ts'

/** Uids for names that no passwd file knows: above those of systemd's and other containers' ranges, below 2^31. */
const lowest = 1_900_000_000
const span = 100_000_000

const namePrefix = 'name-'

/** Longest name in bytes, so that its file name fits. */
const longestName = 80

export interface AllocatedUsers {
  /** The uid of a name, allocated now if it has none. `isTaken` tells of uids that are somebody else's. */
  uidOf(name: string, isTaken: (uid: number) => boolean): Promise<number>
  /** The name a uid was allocated for; of another process's allocations after the next `refresh`. */
  nameOf(uid: number): string | undefined
  /** Reads what other processes have allocated. */
  refresh(): Promise<void>
}

/**
 * Uids allocated once and for all, in the namespace itself: `.s3proxy/users/uid-<uid>` claims a uid for a name,
 * `.s3proxy/users/name-<name>` gives the name its uid. Both are created exclusively, by link, so with their content:
 * whichever processes and pods do this at once, no name gets two uids and no two names share one. A claim left by a
 * process that died in between costs one uid of a hundred million.
 */
export async function openAllocatedUsers(options: {
  readonly root: string
  readonly readOnly: boolean
}): Promise<AllocatedUsers> {
  const directory = join(options.root, '.s3proxy', 'users')
  if (!options.readOnly) await mkdir(directory, { recursive: true, mode: 0o700 })
  const names = new Map<number, string>()
  let version = await versionOf(directory)
  await readNames(directory, names)

  async function read(name: string): Promise<number | undefined> {
    const text = await readFile(nameFile(directory, name), 'utf8').catch(ignoreAbsence)
    const uid = Number(text)
    if (text === undefined || !Number.isSafeInteger(uid)) return undefined
    names.set(uid, name)
    return uid
  }

  async function allocate(name: string, isTaken: (uid: number) => boolean): Promise<number> {
    for (let attempt = 0; ; attempt += 1) {
      const uid = candidate(name, attempt)
      if (isTaken(uid) || !(await createWith(directory, join(directory, `uid-${uid}`), name))) continue
      if (await createWith(directory, nameFile(directory, name), String(uid))) {
        names.set(uid, name)
        return uid
      }
      // Another process has given the name its uid since: this one is nobody's again.
      await unlink(join(directory, `uid-${uid}`)).catch(ignoreAbsence)
      const theirs = await read(name)
      if (theirs !== undefined) return theirs
    }
  }

  return {
    async uidOf(name, isTaken) {
      refuseStrange(name)
      const found = await read(name)
      if (found !== undefined) return found
      if (!options.readOnly) return allocate(name, isTaken)
      throw new S3Error('AccessDenied', 'This user is not known, and the gateway is read-only.')
    },
    nameOf: (uid) => names.get(uid),
    async refresh() {
      const now = await versionOf(directory)
      if (now === version) return
      version = now
      await readNames(directory, names)
    },
  }
}

function refuseStrange(name: string): void {
  const isStrange = name === '' || /[\0-\x1f\x7f/:]/.test(name) || !name.isWellFormed()
  if (isStrange || Buffer.byteLength(name) > longestName) {
    throw new S3Error(
      'AccessDenied',
      `The user name must have 1 to ${longestName} bytes, no colon, slash or control character.`,
    )
  }
}

/** Where the search for a free uid begins depends on the name, so that processes seldom meet. */
function candidate(name: string, attempt: number): number {
  const start = createHash('sha256').update(name).digest().readUInt32BE(0)
  return lowest + ((start + attempt) % span)
}

/** Percent-encoded: a file name for any name, that a person can read. */
function nameFile(directory: string, name: string): string {
  return join(directory, `${namePrefix}${encodeURIComponent(name).replaceAll('*', '%2A')}`)
}

/** Creates a file that has its content from the first moment on, and survives a power cut. False when it is there. */
async function createWith(directory: string, path: string, content: string): Promise<boolean> {
  const temp = join(directory, `.new-${randomBytes(12).toString('hex')}`)
  const file = await open(temp, 'wx', 0o600)
  try {
    await file.writeFile(content)
    await file.sync()
  } finally {
    await file.close()
  }
  try {
    await link(temp, path)
  } catch (error) {
    if (isCode(error, 'EEXIST')) return false
    throw error
  } finally {
    await unlink(temp)
  }
  await syncDirectory(directory)
  return true
}

/** Changes with every allocation. */
async function versionOf(directory: string): Promise<number | undefined> {
  return (await stat(directory).catch(ignoreAbsence))?.mtimeMs
}

async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, 'r')
  try {
    await directory.sync()
  } finally {
    await directory.close()
  }
}

/** Adds the names that are not known yet. */
async function readNames(directory: string, names: Map<number, string>): Promise<void> {
  const known = new Set(names.values())
  const files = await readdir(directory).catch(ignoreAbsence)
  for (const file of files ?? []) {
    if (!file.startsWith(namePrefix)) continue
    const name = decodeURIComponent(file.slice(namePrefix.length))
    if (!known.has(name)) names.set(Number(await readFile(join(directory, file), 'utf8')), name)
  }
}

function ignoreAbsence(error: unknown): undefined {
  if (isCode(error, 'ENOENT')) return undefined
  throw error
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}
