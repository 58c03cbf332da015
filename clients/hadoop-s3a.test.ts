import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { data, differences, readTree, sampleTree, scratchDirectory, writeTree } from './setup/files.ts'
import { type Gateway, startClientGateway } from './setup/gateway.ts'
import { type HadoopShell, startHadoopShell } from './setup/hadoop-shell.ts'

describe("Hadoop's file-system shell on S3A", () => {
  let gateway: Gateway
  let shell: HadoopShell
  let here: string

  beforeAll(async () => {
    gateway = await startClientGateway()
    here = await scratchDirectory()
    shell = await startHadoopShell(gateway.endpoint)
    // S3A does not make buckets.
    for (const bucket of ['s3a', 's3a-large', 's3a-tree']) await makeBucket(bucket)
  })
  afterAll(async () => {
    await shell?.stop()
    await gateway?.stop()
  })

  async function makeBucket(name: string): Promise<void> {
    const { status } = await fetch(`${gateway.endpoint}/${name}`, {
      method: 'PUT',
      headers: { authorization: 'AWS4-HMAC-SHA256 Credential=alice/x, SignedHeaders=host, Signature=x' },
    })
    expect(status).toBe(200)
  }

  /** Paths below a directory as `-ls -R` tells them, directories with a slash. */
  async function list(uri: string): Promise<string[]> {
    const lines = (await shell.run('-ls', '-R', uri)).toString().trimEnd().split('\n')
    const paths = lines.map((line) =>
      line.replace(/^(.).*(s3a:.*)$/, (_, kind, path) => path + (kind === 'd' ? '/' : '')),
    )
    return paths.sort()
  }

  test('makes directories, puts, lists, reads, copies, moves and removes files', async () => {
    const bytes = data(100_000)
    await writeFile(join(here, 'file'), bytes)
    await shell.run('-mkdir', '-p', 's3a://s3a/a/b/empty')
    await shell.run('-put', join(here, 'file'), 's3a://s3a/a/b/with space+plus')
    await shell.run('-cp', 's3a://s3a/a/b/with space+plus', 's3a://s3a/a/copy')
    expect((await shell.run('-cat', 's3a://s3a/a/copy')).equals(bytes)).toBe(true)
    expect(await list('s3a://s3a/')).toEqual([
      's3a://s3a/a/',
      's3a://s3a/a/b/',
      's3a://s3a/a/b/empty/',
      's3a://s3a/a/b/with space+plus',
      's3a://s3a/a/copy',
    ])
    await shell.run('-mv', 's3a://s3a/a/copy', 's3a://s3a/a/b/moved')
    await shell.run('-get', 's3a://s3a/a/b/moved', join(here, 'back'))
    expect((await readFile(join(here, 'back'))).equals(bytes)).toBe(true)
    await shell.run('-rm', 's3a://s3a/a/b/moved')
    await expect(shell.run('-cat', 's3a://s3a/a/b/moved')).rejects.toThrow('No such file or directory')
    expect(await readFile(join(gateway.root, 's3a/a/b/with space+plus'))).toEqual(bytes)
  })

  test('knows files from directories and refuses to mix them up', async () => {
    await shell.run('-mkdir', 's3a://s3a/dir')
    await shell.run('-touchz', 's3a://s3a/dir/file')
    await shell.run('-test', '-d', 's3a://s3a/dir')
    await shell.run('-test', '-f', 's3a://s3a/dir/file')
    await shell.run('-test', '-z', 's3a://s3a/dir/file')
    await expect(shell.run('-test', '-e', 's3a://s3a/dir/none')).rejects.toThrow()
    await expect(shell.run('-mkdir', 's3a://s3a/dir')).rejects.toThrow('File exists')
    await expect(shell.run('-rmdir', 's3a://s3a/dir')).rejects.toThrow('not empty')
    await shell.run('-rm', 's3a://s3a/dir/file')
    await shell.run('-rmdir', 's3a://s3a/dir')
    await expect(shell.run('-test', '-e', 's3a://s3a/dir')).rejects.toThrow()
  })

  test('writes a file in parts, renames it and reads it back', async () => {
    const bytes = data(17 * 2 ** 20)
    await writeFile(join(here, 'large'), bytes)
    await shell.run('-put', join(here, 'large'), 's3a://s3a-large/large')
    await shell.run('-mv', 's3a://s3a-large/large', 's3a://s3a-large/renamed')
    expect((await shell.run('-cat', 's3a://s3a-large/renamed')).equals(bytes)).toBe(true)
    expect((await shell.run('-tail', 's3a://s3a-large/renamed')).equals(bytes.subarray(-1024))).toBe(true)
    await shell.run('-appendToFile', join(here, 'large'), 's3a://s3a-large/renamed').catch((error: Error) => {
      expect(error.message).toContain('Append is not supported')
    })
  })

  test('renames, copies and removes a whole tree', async () => {
    const tree = sampleTree(40)
    await writeTree(join(here, 'tree'), tree)
    await shell.run('-put', join(here, 'tree'), 's3a://s3a-tree/tree')
    await shell.run('-mv', 's3a://s3a-tree/tree', 's3a://s3a-tree/renamed')
    await expect(shell.run('-test', '-e', 's3a://s3a-tree/tree')).rejects.toThrow()
    await shell.run('-cp', 's3a://s3a-tree/renamed', 's3a://s3a-tree/copy')
    await shell.run('-get', 's3a://s3a-tree/copy', join(here, 'tree-back'))
    expect(differences(await readTree(join(here, 'tree-back')), tree)).toEqual([])
    expect((await shell.run('-count', 's3a://s3a-tree/renamed')).toString()).toMatch(/^ +\d+ +40 /)
    await shell.run('-rm', '-r', '-skipTrash', 's3a://s3a-tree/renamed')
    await shell.run('-rm', '-r', '-skipTrash', 's3a://s3a-tree/copy')
    expect((await shell.run('-ls', 's3a://s3a-tree/')).toString()).toBe('')
  })
})
