import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type OperationsFixture, openOperations } from './operations.fixture.ts'

let fixture: OperationsFixture

beforeAll(async () => {
  fixture = await openOperations()
})
beforeEach(() => fixture.reset())
afterAll(() => fixture.close())

/** More than a page of keys, in folders of folders, some of them empty and some with names that sort around the slash. */
async function fill(): Promise<void> {
  const keys = Array.from({ length: 900 }, (_, index) => `${index % 7}/${index % 11}/${index % 3}/${index}`)
  keys.push('0-', '0.', '0/0-', '00', 'empty/', 'empty/er/', 'last/')
  for (let start = 0; start < keys.length; start += 50) {
    await Promise.all(keys.slice(start, start + 50).map((key) => fixture.put(key, key.endsWith('/') ? '' : 'x')))
  }
}

async function* pages(): AsyncGenerator<string[]> {
  let token = ''
  do {
    const { text } = await fixture.ask(`GET /b?list-type=2${token}`)
    yield [...text.matchAll(/<Contents><Key>(.*?)<\/Key>/g)].map((match) => match[1] ?? '')
    const next = /<NextContinuationToken>(.*?)<\/NextContinuationToken>/.exec(text)?.[1]
    token = next === undefined ? '' : `&continuation-token=${next}`
  } while (token !== '')
}

describe('a bucket of nested folders and more keys than a page', () => {
  const ways: Record<string, (keys: string[]) => Promise<void>> = {
    'one key after the other, in the order of the listing (rclone purge)': async (keys) => {
      for (const key of keys) await fixture.ask(`DELETE /b/${key}`)
    },
    'ten keys at a time, in the order of the listing (aws s3 rb --force)': async (keys) => {
      const rest = keys.values()
      const lane = async () => {
        for (const key of rest) await fixture.ask(`DELETE /b/${key}`)
      }
      await Promise.all(Array.from({ length: 10 }, lane))
    },
    'a page at a time, by DeleteObjects (boto3, S3A)': async (keys) => {
      const body = `<Delete>${keys.map((key) => `<Object><Key>${key}</Key></Object>`).join('')}</Delete>`
      const { text } = await fixture.ask('POST /b?delete', { body })
      expect([...text.matchAll(/<Deleted>/g)]).toHaveLength(keys.length)
      expect(text).not.toContain('<Error>')
    },
  }

  for (const [way, removeKeys] of Object.entries(ways)) {
    test(`can be emptied and removed ${way}`, { timeout: 60_000 }, async () => {
      await fill()
      let seen = 0
      for await (const keys of pages()) {
        seen += keys.length
        await removeKeys(keys)
      }
      expect(seen).toBeGreaterThan(1000)
      expect((await fixture.ask('DELETE /b')).status).toBe(204)
    })
  }
})
