import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { S3Error } from '../s3/errors.ts'
import { logNumbers } from './log.ts'
import { bootId } from './process-identity.ts'
import { recover } from './recovery.ts'
import { snapshotNumbers } from './snapshot.ts'
import { type EmbeddedStore, openEmbeddedStore } from './store.ts'

let directory: string
const made: string[] = []
const newDirectory = () => {
  const path = mkdtempSync(join(tmpdir(), 'store-'))
  made.push(path)
  return path
}
beforeEach(() => {
  directory = newDirectory()
})
afterEach(() => {
  for (const path of made.splice(0)) rmSync(path, { recursive: true, force: true })
})

describe('writing', () => {
  test('steps of one turn run in order and see what those before them wrote', async () => {
    const store = await openEmbeddedStore(directory)
    const seen = await Promise.all(
      [1, 2, 3].map((n) =>
        store.write(() => {
          const before = store.get('k')
          store.put('k', n)
          return before
        }),
      ),
    )
    expect(seen).toEqual([undefined, 1, 2])
    await store.close()
  })

  test('a step that refuses fails alone', async () => {
    const store = await openEmbeddedStore(directory)
    const refused = store.write(() => {
      throw new S3Error('OperationAborted')
    })
    const other = store.write(() => store.put('other', 1))
    await expect(refused).rejects.toMatchObject({ code: 'OperationAborted' })
    await other
    expect(store.get('other')).toBe(1)
    await store.close()
  })

  test('a step that breaks leaves nothing behind, and the others of its transaction run again', async () => {
    const store = await openEmbeddedStore(directory)
    const before = store.write(() => store.put('before', 1))
    const broken = store.write(() => {
      store.put('half', 1)
      store.put('x'.repeat(5000), 1)
    })
    store.writeLater(() => store.put('later', 1))
    const after = store.write(() => store.put('after', 1))
    await expect(broken).rejects.toMatchObject({ code: 'ServiceUnavailable' })
    await Promise.all([before, after])
    expect(['before', 'half', 'later', 'after'].map((key) => store.get(key))).toEqual([1, undefined, 1, 1])
    await store.close()
  })

  test('what nobody waits for is written soon, or when the store is closed', async () => {
    const store = await openEmbeddedStore(directory)
    store.writeLater(() => store.put('soon', 1))
    await pause(30)
    expect(store.get('soon')).toBe(1)
    store.writeLater(() => store.put('closing', 1))
    await store.close()
    const again = await openEmbeddedStore(directory)
    expect(again.get('closing')).toBe(1)
    await again.close()
  })

  test('more steps than go into one transaction are all written', async () => {
    const store = await openEmbeddedStore(directory)
    await Promise.all(Array.from({ length: 2000 }, (_, n) => store.write(() => store.put(`k${n}`, n))))
    expect(store.count({ start: 'k', end: 'l' })).toBe(2000)
    await store.close()
  })

  test('after close writes are refused, with a sentence', async () => {
    const store = await openEmbeddedStore(directory)
    await store.close()
    await expect(store.write(() => {})).rejects.toMatchObject({ code: 'ServiceUnavailable' })
  })

  test('opened twice in a process it is one store, closed with the last', async () => {
    const one = await openEmbeddedStore(directory)
    const two = await openEmbeddedStore(directory)
    expect(two).toBe(one)
    await one.close()
    await two.write(() => two.put('k', 1))
    expect(two.get('k')).toBe(1)
    await two.close()
  })

  test('a directory that cannot be used is refused with a sentence that says what to do', async () => {
    writeFileSync(join(directory, 'file'), '')
    await expect(openEmbeddedStore(join(directory, 'file', 'metadata'))).rejects.toThrow(
      /^The metadata directory .*file\/metadata cannot be used \(.*\)\. Make it writable .* svc\.proxy\.metadata\.directory\.$/,
    )
  })
})

describe('after the loss of the machine', () => {
  /** Fills a store with numbered steps, each of which sets the count and a few keys; returns its files. */
  async function fill(store: EmbeddedStore, from: number, to: number): Promise<void> {
    for (let n = from; n < to; n++) {
      await store.write(() => {
        store.put('count', n + 1)
        store.put(`k${n % 50}`, n)
        if (n % 3 === 0) store.remove(`k${(n + 7) % 50}`)
      })
    }
  }

  /** What `fill` leaves after `count` steps. */
  function model(count: number): Map<string, number> {
    const keys = new Map<string, number>()
    for (let n = 0; n < count; n++) {
      keys.set(`k${n % 50}`, n)
      if (n % 3 === 0) keys.delete(`k${(n + 7) % 50}`)
    }
    return keys
  }

  function verify(store: EmbeddedStore): number {
    const count = (store.get('count') as number | undefined) ?? 0
    const found = new Map(store.entries({ start: 'k', end: 'l' }).map(({ key, value }) => [key, value]))
    expect(found).toEqual(new Map([...model(count)].sort(([a], [b]) => (a < b ? -1 : 1))))
    return count
  }

  /** The files as another boot finds them: of LMDB's file anything may be left. */
  function lose(from: string): string {
    const to = newDirectory()
    for (const name of readdirSync(from)) copyFileSync(join(from, name), join(to, name))
    writeFileSync(join(to, 'store.mdb'), readFileSync(join(to, 'store.mdb')).fill(0x5a, 8192))
    writeFileSync(join(to, 'boot'), 'an earlier boot')
    return to
  }

  test('the store is what it was at some moment after the last flush, wherever the log breaks off', {
    timeout: 60_000,
  }, async () => {
    const store = await openEmbeddedStore(directory)
    await fill(store, 0, 300)
    await store.flush()
    const log = join(directory, `log-${logNumbers(directory).at(-1)}`)
    const flushed = statSync(log).size
    await fill(store, 300, 400)
    const whole = readFileSync(log)
    const counts = new Set<number>()
    for (const broken of ['cut', 'zero', 'noise']) {
      for (const share of [0, 0.35, 0.999]) {
        const lost = lose(directory)
        const at = flushed + Math.floor((whole.length - flushed) * share)
        const left = Buffer.from(whole)
        if (broken === 'zero') left.fill(0, at, Math.min(at + 600, left.length))
        if (broken === 'noise') left.fill(0xa7, at, Math.min(at + 5, left.length))
        writeFileSync(join(lost, `log-${logNumbers(lost).at(-1)}`), broken === 'cut' ? left.subarray(0, at) : left)
        const found = await openEmbeddedStore(lost)
        const count = verify(found)
        expect(count).toBeGreaterThanOrEqual(300)
        expect(count).toBeLessThanOrEqual(400)
        counts.add(count)
        await found.close()
      }
    }
    expect(counts.size).toBe(3)
    await store.close()
  })

  test('losing it again and again loses nothing that was flushed', { timeout: 60_000 }, async () => {
    for (let round = 0; round < 4; round++) {
      const store = await openEmbeddedStore(directory)
      expect(verify(store)).toBe(round * 40)
      await fill(store, round * 40, round * 40 + 40)
      await store.flush()
      await store.close()
      directory = lose(directory)
    }
  })

  test('what an aborted transaction logged is not taken for done', async () => {
    const store = await openEmbeddedStore(directory)
    await fill(store, 0, 10)
    const log = join(directory, `log-${logNumbers(directory).at(-1)}`)
    const before = readFileSync(log)
    await fill(store, 10, 11)
    const frame = readFileSync(log).subarray(before.length)
    await store.flush()
    await store.close()
    // A process killed between its frame and its commit leaves a frame behind; the next one begins in the same place.
    const longer = Buffer.concat([before, frame, frame, Buffer.alloc(100, 7)])
    writeFileSync(log, longer)
    const again = await openEmbeddedStore(directory)
    await fill(again, 11, 12)
    await again.close()
    const found = await openEmbeddedStore(lose(directory))
    expect(verify(found)).toBe(12)
    await found.close()
  })

  test('a long log is replaced by a snapshot, and both together are the store', { timeout: 60_000 }, async () => {
    const store = await openEmbeddedStore(directory)
    const first = logNumbers(directory).at(-1) ?? 0
    const filler = 'x'.repeat(2 ** 20)
    await fill(store, 0, 100)
    for (let n = 0; n < 70; n++) await store.write(() => store.put('filler', filler + n))
    // The timer that looks at the log is set by a change.
    for (let n = 100; snapshotNumbers(directory).length === 0; n++) {
      await fill(store, n, n + 1)
      await pause(50)
    }
    while (logNumbers(directory).includes(first)) await pause(20)
    expect(snapshotNumbers(directory)).toEqual(logNumbers(directory))
    const count = store.get('count') as number
    await fill(store, count, count + 25)
    await store.flush()
    await store.close()
    const found = await openEmbeddedStore(lose(directory))
    expect(verify(found)).toBe(count + 25)
    expect(found.get('filler')).toBe(`${filler}69`)
    await found.close()
  })

  test('of several processes that find the loss one makes the store, and a dead one is no obstacle', async () => {
    const store = await openEmbeddedStore(directory)
    await fill(store, 0, 30)
    await store.close()
    const lost = lose(directory)
    writeFileSync(join(lost, 'recovery-1'), '999999999-1-12345678')
    await Promise.all([recover(lost), recover(lost), recover(lost)])
    expect(readdirSync(lost).filter((name) => name.startsWith('recovery-'))).toEqual([])
    expect(readFileSync(join(lost, 'boot'), 'utf8')).toBe(bootId)
    expect(logNumbers(lost)).toHaveLength(logNumbers(directory).length + 1)
    const found = await openEmbeddedStore(lost)
    expect(verify(found)).toBe(30)
    await found.close()
  })

  test('while the machine runs nothing is made anew', async () => {
    const store = await openEmbeddedStore(directory)
    await fill(store, 0, 30)
    await store.close()
    const logs = logNumbers(directory)
    const again = await openEmbeddedStore(directory)
    expect(verify(again)).toBe(30)
    await again.close()
    expect(logNumbers(directory)).toEqual(logs)
    expect(existsSync(join(directory, 'store.mdb.rebuilding'))).toBe(false)
  })
})
