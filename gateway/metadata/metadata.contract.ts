import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { ObjectRecord } from '../s3/object-record.ts'
import type { Change, Metadata, Upload } from './metadata.ts'

/**
 * Behaviours every driver of `Metadata` must show. `open` gives another connection to the same store, as another
 * process would have it; `start` makes a store that is empty.
 */
export interface MetadataStore {
  open(): Promise<Metadata>
  stop(): Promise<void>
}

export function describeMetadata(driver: string, start: () => Promise<MetadataStore>): void {
  describe(`metadata: ${driver}`, () => {
    let store: MetadataStore
    let here: Metadata
    let there: Metadata

    beforeEach(async () => {
      store = await start()
      here = await store.open()
      there = await store.open()
    })
    afterEach(async () => {
      await here.close()
      await there.close()
      await store.stop()
    })

    const record: ObjectRecord = {
      etag: 'd41d8cd98f00b204e9800998ecf8427e',
      contentType: 'text/plain',
      userMetadata: { owner: 'caf\u00e9', empty: '' },
      checksums: { crc32: 'AAAAAA==' },
      parts: [5, 6, 7],
    }
    const change = (path: string, more: Partial<Change> = {}): Change => ({
      path,
      exclusive: false,
      durable: false,
      ...more,
    })
    const upload = (id: string, key: string, more: Partial<Upload> = {}): Upload => ({
      id,
      bucketName: 'b',
      bucket: 'b',
      key,
      directory: `${key}_${id}`,
      user: 'alice',
      initiatedMs: 1,
      record: { etag: '' },
      tags: [],
      state: 'open',
      version: 1,
      ...more,
    })

    describe('records and tags', () => {
      test('a file nobody wrote through the gateway has no metadata', async () => {
        expect(await here.object('1-2-3')).toBeUndefined()
        expect(await here.records(['1-2-3', '4-5-6'])).toEqual([undefined, undefined])
      })

      test('a record begun by one process is whole for every process', async () => {
        const tags = [{ key: 'k', value: 'v' }]
        const intent = await here.begin(change('b/k', { write: { id: '1-2-3', record, tags } }))
        expect(await there.object('1-2-3')).toEqual({ record, tags })
        expect(await here.object('1-2-3')).toEqual({ record, tags })
        await intent.settle()
      })

      test('records of a page come in the order asked, with gaps', async () => {
        await here.putRecord('a', { etag: 'ea' }, [])
        await here.putRecord('c', { etag: 'ec' }, [])
        const page = await there.records(['c', 'b', 'a', 'c'])
        expect(page.map((found) => found?.etag)).toEqual(['ec', undefined, 'ea', 'ec'])
      })

      test('a tag set is replaced as a whole and seen by every process at once', async () => {
        await here.begin(change('b/k', { write: { id: 'f', record, tags: [{ key: 'a', value: '1' }] } }))
        expect((await there.object('f'))?.tags).toEqual([{ key: 'a', value: '1' }])
        for (let turn = 0; turn < 50; turn++) {
          const tags = [{ key: 'turn', value: String(turn) }]
          await (turn % 2 ? here : there).putTags('f', tags)
          expect((await here.object('f'))?.tags).toEqual(tags)
          expect((await there.object('f'))?.tags).toEqual(tags)
        }
        await here.putTags('f', [])
        expect(await there.object('f')).toEqual({ record, tags: [] })
      })

      test('tags can be kept of a file without a record', async () => {
        await here.putTags('bucket-dir', [{ key: 'k', value: '' }])
        expect(await there.object('bucket-dir')).toEqual({ record: undefined, tags: [{ key: 'k', value: '' }] })
        await there.putTags('bucket-dir', [])
        expect(await here.object('bucket-dir')).toBeUndefined()
      })

      test('the record of a folder can be written again under its id', async () => {
        await here.putRecord('folder', { etag: 'one' }, [{ key: 'a', value: '1' }])
        expect((await there.object('folder'))?.record?.etag).toBe('one')
        await here.putRecord('folder', { etag: 'two' }, [])
        expect(await there.object('folder')).toEqual({ record: { etag: 'two' }, tags: [] })
        expect(await there.records(['folder'])).toEqual([{ etag: 'two' }])
      })

      test('expired records can still be read in the grace period, by processes that have not read them before', async () => {
        await here.putRecord('old', record, [{ key: 'a', value: '1' }])
        await here.expire(['old', 'never-there'], 60_000)
        expect(await there.object('old')).toEqual({ record, tags: [{ key: 'a', value: '1' }] })
      })

      test('a large record (10,000 parts, 2 KiB of user metadata) comes back whole', async () => {
        const large: ObjectRecord = {
          etag: 'e-10000',
          userMetadata: { text: 'x'.repeat(2048) },
          parts: Array.from({ length: 10_000 }, (_, part) => 5_242_880 + part),
        }
        await here.begin(change('b/large', { write: { id: 'large', record: large, tags: [] } }))
        expect(await there.records(['large'])).toEqual([large])
      })
    })

    describe('intents', () => {
      test('shared intents on one path go together', async () => {
        const intents = await Promise.all([
          here.begin(change('b/k')),
          there.begin(change('b/k')),
          here.begin(change('b/k')),
        ])
        for (const intent of intents) await intent.settle()
      })

      test('an exclusive intent waits for shared ones, and goes on at once when the last is settled', async () => {
        const shared = [await here.begin(change('b/k')), await there.begin(change('b/k'))]
        let granted = false
        const exclusive = here.begin(change('b/k', { exclusive: true })).then((intent) => {
          granted = true
          return intent
        })
        await pause(40)
        expect(granted).toBe(false)
        await shared[0]?.settle()
        await pause(40)
        expect(granted).toBe(false)
        await shared[1]?.settle()
        await (await exclusive).settle()
        expect(granted).toBe(true)
      })

      test('a waiting exclusive intent holds off shared ones that come later, so it cannot starve', async () => {
        const order: string[] = []
        const first = await there.begin(change('b/k'))
        const exclusive = here.begin(change('b/k', { exclusive: true })).then(async (intent) => {
          order.push('exclusive')
          await pause(20)
          await intent.settle()
        })
        await pause(20)
        const later = there.begin(change('b/k')).then(async (intent) => {
          order.push('shared')
          await intent.settle()
        })
        await pause(40)
        expect(order).toEqual([])
        await first.settle()
        await Promise.all([exclusive, later])
        expect(order).toEqual(['exclusive', 'shared'])
      })

      test('exclusive intents exclude each other across processes', async () => {
        let inside = 0
        let most = 0
        let done = 0
        const worker = async (metadata: Metadata) => {
          for (let turn = 0; turn < 10; turn++) {
            const intent = await metadata.begin(change('b/hot', { exclusive: true }))
            most = Math.max(most, ++inside)
            await pause(1)
            inside--
            done++
            await intent.settle()
          }
        }
        await Promise.all([worker(here), worker(there), worker(here), worker(there)])
        expect(most).toBe(1)
        expect(done).toBe(40)
      })

      test('different paths do not wait for each other', async () => {
        const one = await here.begin(change('b/one', { exclusive: true }))
        const two = await there.begin(change('b/one/more', { exclusive: true, waitMs: 100 }))
        const three = await there.begin(change('b/on', { waitMs: 100 }))
        for (const intent of [one, two, three]) await intent.settle()
      })

      test('waiting ends with OperationAborted after waitMs and leaves nothing behind', async () => {
        const shared = await there.begin(change('b/k'))
        await expect(here.begin(change('b/k', { exclusive: true, waitMs: 60 }))).rejects.toMatchObject({
          code: 'OperationAborted',
        })
        await (await here.begin(change('b/k', { waitMs: 60 }))).settle()
        await shared.settle()
        const exclusive = await here.begin(change('b/k', { exclusive: true, waitMs: 1000 }))
        await expect(there.begin(change('b/k', { waitMs: 60 }))).rejects.toMatchObject({ code: 'OperationAborted' })
        await expect(there.begin(change('b/k', { exclusive: true, waitMs: 60 }))).rejects.toMatchObject({
          code: 'OperationAborted',
        })
        await exclusive.settle()
      })

      test('paths of any length and any characters are kept apart', async () => {
        const long = `b/${'ü'.repeat(2000)}`
        const paths = [`${long}1`, `${long}2`, 'b/a\u0001', 'b/a', `b/${'k'.repeat(699)}`, `b/${'k'.repeat(700)}`]
        const intents = await Promise.all(
          paths.map((path) => here.begin(change(path, { exclusive: true, waitMs: 500 }))),
        )
        await expect(there.begin(change(`${long}1`, { waitMs: 60 }))).rejects.toMatchObject({
          details: { Key: `${long}1` },
        })
        for (const intent of intents) await intent.settle()
      })

      test('intents of living processes are not abandoned', async () => {
        const intent = await here.begin(change('b/k', { temp: 'b/.tmp-1' }))
        expect(await there.abandoned()).toEqual([])
        expect(await here.abandoned()).toEqual([])
        await intent.settle()
      })

      test('intents left open by a connection that closed are abandoned, oldest first, and can be settled', async () => {
        const gone = await store.open()
        await gone.begin(change('b/first', { temp: 'b/.tmp-1' }))
        await pause(3)
        await gone.begin(change(`b/${'x'.repeat(3000)}`, { exclusive: true, temp: 'b/.tmp-2' }))
        await pause(3)
        await gone.begin(change('b/third'))
        await gone.close()
        const found = await here.abandoned()
        expect(found.map(({ path, temp }) => [path, temp])).toEqual([
          ['b/first', 'b/.tmp-1'],
          [`b/${'x'.repeat(3000)}`, 'b/.tmp-2'],
          ['b/third', undefined],
        ])
        for (const intent of found) await intent.settle()
        expect(await there.abandoned()).toEqual([])
      })

      test('an abandoned intent holds nobody off, and its temporary file is still found afterwards', async () => {
        const gone = await store.open()
        await gone.begin(change('b/k', { exclusive: true, temp: 'b/.tmp-1' }))
        await gone.begin(change('b/l', { temp: 'b/.tmp-2' }))
        await gone.close()
        const shared = await here.begin(change('b/k', { waitMs: 1000 }))
        const exclusive = await there.begin(change('b/l', { exclusive: true, waitMs: 1000 }))
        const found = await here.abandoned()
        expect(found.map(({ temp }) => temp).sort()).toEqual(['b/.tmp-1', 'b/.tmp-2'])
        for (const intent of found) await intent.settle()
        // Settling what is left of the dead does not let go of what the living hold.
        await expect(here.begin(change('b/l', { waitMs: 60 }))).rejects.toMatchObject({ code: 'OperationAborted' })
        await shared.settle()
        await exclusive.settle()
      })

      test('an abandoned intent can be settled after its lock was taken over', async () => {
        const gone = await store.open()
        await gone.begin(change('b/k', { exclusive: true, temp: 'b/.tmp-1' }))
        await gone.close()
        const found = await here.abandoned()
        const exclusive = await there.begin(change('b/k', { exclusive: true, waitMs: 1000 }))
        for (const intent of found) await intent.settle()
        expect(await here.abandoned()).toEqual([])
        await expect(here.begin(change('b/k', { waitMs: 60 }))).rejects.toMatchObject({ code: 'OperationAborted' })
        await exclusive.settle()
      })

      test('a durable change is there after flush', async () => {
        const intent = await here.begin(change('b/k', { durable: true, write: { id: 'd', record, tags: [] } }))
        expect((await there.object('d'))?.record).toEqual(record)
        await intent.settle()
        await here.flush()
      })
    })

    describe('folders', () => {
      test('a folder deleted while not empty is remembered by every process until it is forgotten', async () => {
        expect(await here.isMarkedDeleted('folder')).toBe(false)
        await here.markDeleted('folder', true)
        expect(await there.isMarkedDeleted('folder')).toBe(true)
        await there.markDeleted('folder', false)
        expect(await here.isMarkedDeleted('folder')).toBe(false)
        await there.markDeleted('folder', false)
      })
    })

    describe('uploads', () => {
      test('an upload comes back as it was created', async () => {
        const created = upload('u1', 'dir/key', {
          record: { ...record, etag: '' },
          tags: [{ key: 'a', value: 'b' }],
          checksumAlgorithm: 'CRC64NVME',
          checksumType: 'FULL_OBJECT',
        })
        await here.createUpload(created)
        expect(await there.upload('u1')).toEqual(created)
        expect(await there.upload('u2')).toBeUndefined()
      })

      test('uploads are listed by the bytes of their keys, then by id, in pages of any size', async () => {
        // U+FF01 sorts after U+1F600 in UTF-16 units and before it in UTF-8.
        const keys = ['a', 'a/b', 'a b', 'a\u0001', 'b', '\u{1f600}', '\uff01', 'é', 'ab', `long/${'ü'.repeat(450)}`]
        const made: Upload[] = []
        for (const key of keys) for (const id of ['2', '1', '3']) made.push(upload(`${id}-${keys.indexOf(key)}`, key))
        await Promise.all(made.map((one, at) => (at % 2 ? here : there).createUpload(one)))
        await here.createUpload(upload('other', 'a', { bucket: 'b/nested', bucketName: 'b:nested' }))
        const expected = [...made]
          .sort((x, y) => Buffer.compare(Buffer.from(x.key), Buffer.from(y.key)) || (x.id < y.id ? -1 : 1))
          .map(({ id }) => id)
        expect((await here.uploads({ bucket: 'b', limit: 1000 })).map(({ id }) => id)).toEqual(expected)
        for (const limit of [1, 2, 7, 29, 30]) {
          const paged: string[] = []
          let last: Upload | undefined
          for (;;) {
            const page = await there.uploads({
              bucket: 'b',
              limit,
              ...(last && { afterKey: last.key, afterId: last.id }),
            })
            paged.push(...page.map(({ id }) => id))
            last = page.at(-1)
            if (page.length < limit) break
          }
          expect(paged).toEqual(expected)
        }
        expect((await here.uploads({ bucket: 'b/nested', limit: 9 })).map(({ id }) => id)).toEqual(['other'])
      })

      test('a listing can be held to a prefix, and begin after a key', async () => {
        for (const [at, key] of ['a', 'a/1', 'a/2', 'a/2/x', 'a0', 'b'].entries()) {
          await here.createUpload(upload(`u${at}`, key))
        }
        const list = async (query: { prefix?: string; afterKey?: string; afterId?: string }) =>
          (await there.uploads({ bucket: 'b', limit: 99, ...query })).map(({ key }) => key)
        expect(await list({ prefix: 'a/' })).toEqual(['a/1', 'a/2', 'a/2/x'])
        expect(await list({ prefix: 'a/', afterKey: 'a/1' })).toEqual(['a/2', 'a/2/x'])
        expect(await list({ prefix: 'a/', afterKey: 'a' })).toEqual(['a/1', 'a/2', 'a/2/x'])
        expect(await list({ prefix: 'a/', afterKey: 'a0' })).toEqual([])
        expect(await list({ afterKey: 'a/2' })).toEqual(['a/2/x', 'a0', 'b'])
        expect(await list({ afterKey: 'a/2', afterId: 'u1' })).toEqual(['a/2', 'a/2/x', 'a0', 'b'])
        expect(await list({ afterKey: 'a/2', afterId: 'u2' })).toEqual(['a/2/x', 'a0', 'b'])
        expect(await list({ prefix: 'zzz' })).toEqual([])
      })

      test('uploads with keys longer than any index key are all listed once', async () => {
        const long = 'k'.repeat(2500)
        for (const end of ['1', '2', '3']) await here.createUpload(upload(`long${end}`, long + end))
        await here.createUpload(upload('short', 'k'))
        const all = await there.uploads({ bucket: 'b', limit: 99 })
        expect(all.map(({ id }) => id).sort()).toEqual(['long1', 'long2', 'long3', 'short'])
        expect((await there.uploads({ bucket: 'b', prefix: `${long}2`, limit: 9 })).map(({ id }) => id)).toEqual([
          'long2',
        ])
      })

      test('uploads of all buckets are listed by id', async () => {
        await here.createUpload(upload('u2', 'k', { bucket: 'x' }))
        await here.createUpload(upload('u1', 'k', { bucket: 'y' }))
        await here.createUpload(upload('u3', 'k', { bucket: 'z' }))
        const list = async (query: { limit: number; afterId?: string }) =>
          (await there.uploads({ bucket: undefined, ...query })).map(({ id }) => id)
        expect(await list({ limit: 2 })).toEqual(['u1', 'u2'])
        expect(await list({ limit: 2, afterId: 'u2' })).toEqual(['u3'])
      })

      test('replacing an upload is a compare-and-set on its version: of many who try, one wins', async () => {
        const first = upload('u', 'k')
        await here.createUpload(first)
        const tries = await Promise.all(
          Array.from({ length: 10 }, (_, n) =>
            (n % 2 ? here : there).replaceUpload(first, { ...first, state: 'completing', completion: String(n) }),
          ),
        )
        expect(tries.filter(Boolean)).toHaveLength(1)
        const now = await here.upload('u')
        expect(now).toMatchObject({ version: 2, state: 'completing', completion: String(tries.indexOf(true)) })
        expect(await there.replaceUpload(first, undefined)).toBe(false)
        expect(now && (await there.replaceUpload(now, undefined))).toBe(true)
        expect(await here.upload('u')).toBeUndefined()
        expect(await here.uploads({ bucket: 'b', limit: 9 })).toEqual([])
        expect(await here.replaceUpload(first, first)).toBe(false)
      })

      test('a completed upload can be read for repeated requests and is no longer listed', async () => {
        const first = upload('u', 'k')
        await here.createUpload(first)
        await here.replaceUpload(first, { ...first, state: 'completed', completedMs: Date.now() })
        expect((await there.upload('u'))?.state).toBe('completed')
        expect(await there.uploads({ bucket: 'b', limit: 9 })).toEqual([])
        expect(await there.uploads({ bucket: undefined, limit: 9 })).toEqual([])
      })
    })

    test('a store in order reports no problems', async () => {
      expect(await here.check()).toEqual([])
    })
  })
}
