import { hash } from 'node:crypto'

/** ETag of no bytes: of empty objects, and of folders, which S3 knows as empty objects. */
export const emptyEtag = 'd41d8cd98f00b204e9800998ecf8427e'

/** As it goes into headers and documents. */
export function quote(etag: string): string {
  return `"${etag}"`
}

/** The bare value of an ETag as a client sends it: with or without quotes, or marked as weak. */
export function unquote(etag: string): string {
  const value = etag.trim()
  const start = value.startsWith('W/') ? 2 : 0
  return value.length >= start + 2 && value[start] === '"' && value.endsWith('"')
    ? value.slice(start + 1, -1)
    : value.slice(start)
}

/** ETag of a multipart object: MD5 over the parts' binary MD5s, and their number (seen on S3). */
export function multipartEtag(hexMd5s: readonly string[]): string {
  return `${hash('md5', Buffer.from(hexMd5s.join(''), 'hex'), 'hex')}-${hexMd5s.length}`
}

/**
 * ETag of a file that was not written through the gateway, from the identity of its content. It has a `-`, so that
 * nobody takes it for an MD5 of the bytes (design §4).
 */
export function foreignEtag(id: string): string {
  return `${hash('md5', id, 'hex')}-1`
}
