/** An element as parsed: names without their namespace prefix, text as it is written but for references. */
export interface XmlNode {
  readonly name: string
  readonly children: readonly XmlNode[]
  /** All character data directly in the element, spaces included; comments are left out. */
  readonly text: string
}

interface OpenNode {
  /** With its prefix, as the end tag must repeat it. */
  readonly qualified: string
  readonly name: string
  children: OpenNode[]
  text: string
}

const deepest = 16
const none: OpenNode[] = []
Object.freeze(none)

const nameStart = 'A-Za-z_:\\x80-\\uffff'
const nameChars = `[${nameStart}][${nameStart}0-9.-]*`
const attribute = `${nameChars}[ \\t\\n]*=[ \\t\\n]*(?:"[^<"]*"|'[^<']*')`
const startTag = new RegExp(`<(${nameChars})((?:[ \\t\\n]+${attribute})*)[ \\t\\n]*(/?)>`, 'y')
const eachAttribute = new RegExp(`(${nameChars})[ \\t\\n]*=[ \\t\\n]*("[^"]*"|'[^']*')`, 'g')
const endTag = new RegExp(`</(${nameChars})[ \\t\\n]*>`, 'y')
const xmlDeclaration = /^<\?xml[ \t\n]+version[ \t\n]*=[ \t\n]*["']1\.\d["'][^<>]*\?>/

/**
 * Parses a whole document strictly: well-formed XML 1.0 without a DOCTYPE, nested at most 16 deep. Throws an Error that
 * says what is wrong. Hand-written: fast-xml-parser took 0.7 s for the part list of a large upload, during which the
 * process answered nobody, and let unknown entities pass (docs/decisions).
 */
export function parseXml(document: string): XmlNode {
  const text = document.includes('\r') ? document.replace(/\r\n?/g, '\n') : document
  const stack: OpenNode[] = []
  let root: OpenNode | undefined
  let at = skipDeclaration(text)
  while (at < text.length) {
    const open = stack.at(-1)
    const lt = text.indexOf('<', at)
    const end = lt < 0 ? text.length : lt
    if (end > at) addText(open, text.slice(at, end))
    if (lt < 0) break
    const next = text.charCodeAt(lt + 1)
    if (next === 0x2f) at = closeElement(text, lt, stack)
    else if (next === 0x21) at = comment(text, lt) ?? cdata(text, lt, open)
    else if (next === 0x3f) at = instruction(text, lt)
    else {
      startTag.lastIndex = lt
      const match = startTag.exec(text)
      if (match === null) throw new Error(`A tag is malformed: ${text.slice(lt, lt + 40)}`)
      const [, qualified = '', attributes = '', empty] = match
      if (attributes !== '') checkAttributes(attributes)
      const node: OpenNode = { qualified, name: localName(qualified), children: none, text: '' }
      if (open !== undefined) {
        if (open.children === none) open.children = [node]
        else open.children.push(node)
      } else if (root === undefined) root = node
      else throw new Error('There is more than one root element.')
      if (empty === '') {
        if (stack.push(node) > deepest) throw new Error('It is nested too deep.')
      }
      at = startTag.lastIndex
    }
  }
  if (stack.length > 0) throw new Error(`The element ${stack.at(-1)?.name} has no end tag.`)
  if (root === undefined) throw new Error('There is no root element.')
  return root
}

function skipDeclaration(text: string): number {
  const start = text.charCodeAt(0) === 0xfeff ? 1 : 0
  return start + (xmlDeclaration.exec(start === 0 ? text : text.slice(start))?.[0].length ?? 0)
}

function localName(qualified: string): string {
  const colon = qualified.indexOf(':')
  return colon < 0 ? qualified : qualified.slice(colon + 1)
}

function checkAttributes(attributes: string): void {
  const names = new Set<string>()
  for (const [, name = '', value = ''] of attributes.matchAll(eachAttribute)) {
    if (names.has(name)) throw new Error(`The attribute ${name} comes twice.`)
    names.add(name)
    resolve(value)
  }
}

function closeElement(text: string, at: number, stack: OpenNode[]): number {
  const open = stack.pop()
  // The usual case without a regular expression: exactly `</name>`.
  if (open !== undefined && text.startsWith(open.qualified, at + 2)) {
    const end = at + 2 + open.qualified.length
    if (text.charCodeAt(end) === 0x3e) return end + 1
  }
  endTag.lastIndex = at
  if (open === undefined || endTag.exec(text)?.[1] !== open.qualified) {
    throw new Error(`An end tag does not match: ${text.slice(at, at + 40)}`)
  }
  return endTag.lastIndex
}

function addText(open: OpenNode | undefined, raw: string): void {
  if (open === undefined) {
    if (/[^ \t\n]/.test(raw)) throw new Error('There is text outside the root element.')
    return
  }
  if (raw.includes(']]>')) throw new Error(']]> must not stand in text.')
  const resolved = resolve(raw)
  open.text = open.text === '' ? resolved : open.text + resolved
}

function comment(text: string, at: number): number | undefined {
  if (!text.startsWith('<!--', at)) return undefined
  const dashes = text.indexOf('--', at + 4)
  if (dashes < 0 || text[dashes + 2] !== '>') throw new Error('A comment is malformed.')
  return dashes + 3
}

function cdata(text: string, at: number, open: OpenNode | undefined): number {
  if (!text.startsWith('<![CDATA[', at)) throw new Error('A DOCTYPE is not allowed.')
  const end = text.indexOf(']]>', at)
  if (end < 0 || open === undefined) throw new Error('A CDATA section is malformed.')
  open.text += text.slice(at + 9, end)
  return end + 3
}

function instruction(text: string, at: number): number {
  const end = text.indexOf('?>', at)
  if (end < 0 || /^<\?xml[^A-Za-z0-9_.:-]/i.test(text.slice(at, at + 6))) {
    throw new Error('A processing instruction is malformed.')
  }
  return end + 2
}

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }
const eachReference = /&(?:([^;&]{1,12});)?/g

/** Replaces character references and the five entities that XML has by itself. */
function resolve(raw: string): string {
  if (!raw.includes('&')) return raw
  return raw.replace(eachReference, (_, name = '') => {
    const code = /^#(?:x([0-9a-fA-F]+)|([0-9]+))$/.exec(name)
    const character = code
      ? fromCode(code[1] === undefined ? Number(code[2]) : Number.parseInt(code[1], 16))
      : undefined
    const value = character ?? (Object.hasOwn(entities, name) ? entities[name] : undefined)
    if (value === undefined) throw new Error(`The reference &${name}; is not known.`)
    return value
  })
}

/** Undefined for what XML 1.0 does not allow. */
function fromCode(code: number): string | undefined {
  if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff) || code === 0xfffe || code === 0xffff) return undefined
  if (code < 0x20 && code !== 0x09 && code !== 0x0a && code !== 0x0d) return undefined
  return String.fromCodePoint(code)
}
