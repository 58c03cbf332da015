import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { SlotPool } from './slot-pool.ts'

describe('a slot pool', () => {
  it('fills the core, then the queue, then up to the maximum, then refuses (spec §8)', () => {
    const pool = new SlotPool(2, 4, 3)
    const answers = Array.from({ length: 8 }, () => pool.enter())
    expect(answers.map((answer) => (typeof answer === 'string' ? answer : 'waiting'))).toEqual([
      'running',
      'running',
      'waiting',
      'waiting',
      'waiting',
      'running',
      'running',
      'refused',
    ])
    expect({ running: pool.running, waiting: pool.waiting }).toEqual({ running: 4, waiting: 3 })
  })

  it('gives a slot that is left to the one that waits longest', async () => {
    const pool = new SlotPool(1, 1, 10)
    const order: number[] = []
    pool.enter()
    const turns = [1, 2, 3].map(async (number) => {
      await pool.enter()
      order.push(number)
      pool.leave()
    })
    pool.leave()
    await Promise.all(turns)
    expect(order).toEqual([1, 2, 3])
    expect(pool.running).toBe(0)
  })

  it('lets one run when its core is 0, as an executor does', async () => {
    const pool = new SlotPool(0, 1, 10)
    expect(pool.enter()).toBe('running')
    const second = pool.enter()
    pool.leave()
    await second
    expect(pool.running).toBe(1)
  })

  it('takes one that comes back from its client before those that never ran', async () => {
    const pool = new SlotPool(1, 1, 10)
    const order: string[] = []
    pool.enter()
    const parkedWorks = pool.enter() as Promise<void>
    pool.leave() // The first is parked; the second runs now.
    await parkedWorks
    const third = (pool.enter() as Promise<void>).then(() => order.push('third'))
    const back = (pool.resume() as Promise<void>).then(() => order.push('first again'))
    pool.leave()
    await back
    pool.leave()
    await third
    expect(order).toEqual(['first again', 'third'])
  })

  it('never runs more than its maximum, and loses no slot, whatever happens in whatever order', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.nat(3),
        fc.integer({ min: 1, max: 5 }),
        fc.nat(6),
        fc.array(fc.constantFrom('enter', 'leave', 'park', 'resume'), { maxLength: 60 }),
        async (core, extra, queue, steps) => {
          const maximum = Math.max(1, core) + extra - 1
          const pool = new SlotPool(core, maximum, queue)
          let running = 0
          let parked = 0
          let waiting = 0
          const take = (turn: Promise<void> | undefined | 'running') => {
            if (turn === undefined || turn === 'running') running++
            else {
              waiting++
              void turn.then(() => {
                waiting--
                running++
              })
            }
          }
          for (const step of steps) {
            if (step === 'enter') {
              const turn = pool.enter()
              if (turn !== 'refused') take(turn)
            } else if (step === 'resume' && parked > 0) {
              parked--
              take(pool.resume())
            } else if ((step === 'leave' || step === 'park') && running > 0) {
              running--
              if (step === 'park') parked++
              pool.leave()
            }
            await Promise.resolve()
            await Promise.resolve()
            expect(pool.running).toBe(running)
            expect(pool.waiting).toBe(waiting)
            expect(running).toBeLessThanOrEqual(maximum)
            // Work never waits while the pool stands still.
            if (waiting > 0) expect(running).toBeGreaterThan(0)
          }
          while (running > 0) {
            running--
            pool.leave()
            await Promise.resolve()
            await Promise.resolve()
          }
          expect(waiting).toBe(0)
        },
      ),
    )
  })
})
