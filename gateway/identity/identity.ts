/** An acting user as the file system knows it. */
export interface Identity {
  /** Name the client gave (or the process user's). */
  readonly name: string
  readonly uid: number
  readonly gid: number
  /** Supplementary groups. */
  readonly groups: readonly number[]
  /** Named by the client's credentials; false when it is the process user by default (spec §5.5, §5.6). */
  readonly authenticated: boolean
  /** The process user: passes all checks, as the reference's superuser. */
  readonly superuser: boolean
}

/** Turns names of clients into identities; the same name gives the same uid for ever and everywhere. */
export interface Users {
  /** Throws AccessDenied below `svc.proxy.identity.uid.min` or where the name cannot be a user name. */
  identify(name: string | undefined): Promise<Identity>
  /** Name of a uid for Owner elements and logs; the decimal number when unknown. */
  nameOf(uid: number): string
}
