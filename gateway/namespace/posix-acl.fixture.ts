import koffi from 'koffi'

const libc = koffi.load(null)
const setxattr = libc.func(
  'int setxattr(const char *path, const char *name, const void *value, size_t size, int flags)',
)

/** Permissions as digits: 4 read, 2 write, 1 execute. */
export interface Acl {
  readonly owner: number
  readonly user: readonly [uid: number, permissions: number]
  readonly group: number
  readonly mask: number
  readonly other: number
}

/** Sets the default ACL of a directory, as `setfacl -d` would (acl(5); version 2 of the kernel's attribute). */
export function setDefaultAcl(path: string, { owner, user, group, mask, other }: Acl): void {
  const none = 0xffffffff
  const entries = [
    [0x01, owner, none],
    [0x02, user[1], user[0]],
    [0x04, group, none],
    [0x10, mask, none],
    [0x20, other, none],
  ] as const
  const value = Buffer.alloc(4 + entries.length * 8)
  value.writeUInt32LE(2)
  for (const [index, [tag, permissions, id]] of entries.entries()) {
    value.writeUInt16LE(tag, 4 + index * 8)
    value.writeUInt16LE(permissions, 6 + index * 8)
    value.writeUInt32LE(id, 8 + index * 8)
  }
  if (setxattr(path, 'system.posix_acl_default', value, value.length, 0) !== 0) {
    throw new Error(`no default ACL on ${path}: errno ${koffi.errno()}. The tests need a file system with ACLs.`)
  }
}
