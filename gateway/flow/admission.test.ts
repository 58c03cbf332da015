import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Config } from '../config/properties.ts'
import { createAdmission, type Slot } from './admission.ts'

const bounded = { version2: true, asyncProcessing: false, maxRequests: 2 } as Config
const pooled = {
  version2: true,
  asyncProcessing: true,
  maxRequests: 1,
  asyncContextTimeoutMs: 1000,
  heavyPoolCore: 1,
  heavyPoolMaximum: 1,
  heavyPoolQueue: 1,
  lightPoolCore: 1,
  lightPoolMaximum: 1,
  lightPoolQueue: 0,
} as Config

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
})
afterEach(() => {
  vi.useRealTimers()
})

describe('admission without async processing', () => {
  it('bounds the requests in flight of both pools together, then tells to slow down', () => {
    const admission = createAdmission(bounded)
    const slot = admission.enter('heavy', false) as Slot
    admission.enter('light', false)
    expect(() => admission.enter('light', false)).toThrow(
      expect.objectContaining({ code: 'SlowDown', status: 503, headers: { 'Retry-After': '1' } }),
    )
    slot.leave()
    expect(() => admission.enter('light', false), 'the answer is still being sent').toThrow('reduce')
    slot.end()
    expect(admission.counts('light').running).toBe(1)
    admission.enter('light', false)
  })

  it('needs the v2 service for the pools (spec §8)', () => {
    const admission = createAdmission({ ...pooled, version2: false, maxRequests: 5 })
    for (let turn = 0; turn < 5; turn++) admission.enter('light', false)
    expect(() => admission.enter('light', false)).toThrow('reduce')
  })
})

describe('admission with async processing', () => {
  it('keeps the pools apart', () => {
    const admission = createAdmission(pooled)
    admission.enter('light', false)
    expect(() => admission.enter('light', false)).toThrow('reduce')
    admission.enter('heavy', false)
    expect(admission.counts('heavy')).toEqual({ running: 1, waiting: 0 })
  })

  it('answers 503 when the context timeout passes, and disposes of the late reply', async () => {
    const slot = createAdmission(pooled).enter('heavy', false) as Slot
    const late: string[] = []
    const work = Promise.withResolvers<string>()
    const reply = slot.reply(work.promise, (value) => late.push(value))
    const refused = expect(reply).rejects.toMatchObject({ code: 'ServiceUnavailable', status: 503 })
    await vi.advanceTimersByTimeAsync(1001)
    await refused
    work.resolve('late')
    await vi.advanceTimersByTimeAsync(0)
    expect(late).toEqual(['late'])
  })

  it('counts the wait in the queue, and gives back the slot that comes too late', async () => {
    const admission = createAdmission(pooled)
    const first = admission.enter('heavy', false) as Slot
    const second = admission.enter('heavy', false) as Promise<Slot>
    const refused = expect(second).rejects.toMatchObject({ code: 'ServiceUnavailable' })
    await vi.advanceTimersByTimeAsync(1001)
    await refused
    first.leave()
    await vi.advanceTimersByTimeAsync(0)
    expect(admission.counts('heavy')).toEqual({ running: 0, waiting: 0 })
  })

  it('never cuts what runs as a job', async () => {
    const slot = createAdmission(pooled).enter('heavy', true) as Slot
    const work = Promise.withResolvers<string>()
    const reply = slot.reply(work.promise, () => {})
    await vi.advanceTimersByTimeAsync(100_000)
    work.resolve('completed')
    expect(await reply).toBe('completed')
  })

  it('starts the clock again when bytes come from the client, and stops it while none come (our choice)', async () => {
    const slot = createAdmission(pooled).enter('heavy', false) as Slot
    const work = Promise.withResolvers<string>()
    const reply = slot.reply(work.promise, () => {})
    for (let chunk = 0; chunk < 5; chunk++) {
      slot.park()
      await vi.advanceTimersByTimeAsync(5000)
      await slot.unpark()
      await vi.advanceTimersByTimeAsync(900)
    }
    work.resolve('done')
    expect(await reply).toBe('done')
  })

  it('lets others work while a slot is parked', async () => {
    const admission = createAdmission(pooled)
    const uploading = admission.enter('light', false) as Slot
    uploading.park()
    const other = admission.enter('light', false) as Slot
    const back = uploading.unpark()
    let resumed = false
    void back?.then(() => {
      resumed = true
    })
    await vi.advanceTimersByTimeAsync(10)
    expect(resumed).toBe(false)
    other.leave()
    await back
    expect(admission.counts('light').running).toBe(1)
    uploading.leave()
    expect(admission.counts('light').running).toBe(0)
  })
})
