import { describe, expect, it } from 'vitest'
import { parsePropertiesFile } from './properties-file.ts'

const pairs = (text: string) => parsePropertiesFile(text).map(({ name, value }) => [name, value])

describe('a properties file', () => {
  it('separates name and value by =, : or white space', () => {
    expect(pairs('a=1\nb = 2\nc:3\nd : 4\ne 5\nf')).toEqual([
      ['a', '1'],
      ['b', '2'],
      ['c', '3'],
      ['d', '4'],
      ['e', '5'],
      ['f', ''],
    ])
  })

  it('keeps separators inside values, and skips comments and empty lines', () => {
    expect(pairs('# a=1\n! b=2\n\n  url = http://host:4318/v1?a=b # not a comment\n')).toEqual([
      ['url', 'http://host:4318/v1?a=b # not a comment'],
    ])
  })

  it('joins lines that end with a backslash, and knows the escapes of Java', () => {
    expect(pairs('list = a,\\\n       b\npath = C:\\\\x\\ty\\u0041\nna\\=me = v')).toEqual([
      ['list', 'a,b'],
      ['path', 'C:\\x\tyA'],
      ['na=me', 'v'],
    ])
  })

  it('tells the line on which each begins, whatever the line ends are', () => {
    expect(parsePropertiesFile('\uFEFFa=1\r\n\r\nb=2\\\r\n3\r\nc=4').map(({ line }) => line)).toEqual([1, 3, 5])
  })
})
