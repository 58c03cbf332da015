import type { Buckets } from '../buckets/buckets.ts'
import type { Config } from '../config/properties.ts'
import type { Identity, Users } from '../identity/identity.ts'
import type { Objects } from '../objects/objects.ts'
import type { Reply } from '../s3/reply.ts'
import type { S3Request } from '../s3/request.ts'
import type { Route } from '../s3/router.ts'
import type { Uploads } from '../uploads/uploads.ts'

/** One S3 operation: how it is recognised, what it takes, what it does. One file each; `index.ts` is the table. */
export interface Operation<I> {
  /** AWS's name; also metric label, span name and log field. */
  readonly name: string
  readonly route: Route
  /** Which of the two pools of spec §8 admits it. */
  readonly pool: 'heavy' | 'light'
  /** Writes are refused with `svc.proxy.readonly`. */
  readonly effect: 'read' | 'write'
  readonly summary: string
  /** Typed and validated from the head of the request alone, before a byte of the body is asked for. Throws S3Error. */
  input(request: S3Request, config: Config): I
  run(input: I, context: Context): Promise<Reply>
}

/** All that an operation may use. */
export interface Context {
  readonly request: S3Request
  readonly config: Config
  readonly user: Identity
  /** For the names in Owner elements. */
  readonly users: Users
  readonly buckets: Buckets
  readonly objects: Objects
  readonly uploads: Uploads
}

/** Declares an operation; exists for the inference of its input type. */
export function operation<I>(declaration: Operation<I>): Operation<I> {
  return declaration
}
