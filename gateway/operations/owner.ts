import type { Users } from '../identity/identity.ts'
import type { Owner } from '../s3/xml/documents.ts'

/** A user as Owner elements show it: the uid is the ID, because names are not unique over time. */
export function ownerOf(uid: number, users: Users): Owner {
  return { id: String(uid), displayName: users.nameOf(uid) }
}
