import { S3Error } from './errors.ts'

const every: ReadonlySet<string> = new Set()

/**
 * Names of sub-resources in S3's query strings: a request with one is about that, and never a listing, an upload or a
 * deletion of the resource itself. Those that no operation of ours asks for answer NotImplemented. With each name the
 * methods that S3 has for it and we do not, where we have others (PUT of versioning: 501, POST of it: 405).
 * Source: AWS API reference, FACTS §13.
 */
export const subresources: ReadonlyMap<string, ReadonlySet<string>> = new Map<string, ReadonlySet<string>>([
  // Ours.
  ['delete', every],
  ['location', every],
  ['tagging', every],
  ['uploadId', every],
  ['uploads', every],
  ['versioning', new Set(['PUT'])],
  // S3's only.
  ...[
    'abac',
    'accelerate',
    'acl',
    'analytics',
    'attributes',
    'cors',
    'encryption',
    'intelligent-tiering',
    'inventory',
    'legal-hold',
    'lifecycle',
    'logging',
    'metadataConfiguration',
    'metadataInventoryTable',
    'metadataJournalTable',
    'metadataTable',
    'metrics',
    'notification',
    'object-lock',
    'ownershipControls',
    'policy',
    'policyStatus',
    'publicAccessBlock',
    'renameObject',
    'replication',
    'requestPayment',
    'restore',
    'retention',
    'select',
    'session',
    'torrent',
    'versions',
    'website',
  ].map((name) => [name, every] as const),
])

/** Headers that promise something to the client which ignoring them would break silently. */
const refusedHeaders = [
  'x-amz-write-offset-bytes',
  'x-amz-server-side-encryption-customer-algorithm',
  'x-amz-server-side-encryption-customer-key',
  'x-amz-server-side-encryption-aws-kms-key-id',
  'x-amz-object-lock-mode',
  'x-amz-object-lock-retain-until-date',
  'x-amz-object-lock-legal-hold',
] as const

/**
 * Throws NotImplemented for headers of a write that ask for appending, keys of the client's own, or locks. Others that
 * are not known (ACLs, storage classes, SSE-S3) are ignored: the object is stored all the same.
 */
export function refuseUnsupportedHeaders(headers: Readonly<Record<string, string | undefined>>): void {
  for (const name of refusedHeaders) {
    if (headers[name] !== undefined) throw new S3Error('NotImplemented', `The header ${name} is not implemented.`)
  }
  if (headers['x-amz-server-side-encryption']?.startsWith('aws:')) {
    throw new S3Error('NotImplemented', 'Encryption with keys of a key management service is not implemented.')
  }
}
