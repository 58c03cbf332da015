import { openSync, readFileSync, writeSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { openEmbeddedMetadata } from './embedded.ts'
import type { Intent, Upload } from './metadata.ts'

/**
 * Started by the tests as a process of its own, to be killed: writes to the store in `directory` and tells its parent
 * what was acknowledged.
 */
export interface Told {
  readonly kind: 'record' | 'tags' | 'upload' | 'count' | 'full' | 'ready'
  readonly id: string
  readonly value: string
}

const [directory = '', task = '', name = ''] = process.argv.slice(2)
const tell = (kind: Told['kind'], id: string, value: string) => process.send?.({ kind, id, value } satisfies Told)

const metadata = await openEmbeddedMetadata({ directory })
tell('ready', '', '')

const tasks: Record<string, () => Promise<void>> = {
  /** Records, tags and uploads, as fast as it goes, some of them durable. */
  async write() {
    const writer = async (lane: number) => {
      const tagged = `${name}.${lane}.tagged`
      for (let turn = 0; ; turn++) {
        const id = `${name}.${lane}.${turn}`
        const intent = await metadata.begin({
          path: `b/${id}`,
          exclusive: turn % 7 === 0,
          temp: turn % 3 === 0 ? `tmp/${id}` : undefined,
          durable: turn % 11 === 0,
          write: { id, record: { etag: id, userMetadata: { filler: 'x'.repeat(turn % 300) } }, tags: [] },
        })
        tell('record', id, id)
        await metadata.putTags(tagged, [{ key: 'turn', value: String(turn) }])
        tell('tags', tagged, String(turn))
        if (turn % 5) await intent.settle(turn % 2 ? `${id}.replaced` : undefined)
        await advanceUpload(`${name}.${lane}`)
      }
    }
    await Promise.all([0, 1, 2, 3].map(writer))
  },

  /** A counter in a plain file, which only the exclusive intent keeps right. */
  async count() {
    const path = `${directory}/counter`
    const file = openSync(path, 'r+')
    for (;;) {
      const intent = await metadata.begin({ path: 'b/counter', exclusive: true, durable: false })
      const count = Number(readFileSync(path, 'utf8')) + 1
      await pause(1)
      writeSync(file, String(count).padStart(8, '0'), 0)
      await intent.settle()
      tell('count', 'counter', String(count))
    }
  },

  /** Writes until there is no room, then lets go of everything. */
  async fill() {
    const open: Intent[] = []
    let code = ''
    while (code === '') {
      const id = `fill.${open.length}`
      const record = { etag: id, userMetadata: { filler: 'x'.repeat(2000) } }
      await metadata.begin({ path: `b/${id}`, exclusive: false, durable: false, write: { id, record, tags: [] } }).then(
        (intent) => open.push(intent),
        (error) => {
          code = error.code
        },
      )
    }
    for (const intent of open) await intent.settle()
    await pause(3000)
    const readable = await metadata.records(open.map((_, at) => `fill.${at}`))
    const missing = readable.filter((record) => !record).length
    const still = await metadata
      .begin({
        path: 'b/more',
        exclusive: false,
        durable: false,
        write: { id: 'more', record: { etag: 'e' }, tags: [] },
      })
      .then(
        () => 'written',
        (error) => error.code,
      )
    tell('full', code, JSON.stringify({ written: open.length, missing, still, left: await leftOpen() }))
  },
}

async function advanceUpload(id: string): Promise<void> {
  const upload = (await metadata.upload(id)) ?? newUpload(id)
  if (upload.version === 0) await metadata.createUpload({ ...upload, version: 1 })
  else {
    const moved = await metadata.replaceUpload(upload, { ...upload, user: `v${upload.version + 1}` })
    if (moved) tell('upload', id, String(upload.version + 1))
  }
}

function newUpload(id: string): Upload {
  return {
    id,
    bucketName: 'b',
    bucket: 'b',
    key: `key/${id}`,
    directory: `key/${id}_${id}`,
    user: 'alice',
    initiatedMs: 1,
    record: { etag: '' },
    tags: [],
    state: 'open',
    version: 0,
  }
}

/** Whether intents that were settled still hold off others. */
async function leftOpen(): Promise<boolean> {
  return metadata.begin({ path: 'b/fill.0', exclusive: true, durable: false, waitMs: 50 }).then(
    () => false,
    (error) => error.code === 'OperationAborted',
  )
}

await tasks[task]?.()
await metadata.close()
