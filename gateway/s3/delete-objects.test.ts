import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readDelete } from './delete-objects.ts'
import { element } from './xml/write.ts'

const read = (content: string) => readDelete(Buffer.from(`<Delete>${content}</Delete>`))
const object = (key: string, more = '') => `<Object>${element('Key', key)}${more}</Object>`
const malformed = expect.objectContaining({ name: 'S3Error', code: 'MalformedXML', status: 400 })

describe('the body of DeleteObjects', () => {
  it('keeps keys exactly as they are written', () => {
    const keys = ['007', '1e5', ' a ', 'true', 'a/b', '\n', 'é😀', 'a&b<c>', '0x10', 'a\rb']
    expect(read(keys.map((key) => object(key)).join('\n')).keys.map(({ key }) => key)).toEqual(keys)
  })

  it('keeps any key that XML can carry', () => {
    const text = fc
      .string({ unit: 'binary', minLength: 1 })
      .map((key) => `k${key.toWellFormed().replace(/[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g, '')}`)
    fc.assert(
      fc.property(fc.array(text, { minLength: 1 }), (keys) => {
        expect(read(keys.map((key) => object(key)).join('')).keys.map(({ key }) => key)).toEqual(keys)
      }),
    )
  })

  it('is quiet only when it says true (seen on S3; the reference has it the other way)', () => {
    expect(read(object('a')).quiet).toBe(false)
    expect(read(`${object('a')}<Quiet>false</Quiet>`).quiet).toBe(false)
    expect(read(`<Quiet>true</Quiet>${object('a')}`).quiet).toBe(true)
    expect(read(`<Quiet> True </Quiet>${object('a')}`).quiet).toBe(true)
  })

  it('refuses single keys that name a version or a condition', () => {
    const { keys } = read(
      object('a', '<VersionId/>') +
        object('b', '<VersionId>null</VersionId>') +
        object('c', '<VersionId>3</VersionId>') +
        object('d', '<ETag>x</ETag>') +
        object('e', '<Unknown/>'),
    )
    expect(keys.map(({ key, refused }) => [key, refused?.code])).toEqual([
      ['a', undefined],
      ['b', undefined],
      ['c', 'InvalidArgument'],
      ['d', 'NotImplemented'],
      ['e', undefined],
    ])
  })

  it('names 1 to 1,000 keys', () => {
    expect(read(object('a').repeat(1000)).keys).toHaveLength(1000)
    expect(() => read(object('a').repeat(1001))).toThrow(malformed)
  })

  for (const content of [
    '',
    '<Quiet>true</Quiet>',
    '<Object/>',
    '<Object><Key/></Object>',
    '<Object><Key>a</Key><Key>b</Key></Object>',
    '<Object><Key><b/></Key></Object>',
  ]) {
    it(`is malformed as ${content || 'nothing'}`, () => expect(() => read(content)).toThrow(malformed))
  }
})
