import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openEmbeddedJobs } from './embedded.ts'
import type { Queue } from './jobs.ts'

const script = new URL('./embedded.test-process.ts', import.meta.url).pathname
const queue: Queue<number, number> = {
  name: 'work',
  concurrency: 4,
  attempts: 1,
  backoffMs: 10,
  keepResultMs: 600_000,
}

let directory: string
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'jobs-'))
})
afterEach(() => rm(directory, { recursive: true, force: true }))

/** Keeps three processes running jobs; kills one after another until `done`, and then all. Returns how many it killed. */
async function killMany(done: () => boolean): Promise<number> {
  let kills = 0
  const lane = async () => {
    while (!done()) {
      const child = fork(script, [directory], { execArgv: [], stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
      await once(child, 'message')
      await pause(20 + Math.random() * 150)
      child.kill('SIGKILL')
      await once(child, 'exit')
      kills++
    }
  }
  await Promise.all([lane(), lane(), lane()])
  return kills
}

test('every job is run to its end whoever is killed, and has one result', { timeout: 240_000 }, async () => {
  const jobs = await openEmbeddedJobs({ directory })
  const numbers = Array.from({ length: 300 }, (_, n) => n)
  let done = false
  const asked = Promise.all(
    numbers.map(async (n) => {
      if (n % 2) await jobs.schedule(queue, `job-${n}`, n, n)
      return jobs.run(queue, `job-${n}`, n)
    }),
  ).finally(() => {
    done = true
  })
  const kills = await killMany(() => done)
  expect(await asked).toEqual(numbers.map((n) => n * n))
  expect(await jobs.counts(queue)).toEqual({ waiting: 0, delayed: 0, running: 0, failed: 0 })
  const notes = (await readFile(join(directory, 'notes'), 'utf8')).trim().split('\n')
  const ends = numbers.map((n) => notes.filter((note) => note === `end ${n}`).length)
  expect(Math.min(...ends)).toBe(1)
  // Twice only where a process died between the end and its record of it.
  expect(ends.filter((count) => count > 1).length).toBeLessThanOrEqual(kills * queue.concurrency)
  expect(notes.filter((note) => note.startsWith('begin')).length).toBeGreaterThan(numbers.length)
  await jobs.close(0)
})

test('the job of a process that died is taken up soon by another', { timeout: 60_000 }, async () => {
  const jobs = await openEmbeddedJobs({ directory })
  const child = fork(script, [directory], { execArgv: [], stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  await once(child, 'message')
  const asked = jobs.run({ ...queue, name: 'work' }, 'job', 19)
  while ((await jobs.counts(queue)).running === 0) await pause(1)
  child.kill('SIGKILL')
  await once(child, 'exit')
  const diedAt = Date.now()
  jobs.process(queue, async (n) => -n)
  const result = await asked
  // It may have come to its end before the kill.
  expect([361, -19]).toContain(result)
  expect(Date.now() - diedAt).toBeLessThan(5000)
  await jobs.close(0)
})
