import { createHash, randomBytes } from 'node:crypto'
import { hostname } from 'node:os'

let prefix = ''
let next = 2 ** 24

/** 16 upper-case hex digits, as S3's: a random beginning for the process, then a count. Unique, not unguessable. */
export function newRequestId(): string {
  if (next === 2 ** 24) {
    prefix = randomBytes(5).toString('hex').toUpperCase()
    next = 0
  }
  return prefix + (next++ + 2 ** 24).toString(16).toUpperCase().slice(1)
}

/** Value of `x-amz-id-2` and of HostId in error documents: names the process that answered. */
export const hostId = createHash('sha256').update(`${hostname()} ${process.pid}`).digest('base64')
