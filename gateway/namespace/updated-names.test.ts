import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createNameHeap, type SortedNames } from './sorted-names.ts'
import { type Slot, updateNames } from './updated-names.ts'

function namesOf(slots: Iterable<readonly [string, boolean]>): SortedNames {
  const heap = createNameHeap()
  for (const [name, isUncertain] of slots) {
    const bytes = Buffer.from(name)
    const isFolder = name.endsWith('/')
    heap.add(bytes, 0, bytes.length - (isFolder ? 1 : 0), isFolder, isUncertain)
  }
  return heap.sorted()
}

function contentOf({ bytes, starts, uncertain, count }: SortedNames): [string, number | undefined][] {
  return Array.from({ length: count }, (_, index) => [
    bytes.toString('utf8', starts[index], starts[index + 1]),
    uncertain[index],
  ])
}

const name = fc
  .tuple(fc.constantFrom('a', 'b', 'ab', 'é', 'x'.repeat(30), 'b-'), fc.nat(12), fc.constantFrom('', '/'))
  .map((parts) => parts.join(''))

test('names brought up to date are as if they had been read anew', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(name, fc.boolean()), { maxLength: 60 }),
      fc.array(fc.tuple(name, fc.boolean(), fc.boolean()), { maxLength: 20 }),
      (before, changes) => {
        const state = new Map(before)
        const edits = new Map(changes.map(([key, isThere, isUncertain]) => [key, { isThere, isUncertain }]))
        const slots: Slot[] = [...edits].map(([key, edit]) => ({ name: Buffer.from(key), ...edit }))
        const updated = updateNames(namesOf(state), slots)
        for (const [key, { isThere, isUncertain }] of edits) {
          if (isThere) state.set(key, isUncertain)
          else state.delete(key)
        }
        expect(contentOf(updated)).toEqual(contentOf(namesOf(state)))
      },
    ),
    { numRuns: 500 },
  )
})
