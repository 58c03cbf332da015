/** One `name=value` of a properties file. */
export interface FileEntry {
  readonly name: string
  readonly value: string
  /** Line it begins on, from 1. */
  readonly line: number
}

/**
 * Reads the format of Java's `Properties.load`: `name=value`, `name: value` or `name value`, comments after `#` or `!`,
 * a `\` at the end of a line goes on with the next, and the escapes \t \n \r \f \uXXXX. Never throws: whatever stands on
 * a line is a name at least, and unknown names are reported by whoever knows the names.
 */
export function parsePropertiesFile(text: string): FileEntry[] {
  const entries: FileEntry[] = []
  const lines = text.replace(/^\uFEFF/, '').split(/\r\n|\n|\r/)
  for (let index = 0; index < lines.length; index++) {
    const line = index + 1
    let logical = (lines[index] ?? '').trimStart()
    if (logical === '' || logical.startsWith('#') || logical.startsWith('!')) continue
    while (/(^|[^\\])(\\\\)*\\$/.test(logical) && index + 1 < lines.length) {
      logical = logical.slice(0, -1) + (lines[++index] ?? '').trimStart()
    }
    const name = /^(?:\\.|[^\\=:\s])*/.exec(logical)?.[0] ?? ''
    const value = logical.slice(name.length).replace(/^\s*[=:]?\s*/, '')
    entries.push({ name: withoutEscapes(name), value: withoutEscapes(value), line })
  }
  return entries
}

const escapes: Record<string, string> = { t: '\t', n: '\n', r: '\r', f: '\f' }

function withoutEscapes(text: string): string {
  return text.replace(/\\(?:u([0-9A-Fa-f]{4})|(.)|$)/g, (_, hex?: string, letter?: string) =>
    hex === undefined ? (escapes[letter ?? ''] ?? letter ?? '') : String.fromCharCode(Number.parseInt(hex, 16)),
  )
}
