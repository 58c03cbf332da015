import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Job, Result } from './job.ts'

const source = join(import.meta.dirname, 'load')

/** Builds the load generator (Go, standard library only) and gives the path of the program. */
export function buildLoad(work: string): string {
  mkdirSync(work, { recursive: true })
  const program = join(work, 'load')
  const built = spawnSync('go', ['build', '-o', program, '.'], { cwd: source, stdio: ['ignore', 'inherit', 'inherit'] })
  if (built.error || built.status !== 0)
    throw new Error('go build of bench/load failed; the benchmark needs Go 1.24 or newer')
  return program
}

/** Runs one job to its end. Rejects when the server breaks the protocol or answers a first request wrongly. */
export function runLoad(program: string, job: Job): Promise<Result> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, [], { stdio: ['pipe', 'pipe', 'pipe'], env: { ...process.env, GOGC: '400' } })
    let output = ''
    let complaint = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      complaint += text
    })
    child.on('error', reject)
    child.on('close', (code) => {
      if (code === 0) resolve(JSON.parse(output) as Result)
      else reject(new Error(complaint.trim() || `the load generator ended with ${code}`))
    })
    // A generator that failed early closes its input; its exit tells why.
    child.stdin.on('error', () => {})
    child.stdin.end(JSON.stringify(job))
  })
}

/** Makes `count` empty files `file-0000000`, … in an existing directory. */
export function makeFiles(program: string, directory: string, count: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, ['files', directory, String(count)], { stdio: ['ignore', 'inherit', 'inherit'] })
    child.on('error', reject)
    child.on('close', (code) => (code === 0 ? resolve() : reject(new Error(`making files ended with ${code}`))))
  })
}
