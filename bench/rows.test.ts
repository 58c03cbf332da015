import { expect, test } from 'vitest'
import { rows } from './rows.ts'

test('No two rows have one name', () => {
  expect(new Set(rows.map(({ name }) => name)).size).toBe(rows.length)
})

test('A slice of a row that writes never meets the keys of another slice', () => {
  for (const row of rows.filter(({ bucket }) => bucket !== undefined)) {
    const [one, other] = [row.work('', 1, 8), row.work('', 2, 8)]
    expect(one.leaves).not.toBe(other.leaves)
    expect(one.multipart?.path ?? one.requests?.[0]?.path).not.toBe(other.multipart?.path ?? other.requests?.[0]?.path)
  }
})

test('The pages of a listing follow each other: every page begins after the last key of the one before', () => {
  const row = rows.find(({ name }) => name === 'list-10k')
  const queries = row?.work('', 0, 8).requests?.map(({ query }) => query)
  expect(queries).toHaveLength(10)
  expect(queries?.[0]).toBe('list-type=2&max-keys=1000')
  expect(queries?.[1]).toBe('list-type=2&max-keys=1000&start-after=object-100999')
})
