import { spawn } from 'node:child_process'
import { mkdtempSync, openSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { LineWriter } from './line-writer.ts'

const scratch = mkdtempSync(join(tmpdir(), 's3proxy-lines-'))

it('lines arrive whole and in order, also those that are flushed at the end', async () => {
  const path = join(scratch, 'ordered')
  const writer = new LineWriter(openSync(path, 'w'), false)
  const lines = Array.from({ length: 5000 }, (_, index) => `${index} ${'ü'.repeat(index % 90)}\n`)
  for (const line of lines.slice(0, 4000)) writer.write(line)
  await new Promise((resolve) => setTimeout(resolve, 100))
  for (const line of lines.slice(4000)) writer.write(line)
  writer.flush()
  expect(readFileSync(path, 'utf8')).toBe(lines.join(''))
})

it('a reader that takes nothing costs lines, which are counted, and not memory', async () => {
  // `sleep` never reads its standard input.
  const stuck = spawn('sleep', ['60'], { stdio: ['pipe', 'ignore', 'ignore'] })
  const fd = (stuck.stdin as unknown as { _handle: { fd: number } })._handle.fd
  const writer = new LineWriter(fd, true)
  const line = `${'x'.repeat(9999)}\n`
  for (let count = 0; count < 3000; count++) writer.write(line)
  expect(writer.dropped).toBeGreaterThan(1000)
  stuck.kill()
})

it('processes that share a pipe never tear each other a line', async () => {
  const module = join(import.meta.dirname, 'line-writer.ts')
  const program = (name: string) => `
    import { LineWriter } from ${JSON.stringify(module)}
    const writer = new LineWriter(1, true)
    for (let turn = 0; turn < 200; turn++) {
      for (let count = 0; count < 20; count++) writer.write('${name}'.repeat(50 + (count * 37) % 300) + '\\n')
      await new Promise((resolve) => setTimeout(resolve, 1))
    }
    process.on('exit', () => writer.flush())
  `
  const collector = spawn('cat', [], { stdio: ['pipe', 'pipe', 'inherit'] })
  let output = ''
  collector.stdout.on('data', (chunk) => {
    output += chunk
  })
  const writers = ['a', 'b', 'c'].map((name) =>
    spawn(process.execPath, ['--input-type=module', '-e', program(name)], {
      stdio: ['ignore', collector.stdin, 'inherit'],
    }),
  )
  await Promise.all(writers.map((child) => new Promise((resolve) => child.once('exit', resolve))))
  collector.stdin.end()
  await new Promise((resolve) => collector.once('close', resolve))
  const lines = output.trimEnd().split('\n')
  expect(lines).toHaveLength(3 * 200 * 20)
  expect(lines.filter((line) => !/^(a+|b+|c+)$/.test(line))).toEqual([])
})
