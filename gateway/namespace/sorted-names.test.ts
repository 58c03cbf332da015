import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  compareTo,
  createNameHeap,
  type NameHeap,
  type SortedNames,
  search,
  skipPrefix,
  startsWith,
} from './sorted-names.ts'

function heapOf(names: readonly string[]): NameHeap {
  const heap = createNameHeap()
  for (const name of names) {
    const bytes = Buffer.from(`..${name}`)
    const isFolder = name.endsWith('/')
    heap.add(bytes, 2, bytes.length - (isFolder ? 3 : 2), isFolder, name.includes('?'))
  }
  return heap
}

function textOf({ bytes, starts, count }: SortedNames): string[] {
  return Array.from({ length: count }, (_, index) => bytes.toString('utf8', starts[index], starts[index + 1]))
}

function byBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b))
}

/** Names with long common beginnings, so that every depth of the sorting is reached. */
const names = fc.uniqueArray(
  fc
    .tuple(fc.constantFrom('', 'log-2026-', 'x'.repeat(40), 'é'), fc.string({ maxLength: 12, unit: 'grapheme' }))
    .map(([first, second]) => `n${first}${second.replaceAll('/', '')}`),
  { maxLength: 400, size: 'max' },
)

test('names come out in the order of their bytes, the smallest of them when not all are wanted', () => {
  fc.assert(
    fc.property(names, fc.nat(400), (given, most) => {
      const expected = [...given].sort(byBytes)
      expect(textOf(heapOf(given).sorted())).toEqual(expected)
      const heap = heapOf(given)
      expect(textOf(heap.keep(most))).toEqual(expected.slice(0, most))
      expect(heap.count).toBe(Math.min(most, given.length))
    }),
    { numRuns: 150 },
  )
})

test('a heap goes on taking names after it has let the largest go', () => {
  const heap = heapOf(['d', 'b', 'f', 'c?'])
  heap.keep(2)
  const more = Buffer.from('ae')
  heap.add(more, 0, 1, false, false)
  heap.add(more, 1, 1, true, false)
  const sorted = heap.sorted()
  expect(textOf(sorted)).toEqual(['a', 'b', 'c?', 'e/'])
  expect([...sorted.uncertain]).toEqual([0, 0, 1, 0])
})

test('hundreds of thousands of names are sorted', () => {
  const given = Array.from(
    { length: 200_000 },
    (_, index) => `key-${((index * 7919) % 200_000).toString().padStart(9, '0')}`,
  )
  const sorted = heapOf(given).sorted()
  let misplaced = 0
  for (let index = 1; index < sorted.count; index += 1) {
    const before = sorted.bytes.subarray(sorted.starts[index - 1], sorted.starts[index])
    if (compareTo(sorted, index, before) <= 0) misplaced += 1
  }
  expect(misplaced).toBe(0)
  expect(sorted.count).toBe(200_000)
})

describe('a search', () => {
  const sorted = heapOf(['a', 'b-', 'b/', 'b0', 'b00', 'c']).sorted()

  test('finds the first name after a key, or from it on', () => {
    expect(search(sorted, Buffer.from('b/'), false)).toBe(3)
    expect(search(sorted, Buffer.from('b/'), true)).toBe(2)
    expect(search(sorted, Buffer.from('b.'), true)).toBe(2)
    expect(search(sorted, Buffer.from(''), false)).toBe(0)
    expect(search(sorted, Buffer.from('d'), true)).toBe(6)
  })

  test('skips all names of a prefix', () => {
    expect(skipPrefix(sorted, Buffer.from('b'), 1)).toBe(5)
    expect(skipPrefix(sorted, Buffer.from('b0'), 3)).toBe(5)
    expect(skipPrefix(sorted, Buffer.from('c'), 5)).toBe(6)
    expect(startsWith(sorted, 4, Buffer.from('b0'))).toBe(true)
    expect(startsWith(sorted, 3, Buffer.from('b00'))).toBe(false)
  })
})
