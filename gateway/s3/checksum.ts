/** Algorithms of `x-amz-checksum-*`, in S3's spelling. */
export type ChecksumAlgorithm = 'CRC32' | 'CRC32C' | 'CRC64NVME' | 'SHA1' | 'SHA256'

/** What can be computed over a body: the checksums, and the MD5 of ETag and Content-MD5. */
export type Digest = ChecksumAlgorithm | 'MD5'
