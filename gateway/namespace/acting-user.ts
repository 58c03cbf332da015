import { S3Error } from '../s3/errors.ts'
import { EPERM } from './errno.ts'
import { setThreadGroup, setThreadGroups, setThreadUser } from './libc.ts'

/** Whom a step runs as; undefined is the process user. A plain value, so that it can be sent to a thread. */
export interface ActingUser {
  readonly uid: number
  readonly gid: number
  /** Supplementary groups other than `gid`, which would say nothing more. */
  readonly groups: readonly number[]
}

/** Groups without the primary one: most users have no others, and then there are none to switch. */
export function supplementaryGroups(gid: number, groups: readonly number[]): readonly number[] {
  return groups.filter((group) => group !== gid)
}

const processGroup = process.getegid?.() ?? 0
const processUser: ActingUser = {
  uid: process.geteuid?.() ?? 0,
  gid: processGroup,
  groups: supplementaryGroups(processGroup, process.getgroups?.() ?? []),
}

/** As sent: the same user comes as another object each time, but most steps in a row are of one user. */
let current: ActingUser = processUser
/** Nothing has been set yet, or not all that was to be. */
let settled = false

/**
 * Makes this thread's file-system work the acting user's, by the kernel's own checks. The calls fail silently, so what is
 * in force is read back; a step never runs as anybody else. Throws InternalError.
 */
export function actAs(user: ActingUser | undefined): void {
  const wanted = user ?? processUser
  if (settled && isSame(wanted, current)) return
  const grouped = settled && isSameList(wanted.groups, current.groups) ? 0 : setThreadGroups(wanted.groups)
  settled = false
  const gid = setThreadGroup(wanted.gid)
  const uid = setThreadUser(wanted.uid)
  // Who may not set groups has not lost those of the process either.
  const isRefused = grouped < 0 && !(grouped === EPERM && wanted === processUser)
  if (isRefused || gid !== wanted.gid || uid !== wanted.uid) {
    throw new S3Error('InternalError', undefined, {
      cause: `cannot act as uid ${wanted.uid}: grant SETUID and SETGID, or set svc.proxy.identity.mode=process`,
    })
  }
  current = wanted
  settled = true
}

function isSame(a: ActingUser, b: ActingUser): boolean {
  if (a === b) return true
  return a.uid === b.uid && a.gid === b.gid && isSameList(a.groups, b.groups)
}

function isSameList(a: readonly number[], b: readonly number[]): boolean {
  return a.length === b.length && a.every((group, index) => group === b[index])
}
