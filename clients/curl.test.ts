import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { run } from './setup/command.ts'
import { needCommand } from './setup/debian.ts'
import { data, scratchDirectory } from './setup/files.ts'
import { type Gateway, startClientGateway } from './setup/gateway.ts'
import { user } from './setup/users.ts'

describe('curl, without any S3 library', () => {
  let gateway: Gateway
  let here: string

  beforeAll(async () => {
    await needCommand('curl', ['--version'], ['curl'])
    gateway = await startClientGateway()
    here = await scratchDirectory()
    await curl('PUT', '/curl')
  })
  afterAll(() => gateway?.stop())

  /** The status and the body of one request; the older form of the Authorization header names the user. */
  async function curl(
    method: string,
    path: string,
    ...more: readonly string[]
  ): Promise<[status: number, body: Buffer]> {
    const request = method === 'HEAD' ? ['--head'] : ['--request', method]
    const common = ['--silent', '--show-error', '--max-time', '60', '--header', `Authorization: AWS ${user}:`]
    const write = ['--output', join(here, 'body'), '--write-out', '%{http_code}']
    await writeFile(join(here, 'body'), '')
    const { stdout } = await run('curl', [...common, ...request, ...write, ...more, `${gateway.endpoint}${path}`])
    return [Number(stdout.toString()), await readFile(join(here, 'body'))]
  }

  test('puts a file, gets it, asks for its head, lists it and deletes it', async () => {
    const bytes = data(3 * 2 ** 20)
    await writeFile(join(here, 'file'), bytes)
    expect((await curl('PUT', '/curl/dir/with%20space', '--upload-file', join(here, 'file')))[0]).toBe(200)
    expect(await curl('GET', '/curl/dir/with%20space')).toEqual([200, bytes])
    const [status, head] = await curl('HEAD', '/curl/dir/with%20space')
    expect(status).toBe(200)
    expect(head.toString()).toMatch(/^content-length: 3145728\r$/im)
    expect((await curl('GET', '/curl?list-type=2'))[1].toString()).toContain('<Key>dir/with space</Key>')
    expect((await curl('GET', '/'))[1].toString()).toContain('<Name>curl</Name>')
    expect((await curl('DELETE', '/curl/dir/with%20space'))[0]).toBe(204)
    expect((await curl('GET', '/curl/dir/with%20space'))[0]).toBe(404)
  })

  test('signs with --aws-sigv4, where the user is the one before the colon', async () => {
    const signed = ['--aws-sigv4', 'aws:amz:us-east-1:s3', '--user', `${user}:unused`, '--header', 'Authorization:']
    expect((await curl('PUT', '/curl/signed', ...signed, '--data-binary', 'body'))[0]).toBe(200)
    expect(await curl('GET', '/curl/signed', ...signed)).toEqual([200, Buffer.from('body')])
  })

  test('asks before it sends: a refused upload gets its answer and not 100 Continue', async () => {
    await writeFile(join(here, 'large'), data(2 * 2 ** 20))
    const ask = ['--upload-file', join(here, 'large'), '--header', 'Expect: 100-continue', '--expect100-timeout', '30']
    const trace = ['--verbose', '--stderr', join(here, 'trace')]
    const started = performance.now()
    expect((await curl('PUT', '/no-such-bucket/o', ...ask, ...trace))[0]).toBe(404)
    expect(await readFile(join(here, 'trace'), 'utf8')).not.toContain('100 Continue')
    expect((await curl('PUT', '/curl/large', ...ask, ...trace))[0]).toBe(200)
    expect(await readFile(join(here, 'trace'), 'utf8')).toContain('100 Continue')
    // curl sends after 30 s without an answer.
    expect(performance.now() - started).toBeLessThan(25_000)
  })

  test('resumes a download and gets nothing when nothing changed', async () => {
    const bytes = data(100_000)
    await writeFile(join(here, 'file'), bytes)
    await curl('PUT', '/curl/resumed', '--upload-file', join(here, 'file'))
    expect(await curl('GET', '/curl/resumed', '--range', '40000-')).toEqual([206, bytes.subarray(40_000)])
    expect((await curl('GET', '/curl/resumed', '--etag-save', join(here, 'etag')))[0]).toBe(200)
    expect((await curl('GET', '/curl/resumed', '--etag-compare', join(here, 'etag')))[0]).toBe(304)
    expect((await curl('GET', '/curl/resumed', '--time-cond', 'Fri, 01 Jan 2100 00:00:00 GMT'))[0]).toBe(304)
  })

  test('takes an upload of unknown length (our choice; S3 asks for one)', async () => {
    await writeFile(join(here, 'file'), data(300_000))
    const chunked = ['--header', 'Transfer-Encoding: chunked', '--upload-file', join(here, 'file')]
    expect((await curl('PUT', '/curl/piped', ...chunked))[0]).toBe(200)
    expect(await curl('GET', '/curl/piped')).toEqual([200, data(300_000)])
  })

  test('keeps the old object when an upload breaks off, whether its length was known or not', async () => {
    await curl('PUT', '/curl/kept', '--data-binary', 'old')
    const short = ['--header', 'Content-Length: 1000000', '--data-binary', 'too short', '--max-time', '1']
    await expect(curl('PUT', '/curl/kept', ...short)).rejects.toThrow('timed out')
    // curl that times out ends a chunked upload as if it were whole: it must be killed.
    const killed = `(echo new; sleep 2) | timeout -s KILL 1 curl --silent -T . ${gateway.endpoint}/curl/kept`
    await expect(run('sh', ['-c', killed])).rejects.toThrow('ended with 137')
    expect(await curl('GET', '/curl/kept')).toEqual([200, Buffer.from('old')])
  })
})
