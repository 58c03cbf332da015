import { mkdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { createBuckets } from '../buckets/create-buckets.ts'
import type { Config } from '../config/properties.ts'
import { createAdmission } from '../flow/admission.ts'
import { openUsers } from '../identity/users.ts'
import { openEmbeddedJobs } from '../jobs/embedded.ts'
import type { Jobs, Queue } from '../jobs/jobs.ts'
import { openEmbeddedMetadata } from '../metadata/embedded.ts'
import type { Metadata } from '../metadata/metadata.ts'
import type { Namespace } from '../namespace/namespace.ts'
import { openNamespace } from '../namespace/posix.ts'
import { createObjects } from '../objects/create-objects.ts'
import { operations } from '../operations/index.ts'
import { compileRouter } from '../s3/router.ts'
import type { Services } from '../server/handle.ts'
import type { Log } from '../telemetry/log.ts'
import { createUploads } from '../uploads/create-uploads.ts'
import { cleanerQueue, completionQueue } from '../uploads/queues.ts'
import { recover } from './recover.ts'

/** Everything below the server, and its end. */
export interface OpenServices extends Services {
  readonly namespace: Namespace
  readonly metadata: Metadata
  readonly jobs: Jobs
  readonly queues: readonly Queue<never, never>[]
  /** Takes up what was begun before this process: temporary files of dead ones, uploads that are to be cleaned. */
  recover(): Promise<void>
  /** Waits for running jobs up to `deadlineMs`, then closes all. */
  close(deadlineMs: number): Promise<void>
}

/** Opens what requests are answered with. Throws an Error with a sentence when the gateway cannot work. */
export async function openServices(config: Config, log: Log): Promise<OpenServices> {
  const directory = config.metadataDirectory || join(config.root, '.s3proxy', 'metadata')
  await mkdir(resolve(config.root), { recursive: true })
  const namespace = await openNamespace({ config })
  const metadata = await openEmbeddedMetadata({ directory })
  const jobs = await openEmbeddedJobs({ directory })
  const users = await openUsers({ config })
  const stores = { config, namespace, metadata, users, jobs }
  const objects = createObjects(stores)
  const buckets = createBuckets(stores)
  const report = (message: string, error: unknown) => log.error({ err: error }, message)
  const uploads = createUploads({ ...stores, objects, report })
  return {
    ...stores,
    objects,
    buckets,
    uploads,
    queues: [completionQueue(config), cleanerQueue(config)] as unknown as readonly Queue<never, never>[],
    admission: createAdmission(config),
    route: compileRouter(operations),
    async recover() {
      const count = await recover(namespace, metadata)
      if (count > 0) log.info({ count }, 'cleaned up after processes that died')
      await uploads.scan()
    },
    async close(deadlineMs) {
      await jobs.close(deadlineMs)
      await metadata.close()
      await namespace.close()
    },
  }
}
