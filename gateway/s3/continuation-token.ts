import { crc32 } from 'node:zlib'
import { S3Error } from './errors.ts'

/**
 * A continuation token: the key to go on after, opaque to clients (base64url of a CRC-32 and the key). It grants nothing
 * that `start-after` does not, so it is not signed; the CRC tells what was cut or made up.
 */
export function writeToken(after: string): string {
  const key = Buffer.from(after, 'utf8')
  const token = Buffer.allocUnsafe(4 + key.length)
  token.writeUInt32BE(crc32(key))
  key.copy(token, 4)
  return token.toString('base64url')
}

/** The key of a token. Throws InvalidArgument for one that was not given out here. */
export function readToken(token: string): string {
  const bytes = Buffer.from(token, 'base64url')
  const key = bytes.subarray(4)
  if (bytes.length >= 4 && bytes.readUInt32BE(0) === crc32(key) && bytes.toString('base64url') === token) {
    return key.toString('utf8')
  }
  throw new S3Error('InvalidArgument', 'The continuation token provided is incorrect', {
    details: { ArgumentName: 'continuation-token', ArgumentValue: token },
  })
}
