import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { isAlive, ownProcessId } from './process-identity.ts'

const [pid = '', started = '', boot = ''] = ownProcessId.split('-')

test('this process is alive, and names its pid', () => {
  expect(Number(pid)).toBe(process.pid)
  expect(isAlive(ownProcessId)).toBe(true)
})

test('a process that took over the pid of a dead one is not taken for it', () => {
  expect(isAlive(`${pid}-${Number(started) - 1}-${boot}`)).toBe(false)
  expect(isAlive(`1-${Number(started) + 1}-${boot}`)).toBe(false)
})

test('a process of another boot is dead, whatever runs under its pid now', () => {
  expect(isAlive(`${pid}-${started}-00000000`)).toBe(false)
})

test('another process is alive until it ends, also while nobody has collected it', async () => {
  // The inner process becomes a zombie, since its parent does not wait for it.
  const script = 'sleep 0.3 & echo $!; exec sleep 5'
  const parent = spawn('sh', ['-c', script], { stdio: ['ignore', 'pipe', 'ignore'] })
  const [line] = await once(parent.stdout, 'data')
  const child = Number(String(line))
  const fields = readFileSync(`/proc/${child}/stat`, 'latin1').split(') ')[1]?.split(' ') ?? []
  const id = `${child}-${fields[19]}-${boot}`
  expect(isAlive(id)).toBe(true)
  const deadline = Date.now() + 5000
  while (isAlive(id) && Date.now() < deadline) await pause(20)
  expect(isAlive(id)).toBe(false)
  parent.kill()
})

test('nonsense names nobody', () => {
  expect(isAlive('')).toBe(false)
  expect(isAlive('x-y-z')).toBe(false)
})
