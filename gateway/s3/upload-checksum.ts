import { type ChecksumAlgorithm, type ChecksumType, checksumAlgorithm, isCrc } from './checksum.ts'
import { S3Error } from './errors.ts'

type Headers = Readonly<Record<string, string | undefined>>

/** `x-amz-checksum-algorithm` of CreateMultipartUpload and CopyObject. Throws InvalidRequest. */
export function wantedAlgorithm(headers: Headers): ChecksumAlgorithm | undefined {
  const name = headers['x-amz-checksum-algorithm']
  if (name === undefined) return undefined
  const algorithm = checksumAlgorithm(name)
  if (algorithm !== undefined) return algorithm
  throw new S3Error(
    'InvalidRequest',
    'Checksum algorithm provided is unsupported. Please try again with any of the valid types: [CRC32, CRC32C, CRC64NVME, SHA1, SHA256]',
  )
}

/**
 * Algorithm and type of the checksum of a multipart object: `x-amz-checksum-algorithm`, `x-amz-checksum-type`. Without a
 * type: FULL_OBJECT for CRC64NVME, else COMPOSITE. Throws InvalidRequest for pairs that S3 does not have.
 */
export function uploadChecksum(headers: Headers): {
  readonly algorithm: ChecksumAlgorithm | undefined
  readonly type: ChecksumType | undefined
} {
  const algorithm = wantedAlgorithm(headers)
  const type = headers['x-amz-checksum-type']
  if (algorithm === undefined) {
    if (type === undefined) return { algorithm, type }
    throw new S3Error(
      'InvalidRequest',
      'The x-amz-checksum-type header can only be used with the x-amz-checksum-algorithm header.',
    )
  }
  if (type === undefined) return { algorithm, type: algorithm === 'CRC64NVME' ? 'FULL_OBJECT' : 'COMPOSITE' }
  if (type !== 'FULL_OBJECT' && type !== 'COMPOSITE') {
    throw new S3Error('InvalidRequest', 'Value for x-amz-checksum-type header is invalid.')
  }
  const possible = type === 'FULL_OBJECT' ? isCrc(algorithm) : algorithm !== 'CRC64NVME'
  if (possible) return { algorithm, type }
  throw new S3Error(
    'InvalidRequest',
    `The ${type} checksum type cannot be used with the ${algorithm.toLowerCase()} checksum algorithm.`,
  )
}
