import { readFileSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { Config } from '../config/properties.ts'
import { S3Error } from '../s3/errors.ts'
import { type Accounts, parseAccounts } from './accounts.ts'
import { openAllocatedUsers } from './allocated-users.ts'
import type { Identity, Users } from './identity.ts'

/** Names kept with their identities; the rest is found again. */
const mostKnown = 10_000
/** How long passwd and group are believed not to have changed (ms). */
const believedMs = 2000

/**
 * Users as the passwd and group files name them, read again when they change; any other name gets a uid of its own,
 * recorded in the namespace (see allocated-users.ts). Throws an Error when the files cannot be read.
 */
export async function openUsers({ config }: { config: Config }): Promise<Users> {
  const allocated = await openAllocatedUsers({ root: resolve(config.root), readOnly: config.readOnly })
  let accounts = readAccounts(config)
  let version = await versionOf(config)
  let checkedAt = performance.now()
  let isRefreshing = false
  let superuser = processUser(accounts)
  const known = new Map<string, Identity>()

  /** Nobody waits for it: a hanging file system holds up no request, and files that are unreadable stay as they were. */
  function refreshLater(): void {
    if (isRefreshing || performance.now() - checkedAt < believedMs) return
    isRefreshing = true
    refresh()
      .catch(() => {})
      .finally(() => {
        isRefreshing = false
        checkedAt = performance.now()
      })
  }

  async function refresh(): Promise<void> {
    await allocated.refresh()
    const now = await versionOf(config)
    if (now === version) return
    accounts = readAccounts(config)
    version = now
    superuser = processUser(accounts)
    known.clear()
  }

  async function find(name: string): Promise<Identity> {
    const account = accounts.byName.get(name)
    if (name === superuser.name || account?.uid === superuser.uid) return { ...superuser, name, authenticated: true }
    const uid = account?.uid ?? (await allocated.uidOf(name, (candidate) => accounts.names.has(candidate)))
    if (uid < config.uidMin) {
      throw new S3Error('AccessDenied', `Users below uid ${config.uidMin} may not be acted as here.`)
    }
    const gid = account?.gid ?? uid
    const groups = (accounts.groups.get(name) ?? []).filter((group) => group !== gid)
    return { name, uid, gid, groups: [gid, ...groups], authenticated: true, superuser: false }
  }

  return {
    async identify(name) {
      refreshLater()
      if (name === undefined) return superuser
      const cached = known.get(name)
      if (cached !== undefined) return cached
      const from = version
      const identity = await find(name)
      if (known.size >= mostKnown) known.clear()
      if (from === version) known.set(name, identity)
      return identity
    },
    nameOf(uid) {
      if (uid === superuser.uid) return superuser.name
      return accounts.names.get(uid) ?? allocated.nameOf(uid) ?? String(uid)
    },
  }
}

function readAccounts(config: Config): Accounts {
  return parseAccounts(readText(config.passwdFile), readText(config.groupFile))
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return ''
    throw new Error(`Cannot read ${path}: ${error instanceof Error ? error.message : error}`)
  }
}

/** Changes whenever one of the files does; a mounted ConfigMap changes by a symlink, which stat follows. */
async function versionOf({ passwdFile, groupFile }: Config): Promise<string> {
  const files = await Promise.all([passwdFile, groupFile].map((path) => stat(path).catch(() => undefined)))
  return files.map((file) => (file === undefined ? '-' : `${file.dev}:${file.ino}:${file.mtimeMs}:${file.size}`)).join()
}

/** Who started the process: who acts where no user is named (spec §5.5). */
function processUser({ names }: Accounts): Identity {
  const uid = process.geteuid?.() ?? 0
  const gid = process.getegid?.() ?? 0
  const name = names.get(uid) ?? String(uid)
  return { name, uid, gid, groups: process.getgroups?.() ?? [], authenticated: false, superuser: true }
}
