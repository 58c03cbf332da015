import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { S3Error } from '../s3/errors.ts'
import { type OperationsFixture, openOperations } from './operations.fixture.ts'

let fixture: OperationsFixture

beforeAll(async () => {
  fixture = await openOperations()
  await fixture.put('from', 'hello')
})
afterAll(() => fixture.close())

describe('a CopyObject that takes long', () => {
  async function copySlowly(finish: () => Promise<void>): Promise<string> {
    const { objects } = fixture
    const copy = objects.copy
    onTestFinished(() => {
      Object.assign(objects, { copy })
      vi.useRealTimers()
    })
    Object.assign(objects, {
      async copy(...args: Parameters<typeof copy>) {
        const copied = await copy(...args)
        await vi.advanceTimersByTimeAsync(12_000)
        await finish()
        return copied
      },
    })
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const answer = await fixture.ask('PUT /b/to', { headers: { 'x-amz-copy-source': 'b/from' } })
    expect(answer.status).toBe(200)
    return answer.text
  }

  test('sends whitespace, then its document (documented by S3)', async () => {
    const text = await copySlowly(async () => {})
    expect(text).toMatch(/^ +<CopyObjectResult .*<ETag>&quot;5d41402abc4b2a76b9719d911017c592&quot;/)
  })

  test('tells an error in the document, as the status has gone out (documented by S3)', async () => {
    const text = await copySlowly(async () => {
      await pause(1)
      throw new S3Error('InsufficientStorage')
    })
    expect(text).toMatch(/^ +<Error><Code>InsufficientStorage<\/Code>.*<\/Error>$/)
  })
})
