import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { declaration } from '../s3/xml/write.ts'
import { keepalive } from './keepalive.ts'

const start = 1_700_000_000_000

beforeEach(() => {
  vi.useFakeTimers({ now: start })
})
afterEach(() => {
  vi.useRealTimers()
})

function documentAfter(ms: number, text = `${declaration}<Result/>`): Promise<string> {
  return new Promise((resolve) => setTimeout(resolve, ms, text))
}

function failureAfter(ms: number): Promise<string> {
  return new Promise((_, reject) => setTimeout(() => reject(new Error('too bad')), ms))
}

/** What came at which second. */
async function received(document: Promise<string>, intervalMs: number): Promise<[second: number, text: string][]> {
  const pieces: [number, string][] = []
  const receive = async () => {
    const body = await keepalive(document, intervalMs, (error) => `${declaration}<Error>${error}</Error>`)
    const second = () => (Date.now() - start) / 1000
    if (typeof body === 'string') pieces.push([second(), body])
    else for await (const piece of body) pieces.push([second(), piece])
  }
  const end = receive()
  end.catch(() => {})
  await vi.advanceTimersByTimeAsync(600_000)
  await end
  return pieces
}

it('answers a document that is there within a second at once and whole (our choice)', async () => {
  expect(await received(documentAfter(900), 30_000)).toEqual([[0.9, `${declaration}<Result/>`]])
})

it('sends whitespace after one second, then after pauses that double up to the interval (spec §8)', async () => {
  const pieces = await received(documentAfter(70_000), 8000)
  expect(pieces.map(([second]) => second)).toEqual([1, 3, 7, 15, 23, 31, 39, 47, 55, 63, 70])
  expect(pieces.slice(0, -1).every(([, text]) => text === ' ')).toBe(true)
})

it('leaves the XML declaration out after whitespace, where it would make the document malformed', async () => {
  const pieces = await received(documentAfter(2000), 30_000)
  expect(pieces.map(([, text]) => text).join('')).toBe(' <Result/>')
})

it('rejects while nothing has been sent, so that an error can be an ordinary answer', async () => {
  await expect(received(failureAfter(999), 30_000)).rejects.toThrow('too bad')
})

it('turns a failure after that into the document it is given', async () => {
  const pieces = await received(failureAfter(1500), 30_000)
  expect(pieces).toEqual([
    [1, ' '],
    [1.5, '<Error>Error: too bad</Error>'],
  ])
})

it('is whitespace only when there is no document', async () => {
  expect(await received(documentAfter(1500, ''), 30_000)).toEqual([[1, ' ']])
})
