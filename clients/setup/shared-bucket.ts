import { join } from 'node:path'
import {
  CreateBucketCommand,
  GetObjectCommand,
  HeadObjectCommand,
  type HeadObjectCommandOutput,
  ListObjectsV2Command,
  PutObjectCommand,
  type PutObjectCommandInput,
  S3Client,
} from '@aws-sdk/client-s3'
import { run } from './command.ts'
import { type Gateway, startClientGateway } from './gateway.ts'
import { user } from './users.ts'

/** What the SDK throws for a HEAD of what is not there. */
export const notFound = { name: 'NotFound', $metadata: { httpStatusCode: 404 } }

/** A bucket of the acting user that is looked at from both sides: by S3 and by plain tools. */
export interface SharedBucket {
  readonly gateway: Gateway
  readonly name: string
  readonly directory: string
  readonly s3: S3Client
  client(as: string): S3Client
  /** Runs a line of shell, as this process's user, in the bucket's directory and gives what it wrote. */
  shell(line: string, input?: Buffer): Promise<string>
  put(key: string, body: string, more?: Partial<PutObjectCommandInput>): Promise<{ ETag?: string | undefined }>
  /** The bytes of an object, one character each. */
  read(key: string, range?: string): Promise<string>
  head(key: string): Promise<HeadObjectCommandOutput>
  /** Keys and sizes of one page. */
  list(prefix?: string): Promise<[key: string, size: number][]>
}

/** Starts a gateway and makes a bucket in it. */
export async function startWithBucket(name: string): Promise<SharedBucket> {
  const gateway = await startClientGateway()
  const client = (as: string): S3Client =>
    new S3Client({
      endpoint: gateway.endpoint,
      region: 'us-east-1',
      forcePathStyle: true,
      maxAttempts: 1,
      credentials: { accessKeyId: as, secretAccessKey: 'unused' },
    })
  const s3 = client(user)
  await s3.send(new CreateBucketCommand({ Bucket: name }))
  const directory = join(gateway.root, name)
  return {
    gateway,
    name,
    directory,
    s3,
    client,
    async shell(line, input = Buffer.alloc(0)) {
      return (await run('sh', ['-euc', line], { cwd: directory, input })).stdout.toString()
    },
    put: (Key, Body, more = {}) => s3.send(new PutObjectCommand({ Bucket: name, Key, Body, ...more })),
    async read(Key, Range) {
      const place = { Bucket: name, Key, ...(Range === undefined ? {} : { Range }) }
      const { Body } = await s3.send(new GetObjectCommand(place))
      return (await Body?.transformToString('latin1')) ?? ''
    },
    head: (Key) => s3.send(new HeadObjectCommand({ Bucket: name, Key })),
    async list(Prefix = '') {
      const { Contents = [] } = await s3.send(new ListObjectsV2Command({ Bucket: name, Prefix }))
      return Contents.map(({ Key = '', Size = -1 }) => [Key, Size])
    },
  }
}
