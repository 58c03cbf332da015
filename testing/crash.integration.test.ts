import { createHash, randomBytes } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, expect, it } from 'vitest'
import { type Gateway, startGateway } from './gateway.ts'
import { S3Client } from './s3-client.ts'

/**
 * kill -9 at any moment (issue: "nothing lost"). Writers with a key each know what was acknowledged; after every kill
 * each key must hold what was acknowledged last, or what its one request in flight would have made of it, whole.
 */
const bucket = 'crash'
const writers = 12
const kills = Number(process.env.S3PROXY_KILLS ?? 200)

/** What one key may hold; `undefined` is absent. */
interface Content {
  readonly md5: string
  readonly tag: string
}

interface Writer {
  readonly key: string
  acknowledged: Content | undefined
  /** What the request that was cut off would have led to. */
  inFlight: { readonly to: Content | undefined } | undefined
  /** Multipart uploads that were answered and neither completed nor aborted. */
  readonly uploads: Set<string>
  requests: number
}

let gateway: Gateway | undefined
afterEach(async () => {
  await gateway?.stop()
})

it(`keeps every acknowledged write, and nothing half-done, through ${kills} kills of its processes`, async () => {
  const seed = Number(process.env.S3PROXY_SEED ?? Date.now() % 1e6)
  console.log(`seed ${seed} (S3PROXY_SEED), ${kills} kills (S3PROXY_KILLS)`)
  const random = mulberry(seed)
  gateway = await startGateway({ properties: { 'svc.proxy.s3.writetype': 'MUST_CACHE', 'svc.proxy.processes': '2' } })
  let client = new S3Client(gateway.endpoint)
  await client.expect(200, 'PUT', `/${bucket}`)

  const all: Writer[] = Array.from({ length: writers }, (_, n) => ({
    // Some share a folder, some have one of their own that comes and goes.
    key: n % 3 === 0 ? `own-${n}/object` : `shared/object-${n}`,
    acknowledged: undefined,
    inFlight: undefined,
    uploads: new Set(),
    requests: 0,
  }))

  for (let kill = 1; kill <= kills; kill++) {
    const stopping = new AbortController()
    const working = all.map((writer) => work(client, writer, random, stopping.signal))
    await pause(20 + random() * 180)
    // Most kills take one process of several; every fourth the whole gateway.
    if (kill % 4 === 0) {
      await gateway.kill()
      stopping.abort()
      await Promise.all(working)
      client.close()
      gateway = await startGateway({ root: gateway.root, properties: gateway.properties })
      client = new S3Client(gateway.endpoint)
    } else {
      const pids = gateway.workers()
      const victim = pids[Math.floor(random() * pids.length)]
      if (victim !== undefined) killProcess(victim)
      stopping.abort()
      await Promise.all(working)
    }
    for (const writer of all) await verify(client, writer, `kill ${kill}, seed ${seed}`)
    if (kill % 20 === 0) console.log(`${kill} kills, ${all.reduce((sum, { requests }) => sum + requests, 0)} requests`)
  }

  const listed = (await client.keys(bucket)).filter((key) => !key.endsWith('/') && !/_[^/]*\/\d+$/.test(key)).sort()
  expect(listed).toEqual(
    all
      .filter(({ acknowledged }) => acknowledged)
      .map(({ key }) => key)
      .sort(),
  )

  // Once more from the start: temporary files of dead processes are collected.
  client.close()
  await gateway.kill()
  gateway = await startGateway({ root: gateway.root, properties: gateway.properties })
  const left = readdirSync(`${gateway.root}/${bucket}`, { recursive: true }).filter((name) =>
    String(name).includes('.s3proxy'),
  )
  expect(left).toEqual([])
  expect(all.reduce((sum, { requests }) => sum + requests, 0)).toBeGreaterThan(kills * 2)
}, 1_800_000)

/** Requests of one key, one after the other, until told to stop or cut off. */
async function work(client: S3Client, writer: Writer, random: () => number, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      await oneRequest(client, writer, random())
      writer.requests++
    } catch {
      // Cut off: `inFlight` says what may have happened. Other writers' processes may be alive; this one waits.
      return
    }
  }
}

async function oneRequest(client: S3Client, writer: Writer, dice: number): Promise<void> {
  const path = `/${bucket}/${writer.key}`
  if (dice < 0.5) {
    const body = randomBytes(dice < 0.4 ? 100 + Math.floor(dice * 10_000) : 400_000)
    const to = { md5: md5(body), tag: `t${Math.floor(dice * 1e9)}` }
    await attempt(writer, to, () =>
      client.expect(200, 'PUT', path, { body, headers: { 'x-amz-tagging': `t=${to.tag}` } }),
    )
  } else if (dice < 0.65) {
    await attempt(writer, undefined, () => client.expect(204, 'DELETE', path))
  } else if (dice < 0.8 && writer.acknowledged) {
    const to = { ...writer.acknowledged, tag: `u${Math.floor(dice * 1e9)}` }
    const body = `<Tagging><TagSet><Tag><Key>t</Key><Value>${to.tag}</Value></Tag></TagSet></Tagging>`
    await attempt(writer, to, () => client.expect(200, 'PUT', `${path}?tagging`, { body }))
  } else {
    await multipart(client, writer, dice)
  }
}

async function multipart(client: S3Client, writer: Writer, dice: number): Promise<void> {
  const path = `/${bucket}/${writer.key}`
  const to = { md5: '', tag: `m${Math.floor(dice * 1e9)}` }
  const created = await client.expect(200, 'POST', `${path}?uploads`, { headers: { 'x-amz-tagging': `t=${to.tag}` } })
  const id = /<UploadId>([^<]+)</.exec(created.body.toString())?.[1] ?? ''
  writer.uploads.add(id)
  const parts = dice < 0.9 ? [randomBytes(1000)] : [randomBytes(5 * 2 ** 20), randomBytes(2000)]
  for (const [index, part] of parts.entries()) {
    await client.expect(200, 'PUT', `${path}?uploadId=${id}&partNumber=${index + 1}`, { body: part })
  }
  const list = parts.map((_, index) => `<Part><PartNumber>${index + 1}</PartNumber></Part>`).join('')
  const whole = { ...to, md5: md5(Buffer.concat(parts)) }
  await attempt(writer, whole, () =>
    client.expect(200, 'POST', `${path}?uploadId=${id}`, {
      body: `<CompleteMultipartUpload>${list}</CompleteMultipartUpload>`,
    }),
  )
  writer.uploads.delete(id)
}

async function attempt(writer: Writer, to: Content | undefined, send: () => Promise<unknown>): Promise<void> {
  writer.inFlight = { to }
  await send()
  writer.acknowledged = to
  writer.inFlight = undefined
}

/** Reads the key back until a living process answers, and settles what the request in flight came to. */
async function verify(client: S3Client, writer: Writer, when: string): Promise<void> {
  // A completion that was cut off may still be taken up by another process: wait until the upload has a final state.
  const found = await read(client, writer.key)
  const allowed = writer.inFlight ? [writer.acknowledged, writer.inFlight.to] : [writer.acknowledged]
  expect(allowed, `${writer.key} after ${when}`).toContainEqual(found)
  for (const id of writer.uploads) {
    // An upload that was answered is there still, unless the completion that was cut off has finished it.
    const answer = await insist(() => client.ask('DELETE', `/${bucket}/${writer.key}?uploadId=${id}`))
    if (answer.status === 404) expect(writer.inFlight, `upload ${id} of ${writer.key} after ${when}`).toBeDefined()
    else expect(answer.status, answer.body.toString()).toBe(204)
    writer.uploads.delete(id)
  }
  writer.acknowledged = await read(client, writer.key)
  expect(allowed).toContainEqual(writer.acknowledged)
  writer.inFlight = undefined
}

async function read(client: S3Client, key: string): Promise<Content | undefined> {
  const [object, tags] = await Promise.all([
    insist(() => client.ask('GET', `/${bucket}/${key}`)),
    insist(() => client.ask('GET', `/${bucket}/${key}?tagging`)),
  ])
  if (object.status === 404) return undefined
  expect(object.status, object.body.toString().slice(0, 300)).toBe(200)
  const etag = String(object.headers.etag).replaceAll('"', '')
  if (!etag.includes('-')) expect(etag).toBe(md5(object.body))
  return { md5: md5(object.body), tag: /<Value>([^<]*)</.exec(tags.body.toString())?.[1] ?? '' }
}

/** Repeats a request while processes come back. */
async function insist<T extends { status: number }>(send: () => Promise<T>): Promise<T> {
  for (let attempts = 0; ; attempts++) {
    try {
      const answer = await send()
      if ((answer.status < 500 && answer.status !== 409) || attempts > 200) return answer
    } catch (error) {
      if (attempts > 200) throw error
    }
    await pause(50)
  }
}

/** The list of processes is a moment old: one that is gone already was replaced. */
function killProcess(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

function md5(bytes: Buffer): string {
  return createHash('md5').update(bytes).digest('hex')
}

/** A small seeded generator, so that a failing run can be repeated. */
function mulberry(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
