import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { actingUserName } from './authorization.ts'

const byHeader = (authorization?: string) => actingUserName({ headers: { authorization }, query: new Map() })
const byQuery = (...query: [string, string][]) => actingUserName({ headers: {}, query: new Map(query) })

const scope = '20260102/us-east-1/s3/aws4_request'

describe('the acting user', () => {
  const named: Record<string, string> = {
    'in the form of signature version 4 (spec §5.3)': `AWS4-HMAC-SHA256 Credential=alice/${scope}, SignedHeaders=host, Signature=0`,
    'without spaces after the commas': `AWS4-HMAC-SHA256 Credential=alice/${scope},SignedHeaders=host,Signature=0`,
    'when Credential does not come first': `AWS4-HMAC-SHA256 SignedHeaders=host, Credential=alice/${scope}, Signature=0`,
    'with region sets (signature version 4A)': `AWS4-ECDSA-P256-SHA256 Credential=alice/20260102/s3/aws4_request, Signature=0`,
    'without a scope': 'AWS4-HMAC-SHA256 Credential=alice',
    'with spaces around the name': `AWS4-HMAC-SHA256  Credential= alice /${scope}`,
    'in the older form (spec §5.4)': 'AWS alice:',
    'in the older form with a signature': 'AWS alice:c2lnbmF0dXJl',
    'in the older form without a colon': 'AWS alice',
  }
  for (const [how, header] of Object.entries(named)) {
    it(`is named ${how}`, () => expect(byHeader(header)).toBe('alice'))
  }

  it('is named by presigned credentials, new and old', () => {
    expect(byQuery(['X-Amz-Algorithm', 'AWS4-HMAC-SHA256'], ['X-Amz-Credential', `alice/${scope}`])).toBe('alice')
    expect(byQuery(['AWSAccessKeyId', 'alice'], ['Signature', 'x'], ['Expires', '1'])).toBe('alice')
  })

  it('is nobody without credentials or with an empty access key (spec §5.3, §5.5)', () => {
    expect(byHeader()).toBeUndefined()
    expect(byHeader('')).toBeUndefined()
    expect(byHeader('  ')).toBeUndefined()
    expect(byHeader('AWS :')).toBeUndefined()
    expect(byHeader('AWS')).toBeUndefined()
    expect(byHeader(`AWS4-HMAC-SHA256 Credential=/${scope}, SignedHeaders=host, Signature=0`)).toBeUndefined()
    expect(byHeader('AWS4-HMAC-SHA256 Credential=, SignedHeaders=host')).toBeUndefined()
    expect(byQuery(['X-Amz-Credential', `/${scope}`])).toBeUndefined()
    expect(byQuery(['AWSAccessKeyId', ''])).toBeUndefined()
    expect(byQuery(['prefix', 'x'])).toBeUndefined()
  })

  it('never becomes the process user because a header cannot be read (our choice)', () => {
    for (const header of [
      'Bearer x',
      'Basic YTpi',
      'alice',
      'AWS4-HMAC-SHA256',
      'AWS4-HMAC-SHA256 Signature=0',
      'AWS4-HMAC-SHA256 XCredential=a',
    ]) {
      expect(() => byHeader(header)).toThrow(
        expect.objectContaining({ code: 'AuthorizationHeaderMalformed', status: 400 }),
      )
    }
  })

  it('cannot be named twice (seen on S3)', () => {
    const query = new Map([['X-Amz-Credential', `bob/${scope}`]])
    expect(() => actingUserName({ headers: { authorization: 'AWS alice:' }, query })).toThrow(
      expect.objectContaining({ code: 'InvalidArgument' }),
    )
  })

  it('has the same name beyond ASCII in a header (UTF-8 as latin1) and in a query', () => {
    const header = Buffer.from('AWS zoë:x', 'utf8').toString('latin1')
    expect(byHeader(header)).toBe('zoë')
    expect(byQuery(['AWSAccessKeyId', 'zoë'])).toBe('zoë')
    expect(byHeader('AWS zo\xeb:x')).toBe('zo\xeb')
  })

  it('is a name, nobody or a 4xx, whatever the header', () => {
    const piece = fc.constantFrom(
      'AWS',
      'AWS4-',
      'AWS4-HMAC-SHA256',
      ' ',
      ',',
      'Credential=',
      '/',
      ':',
      '=',
      '\t',
      '\xff',
    )
    fc.assert(
      fc.property(fc.array(fc.oneof(piece, fc.string({ maxLength: 3 }))), (pieces) => {
        try {
          expect(byHeader(pieces.join(''))).not.toBe('')
        } catch (error) {
          expect(error).toMatchObject({ name: 'S3Error', status: 400 })
        }
      }),
    )
  })
})
