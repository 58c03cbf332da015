import type { Setting } from './load.ts'

/** The effective configuration as a table for people: property, value, where it came from, when a change takes effect. */
export function printConfig(settings: readonly Setting[]): string {
  const rows = [
    ['PROPERTY', 'VALUE', 'SOURCE', 'CHANGE'],
    ...settings.map(({ property, text, source }) => [
      property.name,
      text === '' ? "''" : text,
      source,
      property.live ? 'live' : 'restart',
    ]),
  ]
  const widths = [0, 1, 2].map((column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  const lines = rows.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '))
  return `${lines.join('\n')}\n`
}
