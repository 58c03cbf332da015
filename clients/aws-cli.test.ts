import { readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type AwsSession, startAwsSession } from './setup/aws-session.ts'
import type { CommandOutput } from './setup/command.ts'
import { below, data, differences, readTree, sampleTree, scratchDirectory, writeTree } from './setup/files.ts'
import { type Gateway, startClientGateway } from './setup/gateway.ts'
import { awsEnvironment } from './setup/users.ts'

describe('aws-cli', () => {
  let gateway: Gateway
  let session: AwsSession
  let here: string

  beforeAll(async () => {
    gateway = await startClientGateway()
    here = await scratchDirectory()
    const settings = '[default]\ns3 =\n  addressing_style = path\n  signature_version = s3v4\n'
    await writeFile(join(here, 'config'), settings)
    const environment = { ...awsEnvironment(gateway.endpoint), AWS_CONFIG_FILE: join(here, 'config') }
    session = await startAwsSession(here, environment)
  })
  afterAll(async () => {
    await session?.stop()
    await gateway?.stop()
  })

  const s3 = (...args: readonly string[]): Promise<CommandOutput> => session.aws(['s3', ...args])

  async function s3api(...args: readonly string[]): Promise<Record<string, unknown>> {
    const { stdout } = await session.aws(['s3api', ...args, '--output', 'json'])
    return stdout.length === 0 ? {} : (JSON.parse(stdout.toString()) as Record<string, unknown>)
  }

  test('makes a bucket, copies a file up, over and down, moves and removes it', async () => {
    const bytes = data(100_000)
    await writeFile(join(here, 'file'), bytes)
    await s3('mb', 's3://cli-basic')
    await s3('cp', join(here, 'file'), 's3://cli-basic/with space+plus.bin')
    await s3('cp', 's3://cli-basic/with space+plus.bin', 's3://cli-basic/dir/copy')
    await s3('mv', 's3://cli-basic/dir/copy', 's3://cli-basic/dir/moved')
    await s3('cp', 's3://cli-basic/dir/moved', join(here, 'back'))
    expect((await readFile(join(here, 'back'))).equals(bytes)).toBe(true)
    const listed = (await s3('ls', 's3://cli-basic')).stdout.toString()
    expect(listed).toMatch(/PRE dir\/\n/)
    expect(listed).toMatch(/100000 with space\+plus\.bin\n/)
    expect((await s3('ls')).stdout.toString()).toContain('cli-basic')
    await s3('rm', 's3://cli-basic/dir/moved')
    expect((await s3('ls', '--recursive', 's3://cli-basic')).stdout.toString()).not.toContain('moved')
    await expect(s3('cp', 's3://cli-basic/dir/moved', join(here, 'none'))).rejects.toThrow('404')
  })

  test('moves a large file in parts up and down', async () => {
    const bytes = data(18 * 2 ** 20)
    await writeFile(join(here, 'large'), bytes)
    await s3('mb', 's3://cli-large')
    await s3('cp', join(here, 'large'), 's3://cli-large/large')
    const { ETag } = await s3api('head-object', '--bucket', 'cli-large', '--key', 'large')
    expect(ETag).toMatch(/^"[0-9a-f]{32}-3"$/)
    await s3('cp', 's3://cli-large/large', 's3://cli-large/copy')
    await s3('cp', 's3://cli-large/copy', join(here, 'large-back'))
    expect((await readFile(join(here, 'large-back'))).equals(bytes)).toBe(true)
  })

  test('streams from standard input and to standard output', async () => {
    const bytes = data(9 * 2 ** 20)
    await s3('mb', 's3://cli-stream')
    await session.aws(['s3', 'cp', '-', 's3://cli-stream/o'], bytes)
    expect((await s3('cp', 's3://cli-stream/o', '-')).stdout.equals(bytes)).toBe(true)
  })

  test('syncs a nested tree of more than a thousand files up, over and down, then removes the bucket by force', async () => {
    const tree = sampleTree(1100)
    await writeTree(join(here, 'up'), tree)
    await s3('mb', 's3://cli-tree')
    await s3('sync', join(here, 'up'), 's3://cli-tree/a/b', '--only-show-errors')
    expect((await s3('sync', join(here, 'up'), 's3://cli-tree/a/b')).stdout.toString()).toBe('')
    await s3('cp', '--recursive', 's3://cli-tree/a/b/top 1', 's3://cli-tree/copied', '--only-show-errors')
    await s3('sync', 's3://cli-tree/a/b/top 2', join(here, 'down'), '--only-show-errors')
    expect(differences(await readTree(join(here, 'down')), below(tree, 'top 2/'))).toEqual([])
    expect(differences(await readTree(join(gateway.root, 'cli-tree/a/b')), tree)).toEqual([])
    expect(differences(await readTree(join(gateway.root, 'cli-tree/copied')), below(tree, 'top 1/'))).toEqual([])
    await s3('rm', '--recursive', 's3://cli-tree/copied', '--only-show-errors')
    await s3('rb', '--force', 's3://cli-tree')
    await expect(stat(join(gateway.root, 'cli-tree'))).rejects.toThrow('ENOENT')
  })

  test('syncs with --delete what changed, appeared and went', async () => {
    await s3('mb', 's3://cli-sync')
    await writeTree(
      join(here, 'sync'),
      new Map([
        ['same', data(9)],
        ['changed', data(5)],
      ]),
    )
    await s3('sync', join(here, 'sync'), 's3://cli-sync')
    await s3('cp', join(here, 'sync/same'), 's3://cli-sync/goes/away')
    await writeTree(
      join(here, 'sync'),
      new Map([
        ['changed', data(7)],
        ['new', data(1)],
      ]),
    )
    const { stdout } = await s3('sync', '--delete', join(here, 'sync'), 's3://cli-sync', '--no-progress')
    expect(
      stdout
        .toString()
        .match(/^(upload|delete)/gm)
        ?.sort(),
    ).toEqual(['delete', 'upload', 'upload'])
    expect(differences(await readTree(join(gateway.root, 'cli-sync')), await readTree(join(here, 'sync')))).toEqual([])
  })

  test('signs a link that fetch follows', async () => {
    await s3('mb', 's3://cli-signed')
    await session.aws(['s3', 'cp', '-', 's3://cli-signed/a b'], Buffer.from('signed'))
    const url = (await s3('presign', 's3://cli-signed/a b')).stdout.toString().trim()
    expect(await (await fetch(url)).text()).toBe('signed')
  })

  test('writes on a condition, tags, and reads the attributes of an object by s3api', async () => {
    await writeFile(join(here, 'body'), 'body')
    const place = ['--bucket', 'cli-api', '--key', 'o']
    await s3api('create-bucket', '--bucket', 'cli-api')
    await s3api('put-object', ...place, '--body', join(here, 'body'), '--if-none-match', '*', '--metadata', 'a=b')
    const again = s3api('put-object', ...place, '--body', join(here, 'config'), '--if-none-match', '*')
    await expect(again).rejects.toThrow('PreconditionFailed')
    await s3api('put-object-tagging', ...place, '--tagging', 'TagSet=[{Key=k,Value=v w}]')
    expect(await s3api('get-object-tagging', ...place)).toEqual({ TagSet: [{ Key: 'k', Value: 'v w' }] })
    const got = await s3api('get-object', ...place, '--range', 'bytes=1-2', join(here, 'range'))
    expect(got).toMatchObject({ ContentRange: 'bytes 1-2/4', ContentLength: 2, Metadata: { a: 'b' } })
    expect(await readFile(join(here, 'range'), 'utf8')).toBe('od')
  })
})
