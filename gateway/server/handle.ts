import type { Buckets } from '../buckets/buckets.ts'
import type { Config } from '../config/properties.ts'
import type { Admission } from '../flow/admission.ts'
import type { Users } from '../identity/identity.ts'
import type { Objects } from '../objects/objects.ts'
import type { Operation } from '../operations/operation.ts'
import { actingUserName } from '../s3/authorization.ts'
import { S3Error } from '../s3/errors.ts'
import type { Reply } from '../s3/reply.ts'
import type { RoutedRequest } from '../s3/router.ts'
import type { Uploads } from '../uploads/uploads.ts'
import type { Exchange } from './exchange.ts'
import { disposeReply } from './send-reply.ts'

/** All that requests are answered with. */
export interface Services {
  readonly config: Config
  readonly users: Users
  readonly buckets: Buckets
  readonly objects: Objects
  readonly uploads: Uploads
  readonly admission: Admission
  /** The operation of a request. Throws MethodNotAllowed, NotImplemented. */
  readonly route: (request: RoutedRequest) => Operation<unknown>
}

/** A completion runs as a job that outlives its request: no timeout cuts it. */
const unbounded = 'CompleteMultipartUpload'

/** Operations whose body is content. Without a length it would be taken for empty, and the object be lost. */
const contentOperations: ReadonlySet<string> = new Set(['PutObject', 'UploadPart'])

/** The life of one request, from its address to its reply. Throws S3Error, and anything else for a fault of ours. */
export async function handle(exchange: Exchange, services: Services): Promise<Reply> {
  const operation = services.route(exchange)
  exchange.operation = operation.name
  if (operation.effect === 'write' && services.config.readOnly) {
    throw new S3Error('AccessDenied', 'This gateway is read-only (svc.proxy.readonly).')
  }
  if (contentOperations.has(operation.name) && !exchange.announcesBody) throw new S3Error('MissingContentLength')
  const slot = await services.admission.enter(operation.pool, operation.name === unbounded)
  exchange.body.slot = slot
  return slot.reply(
    perform(operation, exchange, services).finally(() => slot.leave()),
    disposeReply,
  )
}

async function perform(operation: Operation<unknown>, exchange: Exchange, services: Services): Promise<Reply> {
  const { config, users, buckets, objects, uploads } = services
  // Within the slot: a name that is new is given a uid on disk, which is work like any other.
  const user = await users.identify(actingUserName(exchange))
  exchange.identity = user
  const input = operation.input(exchange, config)
  return operation.run(input, { request: exchange, config, user, users, buckets, objects, uploads })
}
