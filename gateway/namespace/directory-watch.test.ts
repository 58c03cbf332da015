import { closeSync, mkdirSync, mkdtempSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { takeNames, unwatchDirectory, watchDirectory } from './directory-watch.ts'

let directory: string
let fd: number

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 's3proxy-watch-'))
  fd = openSync(directory, 'r')
})
afterEach(() => {
  closeSync(fd)
  rmSync(directory, { recursive: true, force: true })
})

function watch(id = 'a'): number {
  const number = watchDirectory(id, fd)
  if (number === undefined) throw new Error('inotify is not to be had')
  return number
}

test('names that come and go are told once', () => {
  const number = watch()
  expect(takeNames('a', number)).toEqual(new Set())
  writeFileSync(join(directory, 'file'), '')
  writeFileSync(join(directory, 'file'), 'more')
  mkdirSync(join(directory, 'folder'))
  writeFileSync(join(directory, 'folder/below'), '')
  renameSync(join(directory, 'file'), join(directory, 'moved'))
  rmSync(join(directory, 'folder'), { recursive: true })
  expect(takeNames('a', number)).toEqual(new Set(['file', 'folder', 'moved']))
  expect(takeNames('a', number)).toEqual(new Set())
})

test('names are bytes', () => {
  const number = watch()
  writeFileSync(Buffer.concat([Buffer.from(`${directory}/`), Buffer.from([0x61, 0xff])]), '')
  writeFileSync(join(directory, 'é'), '')
  expect(takeNames('a', number)).toEqual(new Set(['a\xff', '\xc3\xa9']))
})

test('a watch that was begun anew knows nothing of before', () => {
  const first = watch()
  writeFileSync(join(directory, 'early'), '')
  const second = watch()
  expect(takeNames('a', first)).toBeUndefined()
  expect(takeNames('a', second)).toEqual(new Set())
})

test('a watch ends when it is taken away, and with its directory', () => {
  const first = watch()
  unwatchDirectory('a')
  expect(takeNames('a', first)).toBeUndefined()
  const second = watch()
  rmSync(directory, { recursive: true })
  closeSync(fd)
  fd = openSync(tmpdir(), 'r')
  expect(takeNames('a', second)).toBeUndefined()
})

test('too many names end the watch instead of the memory', () => {
  const number = watch()
  for (let round = 0; round < 5100; round += 1) {
    const path = join(directory, String(round))
    writeFileSync(path, '')
    rmSync(path)
    if (round % 1000 === 0) takeNames('b', 0)
  }
  expect(takeNames('a', number)).toBeUndefined()
})

test('the directories watched longest give way', () => {
  const numbers = Array.from({ length: 300 }, (_, index) => {
    const path = join(directory, String(index))
    mkdirSync(path)
    const child = openSync(path, 'r')
    const number = watchDirectory(`many-${index}`, child)
    closeSync(child)
    return number ?? 0
  })
  const alive = numbers.filter((number, index) => takeNames(`many-${index}`, number) !== undefined)
  expect(alive.length).toBeLessThanOrEqual(256)
  expect(takeNames('many-299', numbers[299] ?? 0)).toEqual(new Set())
})
