import { type ChildProcess, fork, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, readdirSync, writeFileSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Told } from './embedded.test-process.ts'
import { openEmbeddedMetadata } from './embedded.ts'
import type { Metadata } from './metadata.ts'

const script = new URL('./embedded.test-process.ts', import.meta.url).pathname

let directory: string
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'metadata-'))
})
afterEach(() => rm(directory, { recursive: true, force: true }))

/** What was acknowledged to the processes, by kind and id; values of tags and uploads only ever grow. */
class Ledger {
  readonly acknowledged = new Map<string, string>()
  count = 0

  start(task: string, name: string): ChildProcess {
    const child = fork(script, [directory, task, name], {
      execArgv: [],
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    })
    child.on('message', ({ kind, id, value }: Told) => {
      if (kind === 'count') this.count++
      if (kind !== 'ready') this.acknowledged.set(`${kind} ${id}`, value)
    })
    return child
  }

  async verify(metadata: Metadata): Promise<number> {
    for (const [key, value] of this.acknowledged) {
      const [kind, id = ''] = key.split(' ')
      if (kind === 'record') expect((await metadata.object(id))?.record?.etag, key).toBe(value)
      // The killed process may have got further than it could tell.
      if (kind === 'tags') {
        expect(Number((await metadata.object(id))?.tags[0]?.value), key).toBeGreaterThanOrEqual(Number(value))
      }
      if (kind === 'upload') {
        const upload = await metadata.upload(id)
        expect(upload?.version, key).toBeGreaterThanOrEqual(Number(value))
        // The upload and its place in the listing are of one transaction.
        expect(upload?.user).toBe(`v${upload?.version}`)
        const listed = await metadata.uploads({ bucket: 'b', prefix: `key/${id}`, limit: 1 })
        expect(listed[0]?.id).toBe(id)
      }
    }
    return this.acknowledged.size
  }
}

/**
 * Kills processes, three at a time, at random moments after they have begun to work: as many as wanted, fewer where
 * starting them takes long. Returns how many.
 */
async function killMany(ledger: Ledger, task: string, wanted: number): Promise<number> {
  const until = Date.now() + 60_000
  let kills = 0
  const lane = async () => {
    while (kills < wanted && Date.now() < until) {
      const child = ledger.start(task, `p${kills++}`)
      await once(child, 'message')
      await pause(Math.random() * 100)
      child.kill('SIGKILL')
      // All that it told before is read before the channel closes.
      await Promise.all([once(child, 'exit'), once(child, 'disconnect').catch(() => {})])
    }
  }
  await Promise.all([lane(), lane(), lane()])
  return kills
}

describe('processes that are killed at any moment', () => {
  test('nothing acknowledged is lost, and what they left is found and can be taken over', {
    timeout: 240_000,
  }, async () => {
    const ledger = new Ledger()
    const metadata = await openEmbeddedMetadata({ directory })
    const kills = await killMany(ledger, 'write', 300)
    expect(await ledger.verify(metadata)).toBeGreaterThan(kills)
    const left = await metadata.abandoned()
    expect(left.length).toBeGreaterThan(0)
    // A temporary file is known for each intent that named one.
    for (const { path, temp } of left) if (temp) expect(temp).toBe(path.replace('b/', 'tmp/'))
    // The dead hold nobody off.
    for (const { path } of left.slice(0, 50)) {
      await (await metadata.begin({ path, exclusive: true, durable: false, waitMs: 500 })).settle()
    }
    for (const intent of left) await intent.settle()
    expect(await metadata.abandoned()).toEqual([])
    await metadata.close()
    // The store opens again, with nobody left who had it open, and still has everything.
    const again = await openEmbeddedMetadata({ directory })
    await ledger.verify(again)
    await again.close()
  })

  test('an exclusive intent is exclusive whoever is killed: no count is lost', { timeout: 120_000 }, async () => {
    writeFileSync(join(directory, 'counter'), '00000000')
    const ledger = new Ledger()
    const kills = await killMany(ledger, 'count', 150)
    const counted = Number(await readFile(join(directory, 'counter'), 'utf8'))
    expect(ledger.count).toBeGreaterThan(kills)
    expect(counted).toBeGreaterThanOrEqual(ledger.count)
    // Each process killed may have counted once without being able to tell.
    expect(counted).toBeLessThanOrEqual(ledger.count + kills)
  })
})

describe('a machine that is lost', () => {
  /** What would be on the disk: the synced part of the logs, and LMDB's file as any mixture of pages. */
  test('what was durable is there after the loss, and the store goes on', { timeout: 120_000 }, async () => {
    const ledger = new Ledger()
    let metadata = await openEmbeddedMetadata({ directory })
    for (let round = 0; round < 5; round++) {
      const child = ledger.start('write', `round${round}`)
      await once(child, 'message')
      await pause(300)
      child.kill('SIGKILL')
      await once(child, 'exit')
      const id = `durable${round}`
      await metadata.begin({ path: id, exclusive: false, durable: true, write: { id, record: { etag: id }, tags: [] } })
      ledger.acknowledged.set(`record ${id}`, id)
      await metadata.close()
      const lost = await mkdtemp(join(tmpdir(), 'metadata-'))
      for (const file of readdirSync(directory)) copyFileSync(join(directory, file), join(lost, file))
      writeFileSync(join(lost, 'store.mdb'), Buffer.alloc(300_000, 'no longer an LMDB file'))
      writeFileSync(join(lost, 'boot'), 'another boot')
      await rm(directory, { recursive: true })
      directory = lost
      metadata = await openEmbeddedMetadata({ directory })
      await ledger.verify(metadata)
      expect((await metadata.abandoned()).length).toBeGreaterThan(0)
      for (const intent of await metadata.abandoned()) await intent.settle()
    }
    await metadata.close()
  })
})

describe('a disk that is full', () => {
  test('writes answer InsufficientStorage, reads and releases go on, nothing is lost', {
    timeout: 60_000,
  }, async () => {
    // The largest file size stands for the disk; the shell counts it in blocks of 512 or 1,024 bytes.
    const shell = spawnSync(
      'sh',
      ['-c', `ulimit -f 24000; exec "$0" -e '${runner}' "$@"`, process.execPath, directory],
      {
        encoding: 'utf8',
        timeout: 50_000,
      },
    )
    expect(shell.stderr).toBe('')
    const [code, report] = shell.stdout.trim().split('\n')
    expect(code).toBe('InsufficientStorage')
    const { written, missing, still, left } = JSON.parse(report ?? '')
    expect(written).toBeGreaterThan(100)
    expect({ missing, still, left }).toEqual({ missing: 0, still: 'InsufficientStorage', left: false })
  })

  /** Runs the task and prints what it tells. */
  const runner = `const child = require("node:child_process").fork(${JSON.stringify(script)}, [process.argv[1], "fill"]);
    child.on("message", ({ kind, id, value }) => kind === "full" && console.log(id + "\\n" + value));`
})
