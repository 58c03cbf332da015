import { spawnSync } from 'node:child_process'
import { chownSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { makeRoot } from './namespace.fixture.ts'

test('a process that may not switch users works as itself, and says so when it must', () => {
  const root = makeRoot()
  const uid = 20_003
  chownSync(root, uid, uid)
  const probe = (identityMode: string) => {
    const options = JSON.stringify({ root, readOnly: false, identityMode })
    // The user changes in the process: those without rights may not even read the Node they would be started with.
    const script = `process.setgroups([]); process.setgid(${uid}); process.setuid(${uid})
      const { probe } = await import('${join(import.meta.dirname, 'probe.ts')}')
      console.log(probe(${options}).enforced)`
    const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' })
    return stdout.trim() || /Error: (.*?),/.exec(stderr)?.[1]
  }
  expect(probe('auto')).toBe('false')
  expect(probe('enforced')).toBe('svc.proxy.identity.mode is enforced')
  rmSync(root, { recursive: true })
})
