/**
 * Percent-decoding to UTF-8 text. `raw` is latin1 text (as Node gives request targets and headers): bytes beyond ASCII
 * are part of the UTF-8 too. Undefined for a broken percent code, bytes that are not UTF-8, or NUL.
 */
export function percentDecode(raw: string, options: { plusIsSpace: boolean }): string | undefined {
  let text = options.plusIsSpace && raw.includes('+') ? raw.replaceAll('+', ' ') : raw
  const wide = beyondAscii.test(text)
  if (!wide && !text.includes('%')) return text.includes('\0') ? undefined : text
  if (wide) text = text.replace(eachBeyondAscii, escapeByte)
  try {
    const decoded = decodeURIComponent(text)
    return decoded.includes('\0') ? undefined : decoded
  } catch {
    return undefined
  }
}

const beyondAscii = /[^\0-\x7f]/
const eachBeyondAscii = /[^\0-\x7f]/g

/** A character above latin1 is no byte; `%` alone makes decoding fail. */
function escapeByte(character: string): string {
  const code = character.charCodeAt(0)
  return code > 0xff ? '%' : `%${code.toString(16)}`
}

/** What `encoding-type=url` does to keys. `%20` and `%2B` mean the same to every decoder, `+` does not. */
export function percentEncode(text: string): string {
  if (plain.test(text)) return text
  return encodeURIComponent(text.toWellFormed()).replace(kept, (character) =>
    character === '%2F' ? '/' : `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}

const plain = /^[A-Za-z0-9\-._~/]*$/
const kept = /%2F|[!'()*]/g
