import type { AccessEntry } from './access-log.ts'

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

/**
 * S3's server access log: 26 fields. Source: AWS "Amazon S3 server access log format". Bucket owner, access point and ARN
 * have no meaning here and are `-`.
 */
export function awsLine(entry: AccessEntry): string {
  const { headers } = entry
  return [
    '-',
    field(entry.bucket),
    `[${time(entry.startedAt)}]`,
    entry.remoteAddress || '-',
    field(entry.user),
    entry.requestId,
    operation(entry),
    entry.key === undefined ? '-' : encodeURIComponent(entry.key.toWellFormed()).replaceAll('%2F', '/'),
    quoted(`${entry.method} ${entry.uri} HTTP/${entry.httpVersion}`),
    String(entry.status),
    entry.errorCode ?? '-',
    entry.bytesSent > 0 ? String(entry.bytesSent) : '-',
    entry.objectSize === undefined ? '-' : String(entry.objectSize),
    String(Math.round(entry.totalMs)),
    String(Math.round(entry.turnAroundMs)),
    quoted(headers.referer),
    quoted(headers['user-agent']),
    '-',
    entry.hostId,
    signatureVersion(headers.authorization),
    entry.tls?.cipher ?? '-',
    authenticationType(entry),
    field(headers.host),
    entry.tls?.version ?? '-',
    '-',
    '-',
  ].join(' ')
}

const resources: Record<string, string> = {
  ListBuckets: 'SERVICE',
  ListMultipartUploads: 'UPLOADS',
  CreateMultipartUpload: 'UPLOADS',
  UploadPart: 'PART',
  UploadPartCopy: 'PART_COPY',
  CompleteMultipartUpload: 'UPLOAD',
  AbortMultipartUpload: 'UPLOAD',
  ListParts: 'UPLOAD',
  DeleteObjects: 'MULTI_OBJECT_DELETE',
  GetBucketTagging: 'TAGGING',
  PutBucketTagging: 'TAGGING',
  DeleteBucketTagging: 'TAGGING',
  GetObjectTagging: 'OBJECT_TAGGING',
  PutObjectTagging: 'OBJECT_TAGGING',
  DeleteObjectTagging: 'OBJECT_TAGGING',
  GetBucketLocation: 'LOCATION',
  GetBucketVersioning: 'VERSIONING',
}

/** `REST.<method>.<resource>`. */
function operation(entry: AccessEntry): string {
  if (entry.operation === 'CopyObject') return 'REST.COPY.OBJECT'
  const fallback = entry.key !== undefined ? 'OBJECT' : entry.bucket !== undefined ? 'BUCKET' : 'SERVICE'
  return `REST.${field(entry.method)}.${resources[entry.operation ?? ''] ?? fallback}`
}

function time(at: Date): string {
  const two = (value: number) => String(value).padStart(2, '0')
  const day = `${two(at.getUTCDate())}/${months[at.getUTCMonth()]}/${at.getUTCFullYear()}`
  return `${day}:${two(at.getUTCHours())}:${two(at.getUTCMinutes())}:${two(at.getUTCSeconds())} +0000`
}

function signatureVersion(authorization: string | undefined): string {
  if (authorization === undefined) return '-'
  return authorization.startsWith('AWS4-') ? 'SigV4' : 'SigV2'
}

function authenticationType(entry: AccessEntry): string {
  if (entry.headers.authorization !== undefined) return 'AuthHeader'
  return entry.authenticated ? 'QueryString' : '-'
}

function field(text: string | undefined): string {
  return text
    ? text.replace(/[\x00-\x20\x7f]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`)
    : '-'
}

function quoted(text: string | undefined): string {
  return text
    ? `"${text.slice(0, 2048).replace(/["\\]|[\x00-\x1f\x7f]/g, (c) => `\\x${c.charCodeAt(0).toString(16).padStart(2, '0')}`)}"`
    : '"-"'
}
