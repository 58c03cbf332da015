import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { Upload } from '../metadata/metadata.ts'
import { md5, target, temporaryFiles } from '../objects/objects.fixture.ts'
import { multipartEtag } from '../s3/etag.ts'
import { abortUpload } from './abort-upload.ts'
import { cleanUpload } from './cleaner.ts'
import { runCompletion } from './completion-job.ts'
import { createUpload } from './create-upload.ts'
import type { CompletionJob } from './queues.ts'
import { dawdling, dyingAt, withSteps } from './steps.fixture.ts'
import { openUploadsFixture, type UploadsFixture } from './uploads.fixture.ts'
import type { Completion } from './uploads.ts'

/** A process may be killed at any instruction: here at each place before and after a step, the job then runs again. */
let fixture: UploadsFixture
beforeAll(async () => {
  fixture = await openUploadsFixture()
})
afterEach(() => {
  const bucket = join(fixture.root, 'b')
  for (const name of readdirSync(bucket)) rmSync(join(bucket, name), { recursive: true })
})
afterAll(() => fixture.close())

const never = new AbortController().signal

function jobOf(upload: Upload, numbers: readonly number[], more: Partial<Completion> = {}): CompletionJob {
  const completion = { parts: numbers.map((number) => ({ number })), ...more }
  return { upload: upload.id, user: fixture.as.name, job: `${upload.id}-hash-1`, completion }
}

async function uploadOf(key: string, bodies: readonly string[]): Promise<Upload> {
  const upload = await fixture.create(key, { record: { contentType: 'text/plain' } })
  for (const [n, body] of bodies.entries()) await fixture.part(upload, n + 1, body)
  return upload
}

async function contentOf(key: string): Promise<string | undefined> {
  try {
    return (await fixture.get(key)).content
  } catch {
    return undefined
  }
}

function filesOf(key: string): string[] {
  return readdirSync(join(fixture.root, 'b'), { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.startsWith(key),
  )
}

/** Runs one completion after another, each killed one place later, until one comes through. */
async function atEveryPlace(
  bodies: readonly string[],
  more: Partial<Completion>,
  check: (key: string, job: CompletionJob, upload: Upload, where: string) => Promise<void>,
): Promise<number> {
  for (let place = 1; ; place++) {
    const key = `at-${place}`
    const upload = await uploadOf(key, bodies)
    const job = jobOf(
      upload,
      bodies.map((_, n) => n + 1),
      more,
    )
    const dying = dyingAt(place)
    const run = runCompletion(withSteps(fixture.stores, dying), job, never)
    const where = await Promise.race([run.then(() => undefined), dying.died])
    if (where === undefined) return place - 1
    await check(key, job, upload, where)
  }
}

for (const bodies of [['only one'], ['one', 'two', 'three']]) {
  const etag = multipartEtag(bodies.map(md5))
  const whole = bodies.join('')

  describe(`a completion of ${bodies.length} part(s), killed at every place`, () => {
    it('is finished when its job runs again: the object once, whole, and nothing left over', async () => {
      const places = await atEveryPlace(bodies, {}, async (key, job, upload, where) => {
        const outcome = await runCompletion(fixture.stores, job, never)
        expect(outcome, where).toEqual({ completed: { etag, checksums: {} } })
        const object = await fixture.get(key)
        expect(object.content, where).toBe(whole)
        expect(object.record, where).toEqual({ etag, contentType: 'text/plain', parts: bodies.map((b) => b.length) })
        expect(filesOf(key), where).toEqual([key])
        expect(temporaryFiles(fixture.root), where).toEqual([])
        expect(await fixture.metadata.upload(upload.id), where).toMatchObject({ state: 'completed' })
      })
      expect(places).toBeGreaterThan(20)
    })

    it('never comes over a newer object once it has been published', async () => {
      let published = 0
      await atEveryPlace(bodies, {}, async (key, job, _upload, where) => {
        if ((await contentOf(key)) !== whole) return
        published++
        await fixture.put(key, 'newer')
        const outcome = await runCompletion(fixture.stores, job, never)
        expect(outcome, where).toEqual({ completed: { etag, checksums: {} } })
        expect(await contentOf(key), where).toBe('newer')
        expect(filesOf(key), where).toEqual([key])
      })
      expect(published).toBeGreaterThan(3)
    })

    it('never makes an object again that was deleted since it was published', async () => {
      await atEveryPlace(bodies, {}, async (key, job, _upload, where) => {
        if ((await contentOf(key)) !== whole) return
        await fixture.objects.remove(fixture.as, target(key))
        await runCompletion(fixture.stores, job, never)
        expect(filesOf(key), where).toEqual([])
      })
    })

    it('with If-None-Match: * is not refused for the object that it has made itself', async () => {
      await atEveryPlace(bodies, { ifNoneMatch: '*' }, async (key, job, _upload, where) => {
        const outcome = await runCompletion(fixture.stores, job, never)
        expect(outcome, where).toMatchObject({ completed: { etag } })
        expect(await contentOf(key), where).toBe(whole)
      })
    })

    it('can be aborted instead, unless it may have been published', async () => {
      await atEveryPlace(bodies, {}, async (key, job, upload, where) => {
        const before = await fixture.metadata.upload(upload.id)
        const refused = await abortUpload(fixture.stores, fixture.as, target(key), upload.id).then(
          () => undefined,
          (error) => error.code,
        )
        if (before?.state === 'open' || before?.state === 'completing') {
          expect(refused, where).toBeUndefined()
          expect(await runCompletion(fixture.stores, job, never), where).toMatchObject({
            refused: { code: 'NoSuchUpload' },
          })
          expect(filesOf(key), where).toEqual([])
        } else {
          expect(refused, where).toBe(before?.state === 'assembled' ? 'OperationAborted' : 'NoSuchUpload')
          await runCompletion(fixture.stores, job, never)
          expect(filesOf(key), where).toEqual([key])
        }
        expect(temporaryFiles(fixture.root), where).toEqual([])
      })
    })

    it('is left alone by the cleaner', async () => {
      await atEveryPlace(bodies, {}, async (key, job, upload, where) => {
        const before = await fixture.metadata.upload(upload.id)
        if (before?.state === 'open') return
        const eager = { ...fixture.config, cleanerEnabled: true, cleanerTimeoutMs: 1 }
        await cleanUpload({ ...fixture.stores, config: eager }, upload.id)
        expect(await runCompletion(fixture.stores, job, never), where).toMatchObject({ completed: { etag } })
        expect(await contentOf(key), where).toBe(whole)
      })
    })
  })

  describe(`a completion of ${bodies.length} part(s), refused and killed at every place`, () => {
    it('leaves the parts whole and the upload open once its job has run again', async () => {
      const wrong = { checksums: { crc32: 'AAAAAA==' } }
      const places = await atEveryPlace(bodies, wrong, async (key, job, upload, where) => {
        expect(await runCompletion(fixture.stores, job, never), where).toMatchObject({ refused: { code: 'BadDigest' } })
        expect(await fixture.metadata.upload(upload.id), where).toMatchObject({ state: 'open', record: { etag: '' } })
        expect(
          await fixture.complete(
            upload,
            bodies.map((_, n) => n + 1),
          ),
          where,
        ).toMatchObject({ etag })
        expect(await contentOf(key), where).toBe(whole)
        expect(temporaryFiles(fixture.root), where).toEqual([])
      })
      expect(places).toBeGreaterThan(5)
    })
  })

  describe(`a completion of ${bodies.length} part(s), run twice at once`, () => {
    it.each([1, 2, 3, 4, 5, 6, 7, 8])('publishes once and never over what came after it (seed %i)', async (seed) => {
      const random = mulberry(seed)
      for (let round = 0; round < 4; round++) {
        const key = `round-${round}`
        const upload = await uploadOf(key, bodies)
        const job = jobOf(
          upload,
          bodies.map((_, n) => n + 1),
        )
        let newer = false
        const runs = [0, 1].map(async () => {
          const stores = withSteps({ ...fixture.stores, report: () => {} }, dawdling(random))
          const outcome = await runCompletion(stores, job, never).catch((error) => error.code)
          if (outcome === 'ServiceUnavailable' || newer) return outcome
          newer = true
          await fixture.put(key, 'newer')
          return outcome
        })
        const outcomes = await Promise.all(runs)
        const completed = outcomes.filter((outcome) => outcome.completed?.etag === etag)
        expect(completed.length).toBeGreaterThan(0)
        expect(completed.length + outcomes.filter((outcome) => outcome === 'ServiceUnavailable').length).toBe(2)
        expect(await contentOf(key)).toBe('newer')
        expect(filesOf(key)).toEqual([key])
        expect(temporaryFiles(fixture.root)).toEqual([])
      }
    })
  })
}

it('an upload whose opening is killed at any place leaves no directory that an abort by the start-up scan would not find', async () => {
  const wanted = { record: {}, tags: [], checksumAlgorithm: undefined, checksumType: undefined }
  for (let place = 1; ; place++) {
    const key = `open-${place}`
    const dying = dyingAt(place)
    const run = createUpload(withSteps(fixture.stores, dying), fixture.as, target(key), 'b', wanted)
    const where = await Promise.race([run.then(() => undefined), dying.died])
    if (where === undefined) break
    const known = (await fixture.metadata.uploads({ bucket: 'b', limit: 1000 })).filter((upload) => upload.key === key)
    if (filesOf(key).length > 0) expect(known, where).toHaveLength(1)
    for (const upload of known) await abortUpload(fixture.stores, fixture.as, target(key), upload.id)
    expect(filesOf(key), where).toEqual([])
  }
})

it('an abort that is killed at any place is finished by the cleaner, also when that is off', async () => {
  for (let place = 1; ; place++) {
    const key = `abort-${place}`
    const upload = await uploadOf(key, ['one', 'two'])
    const dying = dyingAt(place)
    const run = abortUpload(withSteps(fixture.stores, dying), fixture.as, target(key), upload.id)
    const where = await Promise.race([run.then(() => undefined), dying.died])
    if (where === undefined) break
    if ((await fixture.metadata.upload(upload.id))?.state === 'open') continue
    await cleanUpload(fixture.stores, upload.id)
    expect(filesOf(key), where).toEqual([])
    expect(await fixture.metadata.upload(upload.id), where).toBeUndefined()
  }
})

function mulberry(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
}
