import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { environmentName, loadConfig } from './load.ts'
import { printConfig } from './print-config.ts'
import { properties } from './properties.ts'

const directory = mkdtempSync(join(tmpdir(), 's3proxy-config-'))
function fileWith(text: string): string {
  const path = join(directory, `${Math.random()}.properties`)
  writeFileSync(path, text)
  return path
}

/** Names and defaults of the table in spec §8. */
const specification: [string, string][] = [
  ['svc.proxy.s3.bucket.naming.restrictions.enabled', 'false'],
  ['svc.proxy.s3.bucketpathcache.timeout', '0min'],
  ['svc.proxy.s3.complete.multipart.upload.keepalive.enabled', 'false'],
  ['svc.proxy.s3.complete.multipart.upload.keepalive.time.interval', '30sec'],
  ['svc.proxy.s3.complete.multipart.upload.min.part.size', '5MB'],
  ['svc.proxy.s3.complete.multipart.upload.pool.size', '20'],
  ['svc.proxy.s3.deletetype', 'ALLUXIO_AND_UFS'],
  ['svc.proxy.s3.writetype', 'CACHE_THROUGH'],
  ['svc.proxy.s3.global.read.rate.limit.mb', '0'],
  ['svc.proxy.s3.single.connection.read.rate.limit.mb', '0'],
  ['svc.proxy.s3.header.metadata.max.size', '2KB'],
  ['svc.proxy.s3.multipart.upload.cleaner.enabled', 'false'],
  ['svc.proxy.s3.multipart.upload.cleaner.pool.size', '1'],
  ['svc.proxy.s3.multipart.upload.cleaner.retry.count', '3'],
  ['svc.proxy.s3.multipart.upload.cleaner.retry.delay', '10sec'],
  ['svc.proxy.s3.multipart.upload.cleaner.timeout', '10min'],
  ['svc.proxy.s3.tagging.restrictions.enabled', 'true'],
  ['svc.proxy.s3.use.position.read.range.size', '0'],
  ['svc.proxy.s3.v2.async.context.timeout.ms', '30000'],
  ['svc.proxy.s3.v2.async.heavy.pool.core.thread.number', '8'],
  ['svc.proxy.s3.v2.async.heavy.pool.maximum.thread.number', '64'],
  ['svc.proxy.s3.v2.async.heavy.pool.queue.size', '65536'],
  ['svc.proxy.s3.v2.async.light.pool.core.thread.number', '8'],
  ['svc.proxy.s3.v2.async.light.pool.maximum.thread.number', '64'],
  ['svc.proxy.s3.v2.async.light.pool.queue.size', '65536'],
  ['svc.proxy.s3.v2.async.processing.enabled', 'false'],
  ['svc.proxy.s3.v2.version.enabled', 'true'],
  ['svc.proxy.web.port', '39999'],
]

describe('the table of properties', () => {
  it.each(specification)('has %s with the default %s (spec §8)', (name, fallback) => {
    expect(Object.values(properties).find((property) => property.name === name)?.default).toBe(fallback)
  })

  it('has each name once, in the file and in the environment, and only defaults that are allowed', () => {
    const all = Object.values(properties)
    expect(new Set(all.map(({ name }) => name)).size).toBe(all.length)
    expect(new Set(all.map(({ name }) => environmentName(name))).size).toBe(all.length)
    for (const property of all) expect(() => property.parse(property.default), property.name).not.toThrow()
  })
})

describe('the configuration', () => {
  it('is right without any settings', () => {
    const { config, mistakes } = loadConfig({})
    expect(mistakes).toEqual([])
    expect(config).toMatchObject({ port: 39999, minPartSize: 5 * 2 ** 20, keepaliveIntervalMs: 30_000 })
  })

  it('takes the command line before the environment before the file before the default, and knows where from', () => {
    const file = fileWith('svc.proxy.web.port=1\nsvc.proxy.admin.port=2\nsvc.proxy.s3.root.port=3\n')
    const { config, settings } = loadConfig({
      file,
      environment: { SVC_PROXY_WEB_PORT: '4', SVC_PROXY_ADMIN_PORT: '5', PATH: '/bin' },
      sets: ['svc.proxy.web.port=6'],
    })
    expect([config.port, config.adminPort, config.rootPort, config.processes]).toEqual([6, 5, 3, 0])
    const source = (key: string) => settings.find((setting) => setting.key === key)?.source
    expect([source('port'), source('adminPort'), source('rootPort'), source('processes')]).toEqual([
      '--set',
      'environment SVC_PROXY_ADMIN_PORT',
      `${file} line 3`,
      'default',
    ])
  })

  it('keeps the rest of a value that has an equals sign', () => {
    expect(loadConfig({ sets: ['svc.proxy.namespace.root=/a=b'] }).config.root).toBe('/a=b')
  })

  it('reports all mistakes at once: property, value, source, what is allowed, the nearest name', () => {
    const file = fileWith('svc.proxy.web.port=80000\nsvc.proxy.s3.writetyp=THROUGH\n')
    const { mistakes } = loadConfig({
      file,
      environment: { SVC_PROXY_S3_WRITETYPE: 'SOMETIMES', SVC_PROXY_WEB_PROT: '1' },
      sets: ['svc.proxy.processes', 'svc.proxy.web.idle.timeout=soon', 'zzz=1'],
    })
    expect(mistakes).toEqual([
      `svc.proxy.s3.writetyp (${file} line 2) is no property. Did you mean svc.proxy.s3.writetype?`,
      'SVC_PROXY_WEB_PROT (the environment) is no property. Did you mean SVC_PROXY_WEB_PORT?',
      '--set svc.proxy.processes: write it as --set name=value.',
      'zzz (--set) is no property. --print-config lists all.',
      'svc.proxy.s3.writetype = "SOMETIMES" (environment SVC_PROXY_S3_WRITETYPE): must be one of CACHE_THROUGH, MUST_CACHE, ASYNC_THROUGH, THROUGH.',
      `svc.proxy.web.port = "80000" (${file} line 1): must be a whole number from 0 to 65535.`,
      'svc.proxy.web.idle.timeout = "soon" (--set): must be a duration such as 500ms, 30sec, 10min, 1h or 0.',
    ])
  })

  it.each([
    [['svc.proxy.web.tls.certificate.file=/c.pem'], 'HTTPS needs both'],
    [['svc.proxy.web.tls.key.file=/k.pem'], 'HTTPS needs both'],
    [['svc.proxy.s3.v2.async.heavy.pool.maximum.thread.number=4'], 'must not be less than'],
    [['svc.proxy.s3.v2.async.light.pool.core.thread.number=100'], 'must not be less than'],
    [['svc.proxy.admin.port=39999'], 'give each its own port'],
    [['svc.proxy.namespace.root='], 'must name a directory'],
  ])('reports that %s contradicts the rest', (sets, message) => {
    expect(loadConfig({ sets }).mistakes).toEqual([expect.stringContaining(message)])
  })

  it('reports a file that is not there and a property given twice', () => {
    expect(loadConfig({ file: '/not/there' }).mistakes).toEqual([expect.stringContaining('/not/there cannot be read')])
    const file = fileWith('svc.proxy.web.port=1\nsvc.proxy.web.port=2')
    expect(loadConfig({ file }).mistakes).toEqual([expect.stringContaining('given twice')])
  })

  it('is not disturbed by what Kubernetes puts into the environment for a Service named svc-proxy', () => {
    const environment = {
      SVC_PROXY_SERVICE_HOST: '10.0.0.1',
      SVC_PROXY_SERVICE_PORT_HTTP: '80',
      SVC_PROXY_PORT_80_TCP_ADDR: '10.0.0.1',
      SVC_PROXY_PORT: 'tcp://10.0.0.1:80',
    }
    expect(loadConfig({ environment }).mistakes).toEqual([])
  })

  it('is printed with value, source and whether a change needs a restart', () => {
    const { settings } = loadConfig({ sets: ['svc.proxy.web.port=1', 'svc.proxy.log.level=debug'] })
    const lines = printConfig(settings)
      .split('\n')
      .map((line) => line.split(/ {2,}/))
    expect(lines).toContainEqual(['svc.proxy.web.port', '1', '--set', 'restart'])
    expect(lines).toContainEqual(['svc.proxy.log.level', 'debug', '--set', 'live'])
    expect(lines).toContainEqual(['svc.proxy.web.cors.origins', "''", 'default', 'live'])
  })
})
