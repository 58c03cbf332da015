import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Jobs, Json, Queue } from './jobs.ts'

/**
 * Behaviours every driver of `Jobs` must show. `open` gives another connection to the same store, as another process
 * would have it; `start` makes a store that is empty. A driver's polling may take up to `slowestMs`.
 */
export interface JobsStore {
  open(): Promise<Jobs>
  stop(): Promise<void>
}

const slowestMs = 5000

export function describeJobs(driver: string, start: () => Promise<JobsStore>): void {
  describe(`jobs: ${driver}`, () => {
    let store: JobsStore
    let here: Jobs
    let there: Jobs
    const opened: Jobs[] = []

    const open = async () => {
      const jobs = await store.open()
      opened.push(jobs)
      return jobs
    }
    beforeEach(async () => {
      store = await start()
      here = await open()
      there = await open()
    })
    afterEach(async () => {
      await Promise.all(opened.splice(0).map((jobs) => jobs.close(0)))
      await store.stop()
    })

    const queue = (more: Partial<Queue<Json, Json>> = {}): Queue<Json, Json> => ({
      name: 'complete',
      concurrency: 4,
      attempts: 1,
      backoffMs: 10,
      keepResultMs: 60_000,
      ...more,
    })
    const eventually = async (holds: () => boolean | Promise<boolean>) => {
      const deadline = Date.now() + slowestMs
      while (!(await holds())) {
        if (Date.now() > deadline) throw new Error('It did not come true in time.')
        await pause(10)
      }
    }
    /** A handler that waits to be let go. */
    const gate = () => {
      let release = () => {}
      const opened = new Promise<void>((resolve) => {
        release = resolve
      })
      return { opened, release }
    }

    describe('running', () => {
      test('a job gets its payload, and who asked gets its result', async () => {
        const doubled = queue()
        here.process(doubled, async (payload) => ({ doubled: [payload, payload], text: 'ü\u0000', none: null }))
        expect(await here.run(doubled, 'one', { n: 1.5, list: [true, 'x'] })).toEqual({
          doubled: [
            { n: 1.5, list: [true, 'x'] },
            { n: 1.5, list: [true, 'x'] },
          ],
          text: 'ü\u0000',
          none: null,
        })
      })

      test('a process that only asks gets the result of the one that runs it', async () => {
        const asked = queue()
        there.process(asked, async (payload) => `there ${payload}`)
        expect(await here.run(asked, 'one', 'p')).toBe('there p')
      })

      test('all who ask for one name at once share one run', async () => {
        const shared = queue()
        let runs = 0
        const handler = async (payload: Json) => {
          runs++
          await pause(50)
          return payload
        }
        here.process(shared, handler)
        there.process(shared, handler)
        const asked = Array.from({ length: 20 }, (_, n) => (n % 2 ? here : there).run(shared, 'same', n))
        const results = new Set(await Promise.all(asked))
        expect(results.size).toBe(1)
        expect(runs).toBe(1)
      })

      test('a result is kept for whoever asks again, also from another process', async () => {
        const kept = queue()
        let runs = 0
        here.process(kept, async () => ++runs)
        expect(await here.run(kept, 'one', null)).toBe(1)
        expect(await here.run(kept, 'one', null)).toBe(1)
        expect(await there.run(kept, 'one', null)).toBe(1)
        expect(await here.run(kept, 'two', null)).toBe(2)
      })

      test('a result that is not kept is for those who asked before, the next one gets a run of its own', async () => {
        const fresh = queue({ keepResultMs: 0 })
        let runs = 0
        here.process(fresh, async () => {
          await pause(20)
          return ++runs
        })
        expect(await Promise.all([here.run(fresh, 'one', null), there.run(fresh, 'one', null)])).toEqual([1, 1])
        expect(await there.run(fresh, 'one', null)).toBe(2)
      })

      test('names are separate in each queue', async () => {
        const one = queue({ name: 'one' })
        const two = queue({ name: 'two' })
        here.process(one, async () => 1)
        here.process(two, async () => 2)
        expect(await Promise.all([here.run(one, 'same', null), here.run(two, 'same', null)])).toEqual([1, 2])
      })

      test('no process runs more jobs of a queue at once than its concurrency', async () => {
        const narrow = queue({ concurrency: 3 })
        let running = 0
        let most = 0
        here.process(narrow, async (payload) => {
          most = Math.max(most, ++running)
          await pause(5)
          running--
          return payload
        })
        const results = await Promise.all(Array.from({ length: 30 }, (_, n) => here.run(narrow, `job-${n}`, n)))
        expect(results).toEqual(Array.from({ length: 30 }, (_, n) => n))
        expect(most).toBe(3)
      })

      test('jobs beyond the places of one process are taken by another', async () => {
        const narrow = queue({ concurrency: 1 })
        const stuck = gate()
        here.process(narrow, async () => {
          await stuck.opened
          return 'here'
        })
        const first = here.run(narrow, 'first', null)
        const second = here.run(narrow, 'second', null)
        there.process(narrow, async () => 'there')
        expect(await second).toBe('there')
        stuck.release()
        expect(await first).toBe('here')
      })

      test('asking can be given up; the job goes on', async () => {
        const slow = queue()
        const held = gate()
        let finished = false
        here.process(slow, async () => {
          await held.opened
          finished = true
          return 'done'
        })
        for (const asker of [here, there]) {
          const abort = new AbortController()
          const asked = asker.run(slow, 'one', null, abort.signal)
          setTimeout(() => abort.abort(new Error('client gone')), 40)
          await expect(asked).rejects.toThrow('client gone')
        }
        await expect(here.run(slow, 'one', null, AbortSignal.abort(new Error('too late')))).rejects.toThrow('too late')
        held.release()
        expect(await here.run(slow, 'one', null)).toBe('done')
        expect(finished).toBe(true)
      })
    })

    describe('failing', () => {
      test('a job is tried again after the pause until its attempts are used up, then who asked gets the last error', async () => {
        const flaky = queue({ attempts: 3, backoffMs: 30 })
        const at: number[] = []
        here.process(flaky, async () => {
          at.push(Date.now())
          throw new Error(`failure ${at.length}`)
        })
        await expect(here.run(flaky, 'one', null)).rejects.toThrow('failure 3')
        expect(at).toHaveLength(3)
        for (const n of [1, 2]) expect((at[n] ?? 0) - (at[n - 1] ?? 0)).toBeGreaterThanOrEqual(28)
        expect(await here.counts(flaky)).toEqual({ waiting: 0, delayed: 0, running: 0, failed: 1 })
      })

      test('who asks from another process gets the error too', async () => {
        const broken = queue()
        there.process(broken, async () => {
          throw new Error('no room')
        })
        await expect(here.run(broken, 'one', null)).rejects.toThrow('no room')
      })

      test('a job that succeeds after failures is no failure', async () => {
        const flaky = queue({ attempts: 4, backoffMs: 1 })
        let runs = 0
        here.process(flaky, async () => {
          if (++runs < 3) throw new Error('not yet')
          return runs
        })
        expect(await here.run(flaky, 'one', null)).toBe(3)
        expect((await here.counts(flaky)).failed).toBe(0)
      })

      test('a failed job does not stand in the way: asking again runs it again', async () => {
        const broken = queue()
        let runs = 0
        here.process(broken, async () => {
          if (++runs === 1) throw new Error('first')
          return runs
        })
        await expect(here.run(broken, 'one', null)).rejects.toThrow('first')
        expect(await here.run(broken, 'one', null)).toBe(2)
        expect(await here.counts(broken)).toEqual({ waiting: 0, delayed: 0, running: 0, failed: 0 })
      })
    })

    describe('scheduling', () => {
      test('a scheduled job runs after its delay, not before', async () => {
        const cleaner = queue({ name: 'clean' })
        let ranAt = 0
        here.process(cleaner, async () => {
          ranAt = Date.now()
          return null
        })
        const scheduledAt = Date.now()
        await here.schedule(cleaner, 'upload', { id: 'upload' }, 150)
        expect(await here.counts(cleaner)).toEqual({ waiting: 0, delayed: 1, running: 0, failed: 0 })
        await eventually(() => ranAt > 0)
        expect(ranAt - scheduledAt).toBeGreaterThanOrEqual(148)
      })

      test('a job scheduled by a process that does not run it is run by one that does', async () => {
        const cleaner = queue({ name: 'clean' })
        const ran: Json[] = []
        there.process(cleaner, async (payload) => {
          ran.push(payload)
          return null
        })
        await here.schedule(cleaner, 'upload', 'payload', 20)
        await eventually(() => ran.length > 0)
        expect(ran).toEqual(['payload'])
      })

      test('scheduling a name again leaves the job as it is', async () => {
        const cleaner = queue({ name: 'clean' })
        const ran: Json[] = []
        here.process(cleaner, async (payload) => {
          ran.push(payload)
          return null
        })
        await here.schedule(cleaner, 'upload', 'first', 60)
        await there.schedule(cleaner, 'upload', 'second', 0)
        expect((await there.counts(cleaner)).delayed).toBe(1)
        await eventually(() => ran.length > 0)
        await pause(100)
        expect(ran).toEqual(['first'])
      })

      test('a cancelled job never runs', async () => {
        const cleaner = queue({ name: 'clean' })
        let runs = 0
        here.process(cleaner, async () => ++runs)
        await here.schedule(cleaner, 'upload', null, 80)
        await there.cancel(cleaner, 'upload')
        await there.cancel(cleaner, 'never there')
        expect(await here.counts(cleaner)).toEqual({ waiting: 0, delayed: 0, running: 0, failed: 0 })
        await pause(250)
        expect(runs).toBe(0)
      })

      test('cancelling a running job lets it go on', async () => {
        const slow = queue()
        const held = gate()
        here.process(slow, async () => {
          await held.opened
          return 'done'
        })
        const asked = here.run(slow, 'one', null)
        await eventually(async () => (await there.counts(slow)).running === 1)
        await there.cancel(slow, 'one')
        held.release()
        expect(await asked).toBe('done')
      })

      test('many due jobs are each run once by the processes together', async () => {
        const cleaner = queue({ name: 'clean', concurrency: 2 })
        const ran: Json[] = []
        for (const jobs of [here, there]) {
          jobs.process(cleaner, async (payload) => {
            ran.push(payload)
            await pause(1)
            return null
          })
        }
        await Promise.all(Array.from({ length: 60 }, (_, n) => here.schedule(cleaner, `upload-${n}`, n, 5)))
        await eventually(() => ran.length >= 60)
        await pause(50)
        expect([...ran].sort((a, b) => Number(a) - Number(b))).toEqual(Array.from({ length: 60 }, (_, n) => n))
      })
    })

    describe('closing', () => {
      test('close waits for running jobs, and the result is there afterwards', async () => {
        const slow = queue()
        const closing = await open()
        closing.process(slow, async () => {
          await pause(80)
          return 'finished'
        })
        const asked = closing.run(slow, 'one', null)
        await eventually(async () => (await here.counts(slow)).running === 1)
        await closing.close(slowestMs)
        expect(await asked).toBe('finished')
        expect(await here.run(slow, 'one', null)).toBe('finished')
      })

      test('after the deadline the signal fires, and the job is handed to another process without losing an attempt', async () => {
        const slow = queue({ attempts: 1 })
        const closing = await open()
        let reason: unknown
        closing.process(slow, async (_, signal) => {
          await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))
          reason = signal.reason
          throw signal.reason
        })
        const asked = closing.run(slow, 'one', null).catch((error) => error)
        await eventually(async () => (await here.counts(slow)).running === 1)
        here.process(slow, async () => 'taken over')
        await closing.close(20)
        expect(reason).toMatchObject({ code: 'ServiceUnavailable' })
        expect(await asked).toMatchObject({ code: 'ServiceUnavailable' })
        expect(await here.run(slow, 'one', null)).toBe('taken over')
      })

      test('a handler that does not heed its signal cannot hold up close, nor end the job that another has taken over', async () => {
        const slow = queue()
        const closing = await open()
        const held = gate()
        closing.process(slow, async () => {
          await held.opened
          return 'stale'
        })
        closing.run(slow, 'one', null).catch(() => {})
        await eventually(async () => (await here.counts(slow)).running === 1)
        await closing.close(0)
        here.process(slow, async () => 'taken over')
        const asked = here.run(slow, 'one', null)
        held.release()
        expect(await asked).toBe('taken over')
        await pause(30)
        expect(await there.run(slow, 'one', null)).toBe('taken over')
      })

      test('jobs left waiting by a process that closed are run by the next', async () => {
        const cleaner = queue({ name: 'clean' })
        const closing = await open()
        await closing.schedule(cleaner, 'upload', 'kept', 0)
        await closing.close(0)
        const ran: Json[] = []
        here.process(cleaner, async (payload) => {
          ran.push(payload)
          return null
        })
        await eventually(() => ran.length > 0)
        expect(ran).toEqual(['kept'])
      })
    })
  })
}
