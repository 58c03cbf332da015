/** One request as the operations see it: decoded, but not yet interpreted. Made by `server/`, once. */
export interface S3Request {
  /** Value of `x-amz-request-id` in the answer and of `RequestId` in an error document. */
  readonly id: string
  readonly method: string
  /** Path below the base address as it came over the wire, for `Resource` in error documents and for logs. */
  readonly resource: string
  /** Bucket name as written by the client (`a:b:c` stays so), percent-decoded; undefined at the service root. */
  readonly bucket: string | undefined
  /** Object key, percent-decoded (`+` is a plus); undefined for bucket and service requests. */
  readonly key: string | undefined
  /** Decoded query parameters; a name without `=` has the value ''. The first of repeated names counts. */
  readonly query: ReadonlyMap<string, string>
  /** Names in lower case; values as latin1 text, exactly as Node gives them. */
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly body: RequestBody
}

/** The bytes of a request as they come over the wire (aws-chunked framing still in place). Read it once. */
export interface RequestBody {
  /** Content-Length in bytes; undefined when the body is HTTP-chunked. */
  readonly length: number | undefined
  /**
   * The bytes in arrival order. The first pull answers `Expect: 100-continue`.
   * Throws IncompleteBody when the client ends or goes away early, RequestTimeout when it stalls.
   */
  stream(): AsyncIterable<Buffer>
  /** The whole body in one buffer. Throws EntityTooLarge above `maxBytes`, otherwise as `stream`. */
  read(maxBytes: number): Promise<Buffer>
}
