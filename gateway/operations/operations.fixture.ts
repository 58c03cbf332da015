import { readSync } from 'node:fs'
import { createBuckets } from '../buckets/create-buckets.ts'
import type { Config } from '../config/properties.ts'
import type { Identity, Users } from '../identity/identity.ts'
import { type Fixture, openFixture, processUser } from '../objects/objects.fixture.ts'
import { parseTarget } from '../s3/address.ts'
import { S3Error } from '../s3/errors.ts'
import type { Reply } from '../s3/reply.ts'
import type { RequestBody, S3Request } from '../s3/request.ts'
import { compileRouter } from '../s3/router.ts'
import type { Uploads } from '../uploads/uploads.ts'
import { operations } from './index.ts'

/** What a request is answered; of an error the code as `code`, as the server would turn it into XML. */
interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
  readonly code: string | undefined
}

interface Asked {
  readonly headers?: Record<string, string>
  readonly body?: string | Buffer
  readonly as?: Identity
}

/** The operations over a real directory and store, without a server. */
export interface OperationsFixture extends Fixture {
  /** `GET /b/key?query`, as it would come over the wire. */
  ask(line: string, asked?: Asked): Promise<Answer>
}

const users: Users = {
  identify: async () => processUser,
  nameOf: (uid) => (uid === processUser.uid ? processUser.name : String(uid)),
}

/** Over objects only, or over the objects and uploads given. */
export async function openOperations(
  overrides: Partial<Config> = {},
  own?: Fixture & { readonly uploads: Uploads },
): Promise<OperationsFixture> {
  const fixture = own ?? (await openFixture(overrides))
  const route = compileRouter(operations)
  const buckets = createBuckets(fixture)
  // Only what operations on objects ask of uploads; their own tests have the rest.
  const uploads = own?.uploads ?? ({ displace: async () => undefined } as unknown as Uploads)

  async function ask(line: string, { headers = {}, body, as = processUser }: Asked = {}): Promise<Answer> {
    try {
      const request = requestOf(line, headers, body)
      const target = request.key !== undefined ? 'object' : request.bucket !== undefined ? 'bucket' : 'service'
      const operation = route({ ...request, target })
      const input = operation.input(request, fixture.config)
      const { config, objects } = fixture
      const reply = await operation.run(input, { request, config, user: as, users, buckets, objects, uploads })
      return { status: reply.status, headers: reply.headers, text: await textOf(reply), code: undefined }
    } catch (error) {
      if (!(error instanceof S3Error)) throw error
      return { status: error.status, headers: error.headers, text: error.message, code: error.code }
    }
  }
  return { ...fixture, ask }
}

function requestOf(line: string, headers: Record<string, string>, body: string | Buffer | undefined): S3Request {
  const [method = '', url = ''] = line.split(' ')
  const address = parseTarget(url, '')
  if (address === undefined) throw new Error(`no target: ${url}`)
  return { id: 'test', method, ...address, headers, body: bodyOf(body) }
}

function bodyOf(content: string | Buffer = ''): RequestBody {
  const bytes = Buffer.from(content)
  return {
    length: bytes.length,
    async *stream() {
      if (bytes.length > 0) yield bytes
    },
    read: async () => bytes,
  }
}

async function textOf({ body }: Reply): Promise<string> {
  if (body === undefined) return ''
  if (typeof body === 'string' || Buffer.isBuffer(body)) return body.toString()
  if (!('file' in body)) {
    let text = ''
    for await (const piece of body) text += piece
    return text
  }
  try {
    const bytes = Buffer.alloc(body.length)
    readSync(body.file.fd, bytes, 0, body.length, body.start)
    return bytes.toString()
  } finally {
    body.file.close()
  }
}
