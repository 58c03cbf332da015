import { describe, expect, it } from 'vitest'
import { bytes, count, duration, flag, oneOf, text } from './property.ts'

describe('a property', () => {
  it.each([
    ['0', 0],
    ['512', 512],
    ['2KB', 2048],
    ['5MB', 5_242_880],
    ['5mb', 5_242_880],
    ['1.5 GB', 1_610_612_736],
    ['-1', -1],
  ])('of size %s is %i bytes', (written, value) => {
    expect(bytes('a', '0', '').parse(written)).toBe(value)
  })

  it.each([
    ['0', 0],
    ['250', 250],
    ['500ms', 500],
    ['30sec', 30_000],
    ['30 seconds', 30_000],
    ['10min', 600_000],
    ['10m', 600_000],
    ['2h', 7_200_000],
    ['1day', 86_400_000],
    ['0min', 0],
  ])('of duration %s is %i milliseconds', (written, value) => {
    expect(duration('a', '0', '').parse(written)).toBe(value)
  })

  it.each(['', 'MB', '5 parsecs', '1e3', '0x10', '5MBs', '99999999PB', 'constructor'])(
    'is neither size nor duration as %j',
    (written) => {
      expect(() => bytes('a', '0', '').parse(written)).toThrow()
      expect(() => duration('a', '0', '').parse(written)).toThrow()
    },
  )

  it('of a count keeps to its bounds and to whole numbers', () => {
    const property = count('a', '1', '', { min: -1, max: 10 })
    expect([property.parse('-1'), property.parse(' 10 ')]).toEqual([-1, 10])
    for (const wrong of ['-2', '11', '1.5', '', ' ', '1e1', 'one']) expect(() => property.parse(wrong), wrong).toThrow()
  })

  it('of a flag or a word does not mind case', () => {
    expect([flag('a', 'true', '').parse(' TRUE'), flag('a', 'true', '').parse('False')]).toEqual([true, false])
    expect(() => flag('a', 'true', '').parse('yes')).toThrow()
    const word = oneOf('a', ['ONE', 'TWO'], 'ONE', '')
    expect(word.parse('two')).toBe('TWO')
    expect(() => word.parse('three')).toThrow()
  })

  it('of text may ask for a form', () => {
    const mode = text('a', '0755', '', { pattern: /^0?[0-7]{3,4}$/, allowed: 'an octal mode' })
    expect(mode.parse('0700')).toBe('0700')
    expect(() => mode.parse('rwx')).toThrow()
  })

  it('writes its schema so that what the parser takes is in it', () => {
    const size = new RegExp(bytes('a', '0', '').schema.pattern as string)
    for (const written of ['0', '5MB', '2kb', '1.5GB']) expect(size.test(written), written).toBe(true)
    const time = new RegExp(duration('a', '0', '').schema.pattern as string)
    for (const written of ['0', '30sec', '10min', '500ms', '2hours']) expect(time.test(written), written).toBe(true)
  })
})
