import { S3Error } from '../s3/errors.ts'
import { setThreadGroup, setThreadGroups, setThreadUser } from './libc.ts'

/** Whom a step runs as; undefined is the process user. A plain value, so that it can be sent to a thread. */
export interface ActingUser {
  readonly uid: number
  readonly gid: number
  readonly groups: readonly number[]
}

const processUser: ActingUser = {
  uid: process.geteuid?.() ?? 0,
  gid: process.getegid?.() ?? 0,
  groups: process.getgroups?.() ?? [],
}

let current: ActingUser = processUser
/** As sent: the same user comes as another object each time, but most steps in a row are of one user. */
let settled = true

/**
 * Makes this thread's file-system work the acting user's, by the kernel's own checks. The calls fail silently, so what is
 * in force is read back; a step never runs as anybody else. Throws InternalError.
 */
export function actAs(user: ActingUser | undefined): void {
  const wanted = user ?? processUser
  if (settled && isSame(wanted, current)) return
  settled = false
  const grouped = setThreadGroups(wanted.groups)
  const gid = setThreadGroup(wanted.gid)
  const uid = setThreadUser(wanted.uid)
  if (grouped < 0 || gid !== wanted.gid || uid !== wanted.uid) {
    throw new S3Error('InternalError', undefined, {
      cause: `cannot act as uid ${wanted.uid}: grant SETUID and SETGID, or set svc.proxy.identity.mode=process`,
    })
  }
  current = wanted
  settled = true
}

function isSame(a: ActingUser, b: ActingUser): boolean {
  if (a === b) return true
  if (a.uid !== b.uid || a.gid !== b.gid || a.groups.length !== b.groups.length) return false
  return a.groups.every((group, index) => group === b.groups[index])
}
