/** Beginning of every document that is answered. */
export const declaration = '<?xml version="1.0" encoding="UTF-8"?>\n'
/** Namespace of S3's documents; `Error` has none. */
export const s3Namespace = ' xmlns="http://s3.amazonaws.com/doc/2006-03-01/"'

const special = /[&<>"\r\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]/
const eachSpecial = /[&<>"\r\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g
const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  '\r': '&#13;',
}

/**
 * Text as content of an element. A parser would turn a raw CR into LF, so it is written as a reference. What XML 1.0
 * cannot say at all (other control characters, halves of surrogate pairs) becomes U+FFFD: clients that may have such
 * keys ask for encoding-type=url.
 */
export function escapeText(text: string): string {
  if (!special.test(text)) return text
  return text.toWellFormed().replace(eachSpecial, (character) => entities[character] ?? '\ufffd')
}

/** `<Name>text</Name>`; an empty text gives `<Name/>`. */
export function element(name: string, text: string | number | boolean): string {
  if (text === '') return `<${name}/>`
  return `<${name}>${typeof text === 'string' ? escapeText(text) : text}</${name}>`
}

/** As `element`, and nothing at all when there is no text. */
export function optional(name: string, text: string | number | boolean | undefined): string {
  return text === undefined ? '' : element(name, text)
}

/** An ETag in quotes, as S3 writes it. */
export function etagElement(etag: string): string {
  return `<ETag>&quot;${escapeText(etag)}&quot;</ETag>`
}
