import { XMLParser, XMLValidator } from 'fast-xml-parser'

/** An element as parsed: names without their namespace prefix, text as it is written but for references. */
export interface XmlNode {
  readonly name: string
  readonly children: readonly XmlNode[]
  /** All character data directly in the element, spaces included; comments are left out. */
  readonly text: string
}

/** An element of fast-xml-parser's ordered form: one property, named as the element, `#text` or `#cdata`. */
type Ordered = Readonly<Record<string, readonly Ordered[] | string>>

const deepest = 16

/**
 * Nothing is interpreted here: numbers, spaces and references stay as written. The parser would turn the key `007` into 7,
 * drop `&#0;` and let unknown entities pass, and another key than the client's would be deleted.
 */
const parser = new XMLParser({
  preserveOrder: true,
  parseTagValue: false,
  trimValues: false,
  processEntities: false,
  ignoreAttributes: true,
  removeNSPrefix: true,
  ignoreDeclaration: true,
  ignorePiTags: true,
  cdataPropName: '#cdata',
  maxNestedTags: deepest + 1,
})

/** Parses a whole document strictly: well-formed, no DOCTYPE, at most 16 levels. Throws an Error that says what is wrong. */
export function parseXml(document: string): XmlNode {
  const text = document.replace(/^\ufeff/, '').replace(/\r\n?/g, '\n')
  if (/<!(?!--|\[CDATA\[)/.test(text)) throw new Error('A DOCTYPE is not allowed.')
  // The parser drops what follows the last tag.
  if (!text.trimEnd().endsWith('>')) throw new Error('There is text after the root element.')
  const valid = XMLValidator.validate(text)
  if (valid !== true) throw new Error(valid.err.msg)
  const nodes = parser.parse(text) as Ordered[]
  const [root, ...more] = elements(nodes, 1)
  if (root === undefined || more.length > 0 || textOf(nodes).trim() !== '') {
    throw new Error('There must be one root element and nothing beside it.')
  }
  return root
}

function elements(nodes: readonly Ordered[], level: number): XmlNode[] {
  if (level > deepest + 1) throw new Error('It is nested too deep.')
  const found: XmlNode[] = []
  for (const node of nodes) {
    for (const name in node) {
      const inner = node[name]
      if (name.startsWith('#') || typeof inner !== 'object') continue
      found.push({ name, children: elements(inner, level + 1), text: textOf(inner) })
    }
  }
  return found
}

function textOf(nodes: readonly Ordered[]): string {
  let text = ''
  for (const node of nodes) {
    if (typeof node['#text'] === 'string') text += resolve(node['#text'])
    const section = node['#cdata']
    if (typeof section === 'object') for (const piece of section) text += String(piece['#text'] ?? '')
  }
  return text
}

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }
const eachReference = /&(?:([^;&]{1,12});)?/g

/** Replaces character references and the five entities that XML has by itself. */
function resolve(raw: string): string {
  if (raw.includes(']]>')) throw new Error(']]> must not stand in text.')
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
