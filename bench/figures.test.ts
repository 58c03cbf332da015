import { expect, test } from 'vitest'
import { figuresOf, ratiosOf, verdictOf } from './figures.ts'
import type { Result } from './job.ts'
import type { Measured } from './measure.ts'
import { rows } from './rows.ts'

const slice: Result = {
  operations: 100,
  errors: 0,
  bytes: 1e6,
  seconds: 2,
  p50: 0.01,
  p99: 0.05,
  longest: 0.06,
  serverCpu: 0.2,
  loadCpu: 0.1,
  otherCpu: 0.4,
  background: 0,
}

function measured(connections: number, ours: Partial<Result>[], theirs: Partial<Result>[]): Measured {
  const row = rows.find(({ name }) => name === 'get-4k')
  if (!row) throw new Error('no such row')
  const series = [
    { server: 'a', slices: ours.map((one) => ({ ...slice, ...one })) },
    { server: 'b', slices: theirs.map((one) => ({ ...slice, ...one })) },
  ]
  return { row, connections, series }
}

test('CPU per operation is that of all slices over their operations', () => {
  const figures = figuresOf([slice, { ...slice, operations: 300, serverCpu: 0.2 }])
  expect(figures).toMatchObject({ operations: 400, operationsPerSecond: 100, megabytesPerSecond: 0.5, cpuMs: 1 })
})

test('A series without slices has no figures', () => {
  expect(figuresOf([])).toBeUndefined()
})

test('Ratios are the first server to the second, with the range of the rounds', () => {
  const ratios = ratiosOf(measured(8, [{ serverCpu: 0.1 }, { serverCpu: 0.3 }], [{}, {}]))
  expect(ratios?.cpu).toBeCloseTo(1)
  expect(ratios?.cpuRange[0]).toBeCloseTo(0.5)
  expect(ratios?.cpuRange[1]).toBeCloseTo(1.5)
})

test('A row passes when its CPU ratio is within the aim, and at 64 connections when p99 is no worse', () => {
  expect(verdictOf(measured(8, [{ serverCpu: 0.069 }], [{}]))).toEqual({ cpu: 'pass' })
  expect(verdictOf(measured(8, [{ serverCpu: 0.071 }], [{}]))).toEqual({ cpu: 'miss' })
  expect(verdictOf(measured(64, [{ p99: 0.06 }], [{}]))).toEqual({ cpu: 'miss', p99: 'miss' })
})

test('A row that failed is neither pass nor miss', () => {
  expect(verdictOf({ ...measured(64, [{}], [{}]), failure: 'refused' })).toEqual({})
})
