import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as othersTurn } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { S3Error } from '../s3/errors.ts'
import { codeOf, contentOf, type Fixture, md5, openFixture, target, temporaryFiles } from './objects.fixture.ts'
import type { Objects, StoredObject } from './objects.ts'

let fixture: Fixture

beforeAll(async () => {
  fixture = await openFixture()
})
beforeEach(() => fixture.reset())
afterAll(() => fixture.close())

/** An object whose body, type, metadata and tags all tell which version it is. */
function version(number: number, size = 10) {
  const body = `${number} `.repeat(size)
  const object = {
    record: { contentType: `version/${number}`, userMetadata: { version: String(number) } },
    tags: [{ key: 'version', value: String(number) }],
  }
  return { body, object }
}

async function expectWhole(key: string): Promise<string> {
  const read = await fixture.get(key)
  const number = read.content.split(' ')[0]
  expect(read.record).toEqual({
    etag: md5(read.content),
    contentType: `version/${number}`,
    userMetadata: { version: number },
  })
  expect(read.tags).toEqual([{ key: 'version', value: number }])
  return read.content
}

const sizes = { small: 10, large: 40_000 }

/** Repeats loops until the work is done, and lets the work have its turn between their rounds. */
async function during(work: () => Promise<unknown>, ...loops: (() => Promise<unknown>)[]): Promise<void> {
  let done = false
  const looping = Promise.allSettled(
    loops.map(async (loop) => {
      for (; !done; await othersTurn()) await loop()
    }),
  )
  try {
    await work()
  } finally {
    done = true
  }
  for (const result of await looping) if (result.status === 'rejected') throw result.reason
}

describe('data, ETag, type, metadata and tags belong together', { timeout: 60_000 }, () => {
  for (const [name, size] of Object.entries(sizes)) {
    test(`for readers while writers overwrite (${name} objects; design §4)`, async () => {
      const seen = new Set<string>()
      const put = (number: number) => {
        const { body, object } = version(number, size)
        return fixture.put('key', body, object)
      }
      const read = async () => seen.add(await expectWhole('key'))
      await put(0)
      const write = async () => {
        for (let number = 1; number < 20; number++) await Promise.all([put(number), put(100 + number)])
      }
      await during(write, read, read, read)
      expect(seen.size).toBeGreaterThan(5)
      expect(temporaryFiles(fixture.root)).toEqual([])
    })
  }

  test('for readers while the object is renewed in place and overwritten (design §4)', async () => {
    await fixture.put('key', version(0).body, version(0).object)
    const renew = async () => {
      const current = await fixture.get('key')
      const source = { target: target('key'), condition: (seen: StoredObject | undefined) => same(seen, current) }
      const { record, tags } = current
      await codeOf(fixture.objects.copy(fixture.as, source, target('key'), { record, tags }))
    }
    const read = () => expectWhole('key')
    const write = async () => {
      for (let number = 1; number < 30; number++) await fixture.put('key', version(number).body, version(number).object)
    }
    await during(write, renew, renew, read, read)
    await expectWhole('key')
  })

  test('whichever of many writers wins', async () => {
    await Promise.all(
      Array.from({ length: 50 }, (_, number) => fixture.put('key', version(number).body, version(number).object)),
    )
    await expectWhole('key')
    expect(readdirSync(join(fixture.root, 'b'))).toEqual(['key'])
  })

  test('for copies of an object that is overwritten meanwhile', async () => {
    await fixture.put('from', version(0, sizes.large).body, version(0).object)
    const copies = Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        fixture.objects.copy(fixture.as, { target: target('from') }, target(`to/${index}`), {
          record: undefined,
          tags: undefined,
        }),
      ),
    )
    for (let number = 1; number < 20; number++) {
      await fixture.put('from', version(number, sizes.large).body, version(number).object)
    }
    await copies
    for (let index = 0; index < 20; index++) await expectWhole(`to/${index}`)
  })

  test('when the object is deleted and put at the same time: it is there whole or not at all', async () => {
    for (let round = 0; round < 30; round++) {
      const { body, object } = version(round)
      await Promise.all([
        fixture.put('a/key', body, object),
        fixture.objects.remove(fixture.as, target('a/key')),
        fixture.objects.remove(fixture.as, target('a/')),
      ])
      if ((await codeOf(fixture.get('a/key'))) === undefined) await expectWhole('a/key')
    }
  })

  test('when folders are removed while objects are put into them: no PUT is lost', async () => {
    for (let round = 0; round < 30; round++) {
      await Promise.all([
        fixture.put('f/g/key', version(round).body, version(round).object),
        fixture.objects.remove(fixture.as, target('f/g/')),
        fixture.objects.remove(fixture.as, target('f/')),
      ])
      await expectWhole('f/g/key')
      await fixture.objects.remove(fixture.as, target('f/g/key'))
    }
  })
})

describe('conditional writes', { timeout: 60_000 }, () => {
  test('with If-None-Match: * succeed once, however many try (clients.md finding 2)', async () => {
    for (let round = 0; round < 10; round++) {
      const codes = await Promise.all(
        Array.from({ length: 10 }, (_, number) => {
          const { body, object } = version(number)
          return codeOf(fixture.put(`commit/${round}`, body, { ...object, ifAbsent: true }))
        }),
      )
      expect(codes.filter((code) => code === undefined)).toHaveLength(1)
      expect(codes.filter((code) => code === 'PreconditionFailed')).toHaveLength(9)
      await expectWhole(`commit/${round}`)
    }
    expect(temporaryFiles(fixture.root)).toEqual([])
  })

  test('with If-Match lose no update, however many try (seen on S3)', async () => {
    await fixture.put('counter', '0')
    const increment = async () => {
      for (;;) {
        const { content, record } = await fixture.get('counter')
        const condition = (seen: StoredObject | undefined) => {
          if (seen?.record.etag !== record.etag) throw new S3Error('PreconditionFailed')
        }
        if ((await codeOf(fixture.put('counter', `${Number(content) + 1}`, { condition }))) === undefined) return
      }
    }
    await Promise.all(Array.from({ length: 8 }, increment))
    expect((await fixture.get('counter')).content).toBe('8')
  })

  test('of several processes lose no update either (design §3: nothing may assume a single process)', async () => {
    const another = await fixture.another()
    onTestFinished(another.close)
    await fixture.put('counter', '0')
    const increment = async (objects: Objects) => {
      for (;;) {
        const { content, record } = await fixture.get('counter')
        const condition = (seen: StoredObject | undefined) => {
          if (seen?.record.etag !== record.etag) throw new S3Error('PreconditionFailed')
        }
        const body = contentOf(`${Number(content) + 1}`)
        const put = objects.write(fixture.as, target('counter'), body, { record: {}, tags: [], condition })
        if ((await codeOf(put)) === undefined) return
      }
    }
    await Promise.all([0, 1, 2, 3].flatMap(() => [increment(fixture.objects), increment(another.objects)]))
    expect((await fixture.get('counter')).content).toBe('8')
  })

  test('with If-Match never overwrite a plain PUT that came after what they saw (design §4)', async () => {
    for (let round = 0; round < 30; round++) {
      await fixture.put('key', 'first')
      const condition = (seen: StoredObject | undefined) => {
        if (seen?.record.etag !== md5('first')) throw new S3Error('PreconditionFailed')
      }
      const [, conditional] = await Promise.all([
        fixture.put('key', 'plain'),
        codeOf(fixture.put('key', 'conditional', { condition })),
      ])
      // Either it came first and was overwritten, or it saw the plain one and was refused: never the last.
      expect((await fixture.get('key')).content).toBe('plain')
      expect([undefined, 'PreconditionFailed']).toContain(conditional)
    }
  })

  test('with If-Match never bring back an object that was deleted meanwhile (design §4)', async () => {
    for (let round = 0; round < 30; round++) {
      await fixture.put('key', 'first')
      const condition = (seen: StoredObject | undefined) => {
        if (seen === undefined) throw new S3Error('NoSuchKey')
      }
      await Promise.all([
        codeOf(fixture.put('key', 'conditional', { condition })),
        fixture.objects.remove(fixture.as, target('key')),
      ])
      expect(await codeOf(fixture.get('key'))).toBe('NoSuchKey')
    }
  })

  test('that are refused leave the object, and later writers, alone', async () => {
    await fixture.put('key', 'old')
    const condition = () => {
      throw new S3Error('PreconditionFailed')
    }
    expect(await codeOf(fixture.put('key', 'new', { condition }))).toBe('PreconditionFailed')
    expect((await fixture.get('key')).content).toBe('old')
    await fixture.put('key', 'newer')
    expect((await fixture.get('key')).content).toBe('newer')
    expect(temporaryFiles(fixture.root)).toEqual([])
  })
})

/** The condition that an object is still the version that was read. */
function same(seen: StoredObject | undefined, read: StoredObject): void {
  if (seen?.record.etag !== read.record.etag) throw new S3Error('PreconditionFailed')
}
