/**
 * Every error the gateway answers: S3's code, HTTP status, default message (a sentence that says what to do where
 * there is something to do). Source: AWS "List of error codes" unless noted. `docs/errors.md` is generated from it.
 */
export const errors = {
  AccessDenied: [403, 'Access Denied'],
  AuthorizationHeaderMalformed: [400, 'The authorization header names no user. Send Credential=<user>/<scope> in it.'],
  BadDigest: [400, 'The digest you specified did not match what we received. Send the request again.'],
  BucketAlreadyExists: [409, 'A bucket of this name exists and belongs to another user. Choose another name.'],
  BucketAlreadyOwnedByYou: [409, 'You own a bucket of this name already.'],
  BucketNotEmpty: [409, 'The bucket you tried to delete is not empty. Delete its objects and folders first.'],
  EntityTooLarge: [400, 'Your proposed upload exceeds the maximum allowed size.'],
  EntityTooSmall: [400, 'Your proposed upload is smaller than the minimum allowed size.'],
  /** Ours, as S3 has no folders: the key names a folder of the file system. */
  ExistingObjectIsDirectory: [409, 'A folder exists at this key. Choose another key or delete the folder first.'],
  /** Ours, as S3 has no folders: the key of a folder names an object. */
  ExistingObjectIsFile: [409, 'An object exists at the path of this folder. Choose another key or delete it first.'],
  IncompleteBody: [400, 'You did not provide the number of bytes specified by the Content-Length HTTP header.'],
  InternalError: [500, 'We encountered an internal error. Please try again.'],
  InvalidArgument: [400, 'Invalid Argument'],
  InvalidBucketName: [400, 'The specified bucket is not valid.'],
  InvalidDigest: [400, 'The Content-MD5 or checksum value you specified is not valid.'],
  InvalidPart: [400, 'One or more of the specified parts could not be found, or its ETag did not match.'],
  InvalidPartNumber: [416, 'The requested partnumber is not satisfiable'],
  InvalidPartOrder: [400, 'The list of parts was not in ascending order. Parts must be ordered by part number.'],
  InvalidRange: [416, 'The requested range is not satisfiable'],
  InvalidRequest: [400, 'Invalid Request'],
  InvalidTag: [400, 'The tag provided was not a valid tag.'],
  InvalidURI: [400, "Couldn't parse the specified URI."],
  KeyTooLongError: [400, 'Your key is too long.'],
  MalformedXML: [400, 'The XML you provided was not well-formed or did not validate against our published schema'],
  MalformedTrailerError: [
    400,
    'The request contained trailing data that was not well-formed or did not conform to our published schema.',
  ],
  MaxMessageLengthExceeded: [400, 'Your request was too big.'],
  MetadataTooLarge: [400, 'Your metadata headers exceed the maximum allowed metadata size.'],
  MethodNotAllowed: [405, 'The specified method is not allowed against this resource.'],
  MissingContentLength: [411, 'You must provide the Content-Length HTTP header.'],
  NoSuchBucket: [404, 'The specified bucket does not exist'],
  NoSuchKey: [404, 'The specified key does not exist.'],
  NoSuchUpload: [404, 'The specified multipart upload does not exist. It may have been aborted or completed.'],
  NotImplemented: [501, 'A header or sub-resource you provided implies functionality that is not implemented.'],
  /** Ours: there is no room left on the file system, or a quota is used up. */
  InsufficientStorage: [507, 'There is no space left on the file system. Free some, then send the request again.'],
  /** Ours, as S3 has no folders: a parent of the key is a plain object. */
  ObjectParentIsFile: [409, 'A parent of this key is an object, so nothing can lie below it. Choose another key.'],
  OperationAborted: [409, 'A conflicting operation is in progress against this resource. Try again.'],
  PreconditionFailed: [412, 'At least one of the pre-conditions you specified did not hold'],
  RequestHeaderSectionTooLarge: [400, 'Your request header and query parameters exceed the maximum size of 64 KB.'],
  RequestTimeout: [400, 'Your socket connection to the server was not read from or written to within the timeout.'],
  ServiceUnavailable: [503, 'The service cannot do this at the moment. Please try again.'],
  SlowDown: [503, 'Please reduce your request rate.'],
  UnexpectedContent: [400, 'This request does not support content'],
  XAmzContentSHA256Mismatch: [400, "The provided 'x-amz-content-sha256' header does not match what was computed."],
} as const satisfies Record<string, readonly [status: number, message: string]>

export type ErrorCode = keyof typeof errors

/** Thrown anywhere below the server, turned into XML in one place. */
export class S3Error extends Error {
  readonly code: ErrorCode
  readonly status: number
  /** Extra elements of the error document (`<Key>`, `<BucketName>`…), as AWS adds them. */
  readonly details: Readonly<Record<string, string>>
  /** Extra response headers (Retry-After, Content-Range, …). */
  readonly headers: Readonly<Record<string, string>>

  constructor(
    code: ErrorCode,
    message?: string,
    options: { cause?: unknown; details?: Record<string, string>; headers?: Record<string, string> } = {},
  ) {
    const [status, text] = errors[code]
    super(message ?? text, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'S3Error'
    this.code = code
    this.status = status
    this.details = options.details ?? {}
    this.headers = options.headers ?? {}
  }
}
