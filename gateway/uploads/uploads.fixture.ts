import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Config } from '../config/properties.ts'
import type { Identity, Users } from '../identity/identity.ts'
import { openEmbeddedJobs } from '../jobs/embedded.ts'
import type { Upload } from '../metadata/metadata.ts'
import { contentOf, type Fixture, openFixture, processUser, target } from '../objects/objects.fixture.ts'
import type { WrittenObject } from '../objects/objects.ts'
import { createUploads } from './create-uploads.ts'
import type { Stores } from './stores.ts'
import type { CompletedUpload, Completion, NewUpload, Uploads } from './uploads.ts'

/** Uploads over a real directory, a real store and real jobs, all gone after the test. */
export interface UploadsFixture extends Fixture {
  readonly stores: Stores
  readonly uploads: Uploads & { scan(): Promise<void> }
  /** What operators were told. */
  readonly reports: string[]
  create(key: string, upload?: Partial<NewUpload>): Promise<Upload>
  part(upload: Upload, number: number, body: string | Buffer): Promise<WrittenObject>
  /** Lists the given part numbers and waits for the outcome. */
  complete(upload: Upload, numbers: readonly number[], more?: Partial<Completion>): Promise<CompletedUpload>
}

/** Anybody else. In a test everything belongs to the user of the process, so only the name tells them apart. */
export const otherUser: Identity = { ...processUser, name: 'somebody-else', superuser: false }

/** A user who is not the process user, so that they may use their own uploads only. */
export const owner: Identity = { ...processUser, name: 'an-owner', superuser: false }

const users: Users = {
  async identify(name) {
    if (name === undefined) return { ...processUser, authenticated: false }
    return name === processUser.name ? processUser : { ...owner, name }
  },
  nameOf: String,
}

/** By default every size of part is allowed and the cleaner is off. */
export async function openUploadsFixture(overrides: Partial<Config> = {}): Promise<UploadsFixture> {
  const objectsFixture = await openFixture({ minPartSize: 0, ...overrides })
  const { config, namespace, metadata, objects, as } = objectsFixture
  const directory = mkdtempSync(join(tmpdir(), 's3proxy-uploads-'))
  const jobs = await openEmbeddedJobs({ directory })
  const reports: string[] = []
  const stores = {
    config,
    namespace,
    metadata,
    objects,
    jobs,
    users,
    report: (message: string, error: unknown) => void reports.push(`${message} ${error}`),
  }
  const uploads = createUploads(stores)
  return {
    ...objectsFixture,
    stores,
    uploads,
    reports,
    create: (key, upload = {}) =>
      uploads.create(as, target(key), 'b', {
        record: {},
        tags: [],
        checksumAlgorithm: undefined,
        checksumType: undefined,
        ...upload,
      }),
    part: ({ key, id }, number, body) => uploads.storePart(as, target(key), id, number, contentOf(body)),
    async complete({ key, id }, numbers, more) {
      const parts = numbers.map((number) => ({ number }))
      const { done } = await uploads.complete(as, target(key), id, { parts, ...more })
      return done
    },
    async close() {
      await jobs.close(5000)
      await objectsFixture.close()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}
