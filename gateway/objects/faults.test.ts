import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import type { Change, Intent, Metadata } from '../metadata/metadata.ts'
import type { FileId, Namespace, Staged } from '../namespace/namespace.ts'
import { S3Error } from '../s3/errors.ts'
import { createObjects } from './create-objects.ts'
import { codeOf, contentOf, type Fixture, md5, openFixture, target, temporaryFiles } from './objects.fixture.ts'
import type { NewObject, Objects } from './objects.ts'

let fixture: Fixture

beforeAll(async () => {
  fixture = await openFixture()
})
beforeEach(() => fixture.reset())
afterAll(() => fixture.close())

/** A real thing, some of whose methods are replaced. */
function instead<T extends object>(real: T, methods: Partial<T>): T {
  return new Proxy(real, {
    get(object, name) {
      const replaced = methods[name as keyof T]
      if (replaced !== undefined) return replaced
      const value = object[name as keyof T]
      return typeof value === 'function' ? value.bind(object) : value
    },
  })
}

/** The intents that a test sees begin and end. */
interface Watched {
  readonly begun: Change[]
  readonly settled: { path: string; expired: FileId | undefined }[]
  readonly metadata: Metadata
}

function watched(begin: Metadata['begin'] = (change) => fixture.metadata.begin(change)): Watched {
  const begun: Change[] = []
  const settled: Watched['settled'] = []
  const metadata = instead(fixture.metadata, {
    async begin(change) {
      begun.push(change)
      const intent: Intent = await begin(change)
      return {
        ...intent,
        settle(expired) {
          settled.push({ path: change.path, expired })
          return intent.settle(expired)
        },
      }
    },
  })
  return { begun, settled, metadata }
}

/** A namespace whose staged files fail somewhere. */
function staging(fault: Partial<Staged>, discarded: () => void = () => {}): Namespace {
  return instead(fixture.namespace, {
    async stage(...args) {
      const staged = await fixture.namespace.stage(...args)
      return instead(staged, {
        discard() {
          discarded()
          return staged.discard()
        },
        ...fault,
      })
    },
  })
}

const write = (objects: Objects, body: string | Buffer, object: Partial<NewObject> = {}) =>
  objects.write(fixture.as, target('key'), contentOf(body), { record: {}, tags: [], ...object })

const large = Buffer.alloc(200_000)
const refuse = (code: 'ServiceUnavailable' | 'AccessDenied' | 'InsufficientStorage') => async () => {
  throw new S3Error(code)
}

describe('a write that fails', () => {
  for (const [where, fault, body] of [
    ['while it receives bytes', { write: refuse('InsufficientStorage') }, large],
    ['when it is finished', { finish: refuse('InsufficientStorage') }, 'small'],
    ['when it is published', { publish: refuse('AccessDenied') }, 'small'],
  ] as const) {
    test(`${where} discards its file, settles its intents and leaves the old object`, async () => {
      await fixture.put('key', 'old')
      const { begun, settled, metadata } = watched()
      let discarded = 0
      const namespace = staging(fault, () => {
        discarded += 1
      })
      const objects = createObjects({ ...fixture, namespace, metadata })
      expect(await codeOf(write(objects, body))).toMatch(/InsufficientStorage|AccessDenied/)
      expect(discarded).toBe(1)
      expect(settled).toHaveLength(begun.length)
      expect((await fixture.get('key')).content).toBe('old')
      expect(temporaryFiles(fixture.root)).toEqual([])
    })
  }

  test('because the store is away publishes nothing (design §5: writes answer 503)', async () => {
    await fixture.put('key', 'old')
    let discarded = 0
    const namespace = staging({}, () => {
      discarded += 1
    })
    const { metadata } = watched(refuse('ServiceUnavailable'))
    const objects = createObjects({ ...fixture, namespace, metadata })
    expect(await codeOf(write(objects, 'new'))).toBe('ServiceUnavailable')
    expect(discarded).toBe(1)
    expect((await fixture.get('key')).content).toBe('old')
  })

  test('for good lets its record go, but not after a time-out, when the rename may still take place', async () => {
    for (const [code, expires] of [
      ['AccessDenied', true],
      ['ServiceUnavailable', false],
    ] as const) {
      const { begun, settled, metadata } = watched()
      const objects = createObjects({ ...fixture, namespace: staging({ publish: refuse(code) }), metadata })
      expect(await codeOf(write(objects, 'new'))).toBe(code)
      expect(settled).toEqual([{ path: 'b/key', expired: expires ? begun[0]?.write?.id : undefined }])
    }
  })

  test('does not keep conditional writers waiting', async () => {
    const objects = createObjects({ ...fixture, namespace: staging({ publish: refuse('AccessDenied') }) })
    await codeOf(write(objects, 'new'))
    const begun = performance.now()
    await fixture.put('key', 'other', { condition() {} })
    expect(performance.now() - begun).toBeLessThan(5000)
  })
})

describe('a durable write that fails', () => {
  for (const [what, begin, finish] of [
    ['its record cannot be kept', refuse('ServiceUnavailable'), undefined],
    ['its bytes cannot be', undefined, 'InsufficientStorage'],
  ] as const) {
    test(`because ${what} publishes nothing, and closes its file only when fsync has left it`, async () => {
      await fixture.put('key', 'old')
      const events: string[] = []
      const { begun, settled, metadata } = watched(begin)
      const namespace = instead(fixture.namespace, {
        async stage(...args) {
          const staged = await fixture.namespace.stage(...args)
          return instead(staged, {
            async finish(options) {
              const file = await staged.finish(options)
              if (!options.sync) return file
              await new Promise((resolve) => setTimeout(resolve, 20))
              events.push('synced')
              if (finish !== undefined) throw new S3Error(finish)
              return file
            },
            discard() {
              events.push('discarded')
              return staged.discard()
            },
          })
        },
      })
      const config = { ...fixture.config, writeType: 'CACHE_THROUGH' } as const
      const code = await codeOf(write(createObjects({ config, namespace, metadata }), 'new'))
      expect(code).toBe(finish ?? 'ServiceUnavailable')
      expect(events).toEqual(['synced', 'discarded'])
      expect(settled).toHaveLength(begin === undefined ? begun.length : 0)
      expect((await fixture.get('key')).content).toBe('old')
    })
  }
})

describe('a write that succeeds', () => {
  test('lets the record of the replaced file go, and is not undone when the store fails then', async () => {
    const old = await fixture.put('key', 'old')
    const before = (await fixture.get('key')).entry.id
    expect(old.size).toBe(3)
    const { settled, metadata } = watched()
    await write(createObjects({ ...fixture, metadata }), 'new')
    expect(settled).toEqual([{ path: 'b/key', expired: before }])

    const failing = instead(fixture.metadata, {
      begin: async (change) => ({ ...(await fixture.metadata.begin(change)), settle: refuse('ServiceUnavailable') }),
      isMarkedDeleted: refuse('ServiceUnavailable'),
    })
    const objects = createObjects({ ...fixture, metadata: failing })
    await objects.write(fixture.as, target('folder/key'), contentOf('newer'), { record: {}, tags: [] })
    expect((await fixture.get('folder/key')).content).toBe('newer')
  })

  test('does not let the record go while another name of the replaced file is there (design §4)', async () => {
    await fixture.put('key', 'old', { record: { contentType: 'x/y' } })
    const { linkSync } = await import('node:fs')
    linkSync(join(fixture.root, 'b/key'), join(fixture.root, 'b/link'))
    const { settled, metadata } = watched()
    await write(createObjects({ ...fixture, metadata }), 'new')
    expect(settled).toEqual([{ path: 'b/key', expired: undefined }])
    expect(await fixture.get('link')).toMatchObject({
      content: 'old',
      record: { contentType: 'x/y', etag: md5('old') },
    })
  })

  for (const [writeType, durable] of [
    ['MUST_CACHE', false],
    ['CACHE_THROUGH', true],
    ['ASYNC_THROUGH', true],
    ['THROUGH', true],
  ] as const) {
    test(`with writetype ${writeType} is acknowledged ${durable ? 'after' : 'without'} fsync (design §8)`, async () => {
      const done: string[] = []
      const namespace = instead(fixture.namespace, {
        async stage(...args) {
          const staged = await fixture.namespace.stage(...args)
          return instead(staged, {
            async finish(options) {
              const file = await staged.finish(options)
              if (options.sync) done.push('bytes')
              return file
            },
            publish(options) {
              done.push(options.sync ? 'publish with sync' : 'publish')
              return staged.publish(options)
            },
          })
        },
      })
      const { begun, metadata } = watched()
      const config = { ...fixture.config, writeType }
      await write(createObjects({ config, namespace, metadata }), 'body')
      expect(done).toEqual(durable ? ['bytes', 'publish with sync'] : ['publish'])
      expect(begun[0]?.durable).toBe(durable)
    })
  }
})

describe('where temporary files must have names', () => {
  test('the name is registered before the file is made, and settled after (design §4)', async () => {
    const { begun, settled, metadata } = watched()
    const staged: (string | undefined)[] = []
    const namespace = instead(fixture.namespace, {
      features: { ...fixture.namespace.features, tmpfile: false },
      stage(as, to, options) {
        staged.push(options.temp)
        expect(begun.map(({ temp }) => temp)).toEqual([options.temp])
        return fixture.namespace.stage(as, to, options)
      },
    })
    await write(createObjects({ ...fixture, namespace, metadata }), 'body', { condition() {} })
    expect(staged).toEqual([expect.stringMatching(/^b\/\.s3proxy-/)])
    expect(settled.map(({ path }) => path).sort()).toEqual(begun.map(({ path }) => path).sort())
    expect((await fixture.get('key')).content).toBe('body')
    expect(temporaryFiles(fixture.root)).toEqual([])
  })
})

describe('a reader that finds no record', () => {
  test('because it was stopped until the record was gone looks at the object again (design §4)', async () => {
    await fixture.put('key', 'old', { record: { contentType: 'x/old' } })
    onTestFinished(() => void vi.useRealTimers())
    for (const read of ['head', 'read'] as const) {
      vi.useFakeTimers({ toFake: ['Date'] })
      let first = true
      const metadata = instead(fixture.metadata, {
        async object(id) {
          if (!first) return fixture.metadata.object(id)
          first = false
          await fixture.put('key', 'new', { record: { contentType: 'x/new' } })
          vi.setSystemTime(Date.now() + 11 * 60_000)
          return undefined
        },
      })
      const objects = createObjects({ ...fixture, metadata })
      const found = await objects[read](fixture.as, target('key'), { inlineBytes: 100 })
      expect(found).toMatchObject({ entry: { size: 3 }, record: { etag: md5('new'), contentType: 'x/new' } })
      vi.useRealTimers()
    }
  })

  test('asks the file system no second time for a file of others', async () => {
    writeFileSync(join(fixture.root, 'b/foreign'), 'x')
    let steps = 0
    const namespace = instead(fixture.namespace, {
      stat(...args) {
        steps += 1
        return fixture.namespace.stat(...args)
      },
      open(...args) {
        steps += 1
        return fixture.namespace.open(...args)
      },
    })
    const objects = createObjects({ ...fixture, namespace })
    await objects.head(fixture.as, target('foreign'))
    await objects.read(fixture.as, target('foreign'), { inlineBytes: 100 })
    expect(steps).toBe(2)
  })

  test('closes what it has opened when the store fails', async () => {
    await fixture.put('key', large)
    let open = 0
    const namespace = instead(fixture.namespace, {
      async open(...args) {
        const opened = await fixture.namespace.open(...args)
        const { file } = opened
        if (file === undefined) return opened
        open += 1
        const close = () => {
          open -= 1
          file.close()
        }
        return { ...opened, file: { fd: file.fd, size: file.size, close } }
      },
    })
    const metadata = instead(fixture.metadata, { object: refuse('ServiceUnavailable') })
    const objects = createObjects({ ...fixture, namespace, metadata })
    expect(await codeOf(objects.read(fixture.as, target('key')))).toBe('ServiceUnavailable')
    expect(open).toBe(0)
  })
})

describe('a copy', () => {
  test('of a file that is cut while it is read is refused, not published short', async () => {
    writeFileSync(join(fixture.root, 'b/from'), large)
    const namespace = instead(fixture.namespace, {
      async copy(as, source, range, to, options) {
        writeFileSync(join(fixture.root, 'b/from'), 'cut')
        return fixture.namespace.copy(as, source, range, to, options)
      },
    })
    const objects = createObjects({ ...fixture, namespace })
    const object = { record: undefined, tags: undefined }
    const copying = objects.copy(fixture.as, { target: target('from') }, target('to'), object)
    expect(await codeOf(copying)).toBe('OperationAborted')
    expect(await codeOf(fixture.get('to'))).toBe('NoSuchKey')
    expect(temporaryFiles(fixture.root)).toEqual([])
  })
})

describe('a removal', () => {
  test('is announced, so that no condition is checked behind it, and lets the record go', async () => {
    await fixture.put('key', 'old')
    const { id } = (await fixture.get('key')).entry
    const { begun, settled, metadata } = watched()
    await createObjects({ ...fixture, metadata }).remove(fixture.as, target('key'))
    expect(begun).toMatchObject([{ path: 'b/key', exclusive: false }])
    expect(settled).toEqual([{ path: 'b/key', expired: id }])
  })

  test('that fails settles its intent', async () => {
    const { settled, metadata } = watched()
    const namespace = instead(fixture.namespace, { remove: refuse('AccessDenied') })
    const objects = createObjects({ ...fixture, namespace, metadata })
    expect(await codeOf(objects.remove(fixture.as, target('key')))).toBe('AccessDenied')
    expect(settled).toEqual([{ path: 'b/key', expired: undefined }])
  })
})
