/** What passwd and group files say. */
export interface Accounts {
  readonly byName: ReadonlyMap<string, { readonly uid: number; readonly gid: number }>
  /** Name of each uid: the first, where several share one. */
  readonly names: ReadonlyMap<number, string>
  /** Gids of the groups each user is a member of by the group file. */
  readonly groups: ReadonlyMap<string, readonly number[]>
}

/** Parses passwd(5) and group(5). Lines that are not of that form are passed over, as the C library does. */
export function parseAccounts(passwd: string, group: string): Accounts {
  const byName = new Map<string, { uid: number; gid: number }>()
  const names = new Map<number, string>()
  for (const [name, , uidText, gidText] of fields(passwd)) {
    const uid = idOf(uidText)
    const gid = idOf(gidText)
    if (!name || uid === undefined || gid === undefined || byName.has(name)) continue
    byName.set(name, { uid, gid })
    if (!names.has(uid)) names.set(uid, name)
  }
  const groups = new Map<string, number[]>()
  for (const [, , gidText, members = ''] of fields(group)) {
    const gid = idOf(gidText)
    if (gid === undefined) continue
    for (const member of members.split(',')) {
      if (member !== '') groups.set(member, [...(groups.get(member) ?? []), gid])
    }
  }
  return { byName, names, groups }
}

function fields(text: string): string[][] {
  return text
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => line.split(':').map((field) => field.trim()))
}

/** Ids are 32 bits; the highest means "none" to the kernel. */
function idOf(text: string | undefined): number | undefined {
  const id = Number(text)
  return text !== undefined && /^\d+$/.test(text) && id < 0xffffffff ? id : undefined
}
