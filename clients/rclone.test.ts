import { readdir, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type CommandOutput, run } from './setup/command.ts'
import { data, differences, readTree, sampleTree, scratchDirectory, writeTree } from './setup/files.ts'
import { type Gateway, startClientGateway } from './setup/gateway.ts'
import { goProgram } from './setup/go.ts'
import { user } from './setup/users.ts'

describe('rclone', () => {
  let gateway: Gateway
  let program: string
  let here: string

  beforeAll(async () => {
    program = await goProgram('rclone')
    gateway = await startClientGateway()
    here = await scratchDirectory()
  })
  afterAll(() => gateway?.stop())

  /** The remote `gw:` is the gateway; nothing is read from the machine's own configuration. */
  function rclone(...args: readonly string[]): Promise<CommandOutput> {
    return run(program, ['--retries', '1', ...args], { env: remote() })
  }

  const remote = (): Record<string, string> => ({
    RCLONE_CONFIG: '/dev/null',
    RCLONE_CONFIG_GW_TYPE: 's3',
    RCLONE_CONFIG_GW_PROVIDER: 'Other',
    RCLONE_CONFIG_GW_ENDPOINT: gateway.endpoint,
    RCLONE_CONFIG_GW_ACCESS_KEY_ID: user,
    RCLONE_CONFIG_GW_SECRET_ACCESS_KEY: 'unused',
    RCLONE_CONFIG_GW_REGION: 'us-east-1',
    RCLONE_S3_CHUNK_SIZE: '5Mi',
    RCLONE_S3_UPLOAD_CUTOFF: '5Mi',
  })

  /** What a sync or copy would still have to move. */
  async function transfers(...args: readonly string[]): Promise<number> {
    const { stderr } = await rclone(...args, '--dry-run', '--use-json-log', '--log-level', 'NOTICE')
    return stderr.split('\n').filter((line) => line.includes('Skipped')).length
  }

  test('syncs a tree of more than a thousand files up and down, and has nothing left to do then', async () => {
    const tree = sampleTree(1100)
    await writeTree(join(here, 'up'), tree)
    await rclone('sync', join(here, 'up'), 'gw:rclone-sync/tree', '--checksum', '--transfers', '16', '--fast-list')
    expect(await transfers('sync', join(here, 'up'), 'gw:rclone-sync/tree', '--checksum')).toBe(0)
    expect(await transfers('sync', join(here, 'up'), 'gw:rclone-sync/tree')).toBe(0)
    await rclone('check', join(here, 'up'), 'gw:rclone-sync/tree', '--checksum')
    await rclone('sync', 'gw:rclone-sync/tree', join(here, 'down'), '--checksum', '--transfers', '16')
    expect(differences(await readTree(join(here, 'down')), tree)).toEqual([])
    const listed = (await rclone('lsf', '-R', '--files-only', 'gw:rclone-sync/tree')).stdout.toString()
    expect(listed.trimEnd().split('\n').sort()).toEqual([...tree.keys()].sort())
  })

  test('syncs a change, a new file and a removal', async () => {
    const tree = sampleTree(10)
    await writeTree(join(here, 'changing'), tree)
    await rclone('sync', join(here, 'changing'), 'gw:rclone-change')
    const [changed = '', ...others] = [...tree.keys()]
    const next = new Map(tree)
    next.set(changed, data(64, 99))
    next.set('new/file', data(10))
    next.delete(others[0] ?? '')
    await rclone('purge', 'gw:rclone-change')
    await rclone('sync', join(here, 'changing'), 'gw:rclone-change')
    await writeTree(join(here, 'changed'), next)
    await rclone('sync', join(here, 'changed'), 'gw:rclone-change', '--checksum')
    expect(differences(await readTree(join(gateway.root, 'rclone-change')), next)).toEqual([])
  })

  test('purges a nested tree of more than a thousand files and its bucket', async () => {
    await writeTree(join(here, 'purged'), sampleTree(1100))
    await rclone('copy', join(here, 'purged'), 'gw:rclone-purge/a/b/c', '--transfers', '16')
    await rclone('purge', 'gw:rclone-purge/a/b')
    expect((await rclone('lsf', '-R', 'gw:rclone-purge')).stdout.toString()).not.toContain('b/')
    await rclone('copy', join(here, 'purged'), 'gw:rclone-purge/again', '--transfers', '16')
    await rclone('purge', 'gw:rclone-purge')
    await expect(rclone('lsf', 'gw:rclone-purge')).rejects.toThrow('directory not found')
    await expect(stat(join(gateway.root, 'rclone-purge'))).rejects.toThrow('ENOENT')
  })

  test('keeps the modification time of a file in metadata, to the nanosecond', async () => {
    const file = join(here, 'stamped')
    await writeFile(file, data(100))
    await utimes(file, 1_600_000_000.125, 1_600_000_000.125)
    await rclone('copyto', file, 'gw:rclone-time/stamped')
    const [entry] = JSON.parse((await rclone('lsjson', 'gw:rclone-time')).stdout.toString()) as { ModTime: string }[]
    expect(Date.parse(entry?.ModTime ?? '')).toBe(1_600_000_000_125)
    expect(await transfers('sync', file, 'gw:rclone-time')).toBe(0)
    await utimes(file, 1_500_000_000, 1_500_000_000)
    // The time alone changed: rclone copies the object onto itself with new metadata.
    await rclone('copyto', file, 'gw:rclone-time/stamped')
    await rclone('copyto', 'gw:rclone-time/stamped', join(here, 'stamped-back'))
    expect((await stat(join(here, 'stamped-back'))).mtimeMs).toBe(1_500_000_000_000)
  })

  test('moves a large file in parts up, from key to key and down', async () => {
    const bytes = data(17 * 2 ** 20)
    await writeFile(join(here, 'large'), bytes)
    await rclone('copyto', join(here, 'large'), 'gw:rclone-large/a b+c/large')
    await rclone('copyto', 'gw:rclone-large/a b+c/large', 'gw:rclone-large/copy', '--s3-copy-cutoff', '5Mi')
    await rclone('moveto', 'gw:rclone-large/a b+c/large', 'gw:rclone-large/moved')
    for (const key of ['copy', 'moved']) {
      expect((await rclone('cat', `gw:rclone-large/${key}`)).stdout.equals(bytes), key).toBe(true)
    }
    const slice = await rclone('cat', 'gw:rclone-large/copy', '--offset', '5000000', '--count', '1000000')
    expect(slice.stdout.equals(bytes.subarray(5_000_000, 6_000_000))).toBe(true)
    await rclone('deletefile', 'gw:rclone-large/moved')
    expect((await rclone('lsf', '-R', '--files-only', 'gw:rclone-large')).stdout.toString()).toBe('copy\n')
  })

  test('streams standard input into an object, also in parts', async () => {
    for (const size of [0, 1000, 11 * 2 ** 20]) {
      const bytes = data(size)
      await run(program, ['rcat', `gw:rclone-rcat/${size}`], { env: remote(), input: bytes })
      expect((await rclone('cat', `gw:rclone-rcat/${size}`)).stdout.equals(bytes)).toBe(true)
    }
  })

  test('makes and removes directories with markers', async () => {
    await rclone('mkdir', 'gw:rclone-dirs/one/two', '--s3-directory-markers')
    expect((await stat(join(gateway.root, 'rclone-dirs/one/two'))).isDirectory()).toBe(true)
    await rclone('rmdirs', 'gw:rclone-dirs', '--leave-root', '--s3-directory-markers')
    expect(await readdir(join(gateway.root, 'rclone-dirs'))).toEqual([])
  })
})
