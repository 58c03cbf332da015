import { expect, it } from 'vitest'
import { loadConfig } from '../config/load.ts'
import type { MemberStatus } from './member.ts'
import { startNotes } from './start-notes.ts'

const status: MemberStatus = {
  pid: 1,
  ready: true,
  draining: false,
  namespace: true,
  metadata: [],
  identity: 'enforced',
}
const config = (...sets: string[]) => loadConfig({ sets }).config

it('an ordinary start has nothing to say', () => {
  expect(startNotes(config(), status)).toEqual([])
})

it.each([
  ['svc.proxy.s3.writetype=THROUGH', 'acts as CACHE_THROUGH'],
  ['svc.proxy.s3.writetype=ASYNC_THROUGH', 'acts as CACHE_THROUGH'],
  ['svc.proxy.s3.deletetype=ALLUXIO_ONLY', 'deletes the file all the same'],
  ['svc.proxy.readonly=true', 'read-only'],
])('%s is explained', (set, words) => {
  expect(startNotes(config(set), status)).toEqual([expect.stringContaining(words)])
})

it('pools without the v2 service, an unprivileged process and problems of the store are told', () => {
  const pools = config('svc.proxy.s3.v2.async.processing.enabled=true', 'svc.proxy.s3.v2.version.enabled=false')
  expect(startNotes(pools, { ...status, identity: 'process', metadata: ['The disk is slow.'] })).toEqual([
    expect.stringContaining('belong to the user of this process'),
    expect.stringContaining('has no effect'),
    'The disk is slow.',
  ])
})

it('that all files belong to one user is put down to the missing right, or to the mode that was asked for', () => {
  const unprivileged = { ...status, identity: 'process' } as const
  expect(startNotes(config(), unprivileged)).toEqual([expect.stringContaining('may not act as others')])
  const asked = startNotes(config('svc.proxy.identity.mode=process'), unprivileged)
  expect(asked).toEqual([expect.stringContaining('as svc.proxy.identity.mode=process asks for')])
  expect(asked.join()).not.toContain('may not')
})
