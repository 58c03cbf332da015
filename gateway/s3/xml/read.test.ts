import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { S3Error } from '../errors.ts'
import { childOf, childrenOf, readXml, requiredText, textOf } from './read.ts'
import { element } from './write.ts'

const read = (text: string, root = 'A') => readXml(Buffer.from(text), root)

/** Any text that XML 1.0 can carry. */
const xmlText = fc
  .string({ unit: 'binary' })
  .map((text) => text.toWellFormed().replace(/[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g, ''))

describe('reading XML', () => {
  it('gives back what was written, whatever the text', () => {
    fc.assert(
      fc.property(fc.array(xmlText), (texts) => {
        const root = read(`<A>${texts.map((text) => element('T', text)).join('')}</A>`)
        expect(childrenOf(root, 'T').map(({ text }) => text)).toEqual(texts)
      }),
    )
  })

  it('keeps leading zeros, exponents and spaces as they are written', () => {
    const keys = ['007', '1e5', ' a ', '0x10', 'true', '']
    const root = read(`<A>${keys.map((key) => `<K>${key}</K>`).join('\n')}</A>`)
    expect(childrenOf(root, 'K').map(({ text }) => text)).toEqual(keys)
  })

  it('takes a declaration, a byte order mark, comments, CDATA, prefixes and attributes', () => {
    const root = read(
      '\ufeff<?xml version="1.0" encoding="UTF-8" standalone=\'yes\'?>\n<!-- c --><n:A xmlns:n="x">\n' +
        '<n:K a = "1" b=\'&lt;>\'\n>x</n:K></n:A><?pi?>\n',
    )
    expect(requiredText(root, 'K')).toBe('x')
    expect(requiredText(read('<A><K>a<!-- c -->b<![CDATA[<&]]></K></A>'), 'K')).toBe('ab<&')
  })

  it('turns line ends into LF, but keeps a CR that was written as a reference', () => {
    expect(requiredText(read('<A><K>a\r\nb\rc&#13;&#xD;</K></A>'), 'K')).toBe('a\nb\nc\r\r')
  })

  it('resolves each reference once', () => {
    expect(requiredText(read('<A><K>&amp;lt;&quot;&apos;&gt;&#128512;</K></A>'), 'K')).toBe('&lt;"\'>😀')
  })

  it('finds children by name, one or none', () => {
    const root = read('<A><B><C>1</C></B><D/><E>2</E><E>3</E></A>')
    expect(childOf(root, 'X')).toBeUndefined()
    expect(textOf(root, 'D')).toBe('')
    expect(() => textOf(root, 'E')).toThrow(/twice/)
    expect(() => textOf(root, 'B')).toThrow(/must be text/)
    expect(() => requiredText(root, 'X')).toThrow(S3Error)
  })

  const malformed: Record<string, string> = {
    nothing: '',
    'spaces only': '  \n',
    'text only': 'A',
    'another root': '<B/>',
    'two roots': '<A/><A/>',
    'text before the root': 'x<A/>',
    'text after the root': '<A/>x',
    'a missing end tag': '<A><B></A>',
    'a wrong end tag': '<A></B>',
    'an end tag alone': '</A>',
    'an end tag with more in it': '<A></A b="c">',
    'a cut tag': '<A><B',
    'a cut end tag': '<A></A',
    'a bare ampersand': '<A>a & b</A>',
    'an unknown entity': '<A>&nbsp;</A>',
    'a reference to NUL': '<A>&#0;</A>',
    'a reference to half a pair': '<A>&#xD800;</A>',
    'a reference beyond Unicode': '<A>&#x110000;</A>',
    'a reference without end': '<A>&amp</A>',
    'a reference of an inherited name': '<A>&constructor;</A>',
    'a control character': '<A>\u0001</A>',
    'a DOCTYPE': '<!DOCTYPE A><A/>',
    'a DOCTYPE with entities': '<!DOCTYPE A [<!ENTITY e "x">]><A>&e;</A>',
    'an attribute without quotes': '<A a=1/>',
    'an attribute without value': '<A a/>',
    'an attribute twice': '<A a="1" a="2"/>',
    'a comment without end': '<A><!-- </A>',
    'CDATA without end': '<A><![CDATA[</A>',
    'CDATA outside': '<![CDATA[x]]><A/>',
    'the end of CDATA in text': '<A>]]></A>',
    'a name that begins with a digit': '<A><1/></A>',
    'a space before the name': '< A/>',
    'too many levels': `${'<A>'.repeat(17)}${'</A>'.repeat(17)}`,
  }
  for (const [what, text] of Object.entries(malformed)) {
    it(`refuses ${what}`, () => {
      expect(() => read(text)).toThrow(expect.objectContaining({ code: 'MalformedXML', status: 400 }))
    })
  }

  it('refuses bytes that are not UTF-8', () => {
    expect(() => readXml(Buffer.from('<A>\xff</A>', 'latin1'), 'A')).toThrow(/UTF-8/)
    expect(() => readXml(Buffer.from('<A/>', 'utf16le'), 'A')).toThrow(S3Error)
  })

  it('answers any bytes with a document or MalformedXML', () => {
    const pieces = fc.constantFrom(
      '<A>',
      '</A>',
      '<',
      '>',
      '&',
      '&#',
      ';',
      '<!',
      '<!--',
      '-->',
      '<![CDATA[',
      ']]>',
      '<?',
      '?>',
      '"',
      "'",
      '=',
      '/',
      ' a="b"',
      'A',
      '\r',
      '\u0000',
      'é',
    )
    fc.assert(
      fc.property(fc.array(fc.oneof(pieces, fc.string({ maxLength: 4 }))), (parts) => {
        try {
          expect(read(parts.join('')).name).toBe('A')
        } catch (error) {
          expect(error).toMatchObject({ name: 'S3Error', code: 'MalformedXML' })
        }
      }),
      { numRuns: 2000 },
    )
  })

  it('does not take longer than the length of the document asks for', () => {
    const hostile = [
      `<A ${' '.repeat(200_000)}`,
      `<A${' a="b"'.repeat(50_000)}`,
      `<A>${'&'.repeat(200_000)}`,
      '<A '.repeat(100_000),
      `<A>${'<!--'.repeat(50_000)}`,
      `<A>${'<![CDATA['.repeat(50_000)}`,
    ]
    for (const document of hostile) {
      const start = performance.now()
      expect(() => read(document)).toThrow(S3Error)
      expect(performance.now() - start).toBeLessThan(1000)
    }
  })
})
