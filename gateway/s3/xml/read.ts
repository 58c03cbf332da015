import { isUtf8 } from 'node:buffer'
import { S3Error } from '../errors.ts'
import { parseXml, type XmlNode } from './parse.ts'

/**
 * Parses a document that a client sent and returns its root, which must have the given name; the caller has limited the
 * size of `body`. Throws MalformedXML: not UTF-8, not well-formed, a DOCTYPE, too deep, another root.
 */
export function readXml(body: Uint8Array, root: string): XmlNode {
  if (body.length === 0) throw malformedXml('The body is empty.')
  if (!isUtf8(body)) throw malformedXml('The body is not UTF-8.')
  const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('utf8')
  if (forbidden.test(text)) throw malformedXml('The body has a character that XML does not allow.')
  const node = parse(text)
  if (node.name !== root) throw malformedXml(`The root must be ${root}, not ${node.name}.`)
  return node
}

const forbidden = /[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/

function parse(text: string): XmlNode {
  try {
    return parseXml(text)
  } catch (error) {
    throw malformedXml(error instanceof Error ? error.message : String(error))
  }
}

/** The child elements of a name, in order. */
export function childrenOf(node: XmlNode, name: string): XmlNode[] {
  return node.children.filter((child) => child.name === name)
}

/** The one child element of a name; undefined when there is none. Throws MalformedXML when there are more. */
export function childOf(node: XmlNode, name: string): XmlNode | undefined {
  let found: XmlNode | undefined
  for (const child of node.children) {
    if (child.name !== name) continue
    if (found !== undefined) throw malformedXml(`${name} comes twice in ${node.name}.`)
    found = child
  }
  return found
}

/** Text of the one child element of a name; undefined when there is none. Throws MalformedXML when it has elements. */
export function textOf(node: XmlNode, name: string): string | undefined {
  const child = childOf(node, name)
  if (child !== undefined && child.children.length > 0) throw malformedXml(`${name} must be text.`)
  return child?.text
}

/** As `textOf`, of an element that must be there. */
export function requiredText(node: XmlNode, name: string): string {
  const text = textOf(node, name)
  if (text === undefined) throw malformedXml(`${node.name} has no ${name}.`)
  return text
}

/** The error of a document, with what is wrong with it. */
export function malformedXml(what: string): S3Error {
  return new S3Error('MalformedXML', `The XML you provided cannot be used. ${what}`)
}
