import { createHash } from 'node:crypto'
import { readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type CommandOutput, run } from './setup/command.ts'
import { data, differences, readTree, sampleTree, scratchDirectory, writeTree } from './setup/files.ts'
import { type Gateway, startClientGateway } from './setup/gateway.ts'
import { python } from './setup/python.ts'
import { user } from './setup/users.ts'

describe('s3cmd', () => {
  let gateway: Gateway
  let program: { readonly interpreter: string; readonly bin: string }
  let here: string

  beforeAll(async () => {
    program = await python('clients')
    gateway = await startClientGateway()
    here = await scratchDirectory()
    const host = gateway.endpoint.replace('http://', '')
    const settings = { access_key: user, secret_key: 'unused', host_base: host, host_bucket: host, use_https: 'False' }
    const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}\n`)
    await writeFile(join(here, 'config'), `[default]\n${lines.join('')}`)
  })
  afterAll(() => gateway?.stop())

  function s3cmd(...args: readonly string[]): Promise<CommandOutput> {
    const command = [join(program.bin, 's3cmd'), '--config', join(here, 'config'), '--no-progress', ...args]
    return run(program.interpreter, command, { env: { PYTHONWARNINGS: 'ignore' } })
  }

  /** s3cmd only warns when the ETag is not the MD5 of what it sent or got. */
  async function withMd5Checked(output: Promise<CommandOutput>): Promise<string> {
    const { stdout, stderr } = await output
    expect(stderr).not.toMatch(/md5/i)
    return stdout.toString()
  }

  /** What `info` writes, which asks for the ACL and the policy too. */
  async function info(uri: string): Promise<string> {
    return (await s3cmd('info', uri)).stdout.toString()
  }

  test('puts, lists, copies, moves, gets and deletes with its MD5 checks', async () => {
    const bytes = data(100_000)
    const md5 = createHash('md5').update(bytes).digest('hex')
    await writeFile(join(here, 'file'), bytes)
    await withMd5Checked(s3cmd('mb', 's3://s3cmd-basic'))
    await withMd5Checked(s3cmd('put', join(here, 'file'), 's3://s3cmd-basic/a b+ü.bin'))
    const listed = await withMd5Checked(s3cmd('ls', '--list-md5', 's3://s3cmd-basic'))
    expect(listed).toContain(md5)
    expect(listed).toContain('s3://s3cmd-basic/a b+ü.bin')
    await withMd5Checked(s3cmd('cp', 's3://s3cmd-basic/a b+ü.bin', 's3://s3cmd-basic/dir/copy'))
    await withMd5Checked(s3cmd('mv', 's3://s3cmd-basic/dir/copy', 's3://s3cmd-basic/dir/moved'))
    expect(await info('s3://s3cmd-basic/dir/moved')).toContain(md5)
    await withMd5Checked(s3cmd('get', '--force', 's3://s3cmd-basic/dir/moved', join(here, 'back')))
    expect((await readFile(join(here, 'back'))).equals(bytes)).toBe(true)
    await withMd5Checked(s3cmd('del', 's3://s3cmd-basic/dir/moved'))
    await expect(s3cmd('get', '--force', 's3://s3cmd-basic/dir/moved', join(here, 'none'))).rejects.toThrow(
      'does not exist',
    )
    expect(await withMd5Checked(s3cmd('ls'))).toContain('s3://s3cmd-basic')
  })

  test('moves a file in parts up and down', async () => {
    const bytes = data(13 * 2 ** 20)
    await writeFile(join(here, 'large'), bytes)
    await s3cmd('mb', 's3://s3cmd-large')
    await withMd5Checked(s3cmd('put', '--multipart-chunk-size-mb=5', join(here, 'large'), 's3://s3cmd-large/large'))
    await withMd5Checked(s3cmd('get', '--force', 's3://s3cmd-large/large', join(here, 'large-back')))
    expect((await readFile(join(here, 'large-back'))).equals(bytes)).toBe(true)
    expect(await withMd5Checked(s3cmd('multipart', 's3://s3cmd-large'))).not.toContain('large\t')
  })

  test('syncs a tree up and down, finds nothing to do then, and deletes it and the bucket', async () => {
    const tree = sampleTree(60)
    await writeTree(join(here, 'up'), tree)
    await s3cmd('mb', 's3://s3cmd-tree')
    await withMd5Checked(s3cmd('sync', `${join(here, 'up')}/`, 's3://s3cmd-tree/t/'))
    expect(await withMd5Checked(s3cmd('sync', `${join(here, 'up')}/`, 's3://s3cmd-tree/t/'))).not.toContain('upload:')
    await withMd5Checked(s3cmd('sync', 's3://s3cmd-tree/t/', `${join(here, 'down')}/`))
    expect(differences(await readTree(join(here, 'down')), tree)).toEqual([])
    await s3cmd('rb', '--recursive', 's3://s3cmd-tree')
    await expect(stat(join(gateway.root, 's3cmd-tree'))).rejects.toThrow('ENOENT')
  })

  test('changes the headers of an object in place', async () => {
    await writeFile(join(here, 'page'), '<p>')
    await s3cmd('mb', 's3://s3cmd-modify')
    await s3cmd('put', join(here, 'page'), 's3://s3cmd-modify/page')
    await withMd5Checked(
      s3cmd('modify', '--mime-type=text/html', '--add-header=x-amz-meta-k:v', 's3://s3cmd-modify/page'),
    )
    const described = await info('s3://s3cmd-modify/page')
    expect(described).toContain('text/html')
    expect(described).toMatch(/x-amz-meta-k: +v/)
    expect(await readFile(join(gateway.root, 's3cmd-modify/page'), 'utf8')).toBe('<p>')
  })
})
