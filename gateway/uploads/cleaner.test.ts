import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, expect, it } from 'vitest'
import type { Config } from '../config/properties.ts'
import { S3Error } from '../s3/errors.ts'
import { cleanUpload } from './cleaner.ts'
import { cleanerQueue } from './queues.ts'
import { openUploadsFixture, type UploadsFixture } from './uploads.fixture.ts'

let fixture: UploadsFixture
afterEach(async () => {
  await fixture.close()
})

async function open(overrides: Partial<Config>): Promise<void> {
  fixture = await openUploadsFixture({ cleanerRetryCount: 2, cleanerRetryDelayMs: 50, ...overrides })
}

function names(): string[] {
  return readdirSync(join(fixture.root, 'b')).sort()
}

async function until(holds: () => boolean | Promise<boolean>, ms = 8000): Promise<void> {
  for (const end = Date.now() + ms; !(await holds()); await pause(20)) {
    if (Date.now() > end) throw new Error('it did not come about')
  }
}

it('an upload is aborted once it is older than the timeout, and no sooner (spec §3)', async () => {
  await open({ cleanerEnabled: true, cleanerTimeoutMs: 400 })
  const old = await fixture.create('old')
  await fixture.part(old, 1, 'x')
  await pause(300)
  const young = await fixture.create('young')
  await until(() => !names().includes(old.directory))
  expect(Date.now() - old.initiatedMs).toBeGreaterThanOrEqual(400)
  expect(names()).toEqual([young.directory])
  await until(() => names().length === 0)
  expect(Date.now() - young.initiatedMs).toBeGreaterThanOrEqual(400)
  expect(await fixture.metadata.upload(old.id)).toBeUndefined()
})

it('nothing is aborted while the cleaner is off (spec §8)', async () => {
  await open({ cleanerEnabled: false, cleanerTimeoutMs: 1 })
  const upload = await fixture.create('k')
  await fixture.uploads.scan()
  await pause(100)
  await cleanUpload(fixture.stores, upload.id)
  expect(names()).toEqual([upload.directory])
})

it('the scan at start finds uploads that were opened while the cleaner was off', async () => {
  await open({ cleanerEnabled: false, cleanerTimeoutMs: 200 })
  await fixture.create('k')
  Object.assign(fixture.config, { cleanerEnabled: true })
  await pause(400)
  expect(names()).toHaveLength(1)
  await fixture.uploads.scan()
  await until(() => names().length === 0)
})

it('completed and aborted uploads are not the cleaner’s any more', async () => {
  await open({ cleanerEnabled: true, cleanerTimeoutMs: 60_000 })
  const done = await fixture.create('done')
  await fixture.part(done, 1, 'x')
  const aborted = await fixture.create('aborted')
  expect((await fixture.stores.jobs.counts(cleanerQueue(fixture.config))).delayed).toBe(2)
  await fixture.complete(done, [1])
  await fixture.uploads.abort(fixture.as, { bucket: 'b', key: 'aborted' }, aborted.id)
  expect((await fixture.stores.jobs.counts(cleanerQueue(fixture.config))).delayed).toBe(0)
})

it('a failing abort is tried again and told each time, and in the end is kept as a failed job (spec §8)', async () => {
  await open({ cleanerEnabled: true, cleanerTimeoutMs: 100 })
  const upload = await fixture.create('k')
  const { removeParts } = fixture.namespace
  let failures = 0
  Object.assign(fixture.namespace, {
    removeParts: async () => {
      failures++
      throw new S3Error('ServiceUnavailable')
    },
  })
  await until(async () => (await fixture.stores.jobs.counts(cleanerQueue(fixture.config))).failed === 1)
  expect(failures).toBe(3)
  expect(fixture.reports).toHaveLength(3)
  expect(fixture.reports[0]).toContain(upload.id)
  Object.assign(fixture.namespace, { removeParts })
  await fixture.uploads.scan()
  await until(() => names().length === 0)
})

it('an abort that fails once succeeds at the next attempt', async () => {
  await open({ cleanerEnabled: true, cleanerTimeoutMs: 100 })
  await fixture.create('k')
  const { removeParts } = fixture.namespace
  Object.assign(fixture.namespace, {
    removeParts: async () => {
      Object.assign(fixture.namespace, { removeParts })
      throw new S3Error('ServiceUnavailable')
    },
  })
  await until(() => names().length === 0)
  expect(fixture.reports).toHaveLength(1)
})

it('a timeout that was made longer meanwhile holds', async () => {
  await open({ cleanerEnabled: true, cleanerTimeoutMs: 100 })
  const upload = await fixture.create('k')
  Object.assign(fixture.config, { cleanerTimeoutMs: 1000 })
  await pause(500)
  expect(names()).toEqual([upload.directory])
  await until(() => names().length === 0)
  expect(Date.now() - upload.initiatedMs).toBeGreaterThanOrEqual(1000)
})

it('parts of a completed upload that could not be removed at once are removed later', async () => {
  await open({})
  const upload = await fixture.create('k')
  await fixture.part(upload, 1, 'x')
  const { removeParts } = fixture.namespace
  Object.assign(fixture.namespace, {
    removeParts: async () => {
      Object.assign(fixture.namespace, { removeParts })
      throw new S3Error('ServiceUnavailable')
    },
  })
  await fixture.complete(upload, [1])
  await until(() => names().length === 1)
  expect(names()).toEqual(['k'])
  expect(fixture.reports).toHaveLength(1)
})
