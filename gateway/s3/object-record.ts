/** Immutable once written: a changed object has another FileId. Small on purpose; absent fields take no room. */
export interface ObjectRecord {
  /** Without quotes: hex MD5, or `<hex>-<parts>`. */
  readonly etag: string
  readonly contentType?: string
  readonly cacheControl?: string
  readonly contentDisposition?: string
  readonly contentEncoding?: string
  readonly contentLanguage?: string
  readonly expires?: string
  /** `x-amz-meta-*` without the prefix, names in lower case, values as they came (latin1). */
  readonly userMetadata?: Readonly<Record<string, string>>
  /** Base64 by algorithm name in lower case: crc32, crc32c, crc64nvme, sha1, sha256 (composite ones end in `-N`). */
  readonly checksums?: Readonly<Record<string, string>>
  readonly checksumType?: 'FULL_OBJECT' | 'COMPOSITE'
  /** Sizes in bytes of the parts of a multipart object, for `partNumber` reads. */
  readonly parts?: readonly number[]
}

export interface Tag {
  readonly key: string
  readonly value: string
}
