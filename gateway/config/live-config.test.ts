import { mkdirSync, mkdtempSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { applyLive, type Reload, watchConfig } from './live-config.ts'
import { loadConfig } from './load.ts'

let stop = () => {}
afterEach(() => stop())

function watching(file: string) {
  const reloads: Reload[] = []
  let told = () => {}
  stop = watchConfig(
    { file },
    loadConfig({ file }),
    (reload) => {
      reloads.push(reload)
      told()
    },
    20,
  )
  const next = () =>
    new Promise<void>((resolve) => {
      told = resolve
    })
  return { reloads, next }
}

it('a changed file changes live properties in place and names those that need a restart', async () => {
  const file = join(mkdtempSync(join(tmpdir(), 's3proxy-config-')), 'p')
  writeFileSync(file, 'svc.proxy.readonly=false\n')
  const { config } = loadConfig({ file })
  const { reloads, next } = watching(file)
  const changed = next()
  writeFileSync(file, 'svc.proxy.readonly=true\nsvc.proxy.web.port=1234\nsvc.proxy.log.level=debug\n')
  await changed
  expect(reloads[0]?.changed.map(({ property, text }) => `${property.name}=${text}`)).toEqual([
    'svc.proxy.readonly=true',
    'svc.proxy.log.level=debug',
  ])
  expect(reloads[0]?.pending).toEqual(['svc.proxy.web.port'])
  applyLive(config, reloads[0]?.changed ?? [])
  expect([config.readOnly, config.logLevel, config.port]).toEqual([true, 'debug', 39999])
})

it('a file with mistakes changes nothing and is reported once', async () => {
  const file = join(mkdtempSync(join(tmpdir(), 's3proxy-config-')), 'p')
  writeFileSync(file, '')
  const { reloads, next } = watching(file)
  const told = next()
  writeFileSync(file, 'svc.proxy.readonly=perhaps\nsvc.proxy.log.level=debug\n')
  await told
  expect(reloads).toEqual([{ changed: [], pending: [], mistakes: [expect.stringContaining('perhaps')] }])
})

it('a mounted ConfigMap that is swapped by its symlink is seen', async () => {
  const directory = mkdtempSync(join(tmpdir(), 's3proxy-config-'))
  for (const version of ['one', 'two']) {
    mkdirSync(join(directory, version))
    writeFileSync(join(directory, version, 'p'), `svc.proxy.readonly=${version === 'two'}\n`)
  }
  symlinkSync('one', join(directory, '..data'))
  symlinkSync(join('..data', 'p'), join(directory, 'p'))
  const { reloads, next } = watching(join(directory, 'p'))
  const changed = next()
  symlinkSync('two', join(directory, 'new'))
  renameSync(join(directory, 'new'), join(directory, '..data'))
  await changed
  expect(reloads[0]?.changed.map(({ text }) => text)).toEqual(['true'])
})
