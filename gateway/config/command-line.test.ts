import { expect, it } from 'vitest'
import { parseCommandLine } from './command-line.ts'

it('the command line is read', () => {
  expect(parseCommandLine(['--config', 'f', '--set', 'a=1', '--set=b=2', '--ready-file', 'r', '--no-banner'])).toEqual({
    config: 'f',
    sets: ['a=1', 'b=2'],
    printConfig: false,
    help: false,
    readyFile: 'r',
    banner: false,
  })
})

it.each([['--confg'], ['--set'], ['stray'], ['--print-config=yes']])('%s is refused with a sentence', (argument) => {
  expect(() => parseCommandLine([argument])).toThrow(/\w/)
})
