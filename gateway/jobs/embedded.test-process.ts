import { appendFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { openEmbeddedJobs } from './embedded.ts'
import type { Queue } from './jobs.ts'

/** Started by the tests as a process of its own, to be killed: runs the jobs of one queue and notes each begin and end. */
const [directory = ''] = process.argv.slice(2)

const queue: Queue<number, number> = {
  name: 'work',
  concurrency: 4,
  attempts: 1,
  backoffMs: 10,
  keepResultMs: 600_000,
}

const jobs = await openEmbeddedJobs({ directory })
jobs.process(queue, async (n) => {
  appendFileSync(`${directory}/notes`, `begin ${n}\n`)
  await pause(5 + (n % 20))
  appendFileSync(`${directory}/notes`, `end ${n}\n`)
  return n * n
})
process.send?.('ready')
// The timers of the jobs do not keep a process alive; its server does.
setInterval(() => {}, 60_000)
