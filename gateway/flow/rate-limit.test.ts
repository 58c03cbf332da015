import { describe, expect, it } from 'vitest'
import { type Clock, RateLimit } from './rate-limit.ts'

const megabyte = 2 ** 20

/** A clock that stands still until it is told to go on. */
class FalseClock implements Clock {
  #nowMs = 0
  #calls: { atMs: number; call: () => void }[] = []

  nowMs(): number {
    return this.#nowMs
  }

  after(ms: number, call: () => void): void {
    this.#calls.push({ atMs: this.#nowMs + ms, call })
  }

  /** Goes on until `done`; returns the time it is then. */
  async runUntil(done: () => boolean): Promise<number> {
    for (let step = 0; step < 1_000_000 && !done(); step++) {
      for (let turn = 0; turn < 5; turn++) await Promise.resolve()
      if (done()) break
      this.#calls.sort((a, b) => a.atMs - b.atMs)
      const next = this.#calls.shift()
      if (next === undefined) {
        await new Promise(setImmediate)
        continue
      }
      this.#nowMs = next.atMs
      next.call()
    }
    return this.#nowMs
  }
}

/** Passes `total` bytes through the limits, as a transfer does. */
async function transfer(total: number, limits: readonly RateLimit[], progress?: (sent: number) => void): Promise<void> {
  for (let sent = 0; sent < total; ) {
    const size = Math.min(total - sent, ...limits.map((limit) => limit.chunkSize()))
    for (const limit of limits) await limit.take(size)
    sent += size
    progress?.(sent)
  }
}

async function timed(clock: FalseClock, transfers: readonly Promise<void>[]): Promise<number> {
  let finished = false
  void Promise.all(transfers).then(() => {
    finished = true
  })
  return clock.runUntil(() => finished)
}

describe('a rate limit', () => {
  it('lets 8 MiB through in about 4 s at 2 MB/s, as the reference does (facts §14)', async () => {
    const clock = new FalseClock()
    const limit = new RateLimit(() => 2 * megabyte, clock)
    const tookMs = await timed(clock, [transfer(8 * megabyte, [limit])])
    expect(tookMs).toBeGreaterThan(3850)
    expect(tookMs).toBeLessThan(4100)
  })

  it('is smooth: in no 250 ms passes more than a third of a second is worth', async () => {
    const clock = new FalseClock()
    const limit = new RateLimit(() => 2 * megabyte, clock)
    const passed: { atMs: number; sent: number }[] = []
    await timed(clock, [transfer(4 * megabyte, [limit], (sent) => passed.push({ atMs: clock.nowMs(), sent }))])
    for (const { atMs, sent } of passed) {
      const later = passed.filter((each) => each.atMs >= atMs && each.atMs < atMs + 250).at(-1)
      expect((later?.sent ?? 0) - sent).toBeLessThan(0.34 * 2 * megabyte)
    }
  })

  it('is nothing at all without a rate', () => {
    const limit = new RateLimit(() => undefined, new FalseClock())
    expect(limit.take(1e12)).toBeUndefined()
    expect(limit.limited).toBe(false)
  })

  it('gives many transfers the same share, and a late one at once its part', async () => {
    const clock = new FalseClock()
    const limit = new RateLimit(() => 10 * megabyte, clock)
    const sent = [0, 0, 0, 0]
    const run = (index: number) => transfer(5 * megabyte, [limit], (bytes) => (sent[index] = bytes))
    const early = [run(0), run(1), run(2)]
    await clock.runUntil(() => (sent[0] ?? 0) > megabyte)
    const late = run(3)
    await clock.runUntil(() => (sent[0] ?? 0) > 3 * megabyte)
    expect(Math.max(...sent.slice(0, 3)) - Math.min(...sent.slice(0, 3))).toBeLessThan(megabyte / 2)
    expect(sent[3]).toBeGreaterThan(1.5 * megabyte)
    await timed(clock, [...early, late])
  })

  it('starves nobody with a thousand transfers at a low rate', async () => {
    const clock = new FalseClock()
    const limit = new RateLimit(() => 2 * megabyte, clock)
    const longestMs = Array.from({ length: 1000 }, () => 0)
    const transfers = longestMs.map((_, index) => {
      let lastMs = 0
      return transfer(16384, [limit], () => {
        longestMs[index] = Math.max(longestMs[index] ?? 0, clock.nowMs() - lastMs)
        lastMs = clock.nowMs()
      })
    })
    const tookMs = await timed(clock, transfers)
    expect(tookMs).toBeLessThan(8500)
    expect(Math.max(...longestMs)).toBeLessThan(4500)
  })

  it('holds together with another one, whichever is lower, and leaves the rest to others', async () => {
    const clock = new FalseClock()
    const global = new RateLimit(() => 8 * megabyte, clock)
    const own = new RateLimit(() => megabyte, clock)
    let slowMs = 0
    const slow = transfer(2 * megabyte, [own, global]).then(() => {
      slowMs = clock.nowMs()
    })
    const fast = transfer(14 * megabyte, [global])
    const tookMs = await timed(clock, [slow, fast])
    expect(slowMs).toBeGreaterThan(1850)
    expect(slowMs).toBeLessThan(2300)
    expect(tookMs).toBeLessThan(2400)
  })

  it('follows a rate that changes, and ends at once when it is lifted', async () => {
    const clock = new FalseClock()
    let rate: number | undefined = megabyte
    const limit = new RateLimit(() => rate, clock)
    let sent = 0
    const all = transfer(100 * megabyte, [limit], (bytes) => {
      sent = bytes
    })
    await clock.runUntil(() => sent > megabyte)
    const slowMs = clock.nowMs()
    expect(slowMs).toBeGreaterThan(900)
    rate = 10 * megabyte
    await clock.runUntil(() => sent > 11 * megabyte)
    expect(clock.nowMs() - slowMs).toBeLessThan(1400)
    rate = undefined
    const liftedMs = clock.nowMs()
    await timed(clock, [all])
    expect(clock.nowMs() - liftedMs).toBeLessThan(300)
  })

  it('of 0 lets nothing pass until it is refreshed with more', async () => {
    const clock = new FalseClock()
    let rate = 0
    const limit = new RateLimit(() => rate, clock)
    let passed = false
    void limit.take(1000)?.then(() => {
      passed = true
    })
    await clock.runUntil(() => clock.nowMs() > 2000)
    expect(passed).toBe(false)
    rate = megabyte
    limit.refresh()
    await clock.runUntil(() => passed)
    expect(clock.nowMs()).toBeLessThan(2600)
  })
})
