import { statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { Upload } from '../metadata/metadata.ts'
import { md5 } from '../objects/objects.fixture.ts'
import { multipartEtag } from '../s3/etag.ts'
import { openUploadsFixture, type UploadsFixture } from './uploads.fixture.ts'

let fixture: UploadsFixture
beforeEach(async () => {
  fixture = await openUploadsFixture()
})
afterEach(() => fixture.close())

/** Parts as the gateway would have stored them, but made of holes. */
async function sparseParts(upload: Upload, count: number, size: number): Promise<void> {
  const directory = { bucket: 'b', key: `${upload.directory}/` }
  for (let number = 1; number <= count; number++) {
    const path = join(fixture.root, 'b', upload.directory, String(number))
    writeFileSync(path, '')
    truncateSync(path, size)
  }
  for (const { number, entry } of await fixture.namespace.parts(fixture.as, directory)) {
    await fixture.metadata.putRecord(entry.id, { etag: md5(String(number)) }, [])
  }
}

/** Runs something and tells how the event loop fared: what share of the time it was busy, and its longest delay. */
async function watched(work: () => Promise<unknown>): Promise<{ busy: number; longestMs: number }> {
  const delay = monitorEventLoopDelay({ resolution: 5 })
  const before = performance.eventLoopUtilization()
  delay.enable()
  await work()
  delay.disable()
  return { busy: performance.eventLoopUtilization(before).utilization, longestMs: delay.max / 1e6 }
}

function numbersTo(count: number): number[] {
  return Array.from({ length: count }, (_, n) => n + 1)
}

it('10,000 parts become one object without holding up the process for long', async () => {
  const upload = await fixture.create('many')
  await sparseParts(upload, 10_000, 100)
  const { longestMs } = await watched(() => fixture.complete(upload, numbersTo(10_000)))
  const { record, size } = { ...(await fixture.get('many')), size: statSync(join(fixture.root, 'b', 'many')).size }
  expect(size).toBe(1_000_000)
  expect(record.etag).toBe(multipartEtag(numbersTo(10_000).map((number) => md5(String(number)))))
  expect(record.parts).toHaveLength(10_000)
  console.log(`longest delay of the event loop: ${longestMs.toFixed(0)} ms`)
  expect(longestMs).toBeLessThan(500)
})

it('an object of 5 GiB is assembled beside everything else', async () => {
  const upload = await fixture.create('large')
  await sparseParts(upload, 5, 2 ** 30)
  const { busy, longestMs } = await watched(() => fixture.complete(upload, numbersTo(5)))
  expect(statSync(join(fixture.root, 'b', 'large')).size).toBe(5 * 2 ** 30)
  console.log(`event loop: busy ${(busy * 100).toFixed(1)} %, longest delay ${longestMs.toFixed(0)} ms`)
  expect(busy).toBeLessThan(0.2)
  expect(longestMs).toBeLessThan(500)
})
