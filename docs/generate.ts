import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { properties } from '../gateway/config/properties.ts'
import { operations } from '../gateway/operations/index.ts'
import { errors } from '../gateway/s3/errors.ts'
import { metrics } from '../gateway/telemetry/metrics.ts'

/**
 * Writes the documents that are made from the tables of the code. `--check` writes nothing and fails when one is stale.
 * A document is either whole, or the part of a hand-written page between `<!-- generated: NAME -->` and `<!-- end -->`.
 */
const root = join(import.meta.dirname, '..')
const notice = '<!-- Made by `make generate`. Do not edit. -->\n\n'

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |\n`
  return line(head) + line(head.map(() => '---')) + rows.map(line).join('')
}

function route({ method, target, query = [], header }: (typeof operations)[number]['route']): string {
  const path = { service: '/', bucket: '/<bucket>', object: '/<bucket>/<key>' }[target]
  const parameters = query.length > 0 ? `?${query.join('&')}` : ''
  return `\`${method} ${path}${parameters}\`${header ? ` with \`${header}\`` : ''}`
}

const operationTable = table(
  ['Operation', 'Request', 'Pool', 'What it does'],
  operations.map(({ name, route: recognised, pool, summary }) => [name, route(recognised), pool, summary]),
)

const propertyTable = table(
  ['Property', 'Default', 'Allowed', 'Live', 'Effect'],
  Object.values(properties).map(({ name, default: fallback, allowed, live, summary }) => [
    `\`${name}\``,
    fallback === '' ? '(empty)' : `\`${fallback}\``,
    allowed,
    live ? 'yes' : '',
    summary,
  ]),
)

const errorTable = table(
  ['Code', 'Status', 'Message'],
  Object.entries(errors).map(([code, [status, message]]) => [code, String(status), message]),
)

const metricTable = table(
  ['Metric', 'Kind', 'Unit', 'Labels', 'Meaning'],
  Object.values(metrics).map(({ name, kind, unit, labels, doc }) => [
    `\`${name}\``,
    kind,
    unit,
    labels.map((label) => `\`${label}\``).join(', '),
    doc,
  ]),
)

function page(title: string, introduction: string, body: string): string {
  return `# ${title}\n\n${notice}${introduction}\n\n${body}`
}

function section(file: string, name: string, body: string): string {
  const text = readFileSync(join(root, file), 'utf8')
  const pattern = new RegExp(`(<!-- generated: ${name} -->\n)[^]*?(<!-- end -->)`)
  if (!pattern.test(text)) throw new Error(`${file} has no section "${name}"`)
  return text.replace(pattern, (_whole, begin: string, end: string) => `${begin}\n${body}\n${end}`)
}

const documents: Record<string, () => string> = {
  'docs/configuration.md': () =>
    page(
      'Properties',
      'Set them in a file (`--config FILE`, lines of `name=value`), in the environment or with `--set name=value`; later ones win. `--print-config` shows what is in effect and where it came from. A live property takes effect when the file changes; the others at the next start. Sizes are powers of 1,024 (`5MB`), durations are written `30sec` or `10min`.',
      propertyTable,
    ),
  'docs/operations.md': () =>
    page(
      'Operations',
      'Paths are below the base address. The most demanding route that holds for a request wins.',
      operationTable,
    ),
  'docs/errors.md': () =>
    page('Errors', 'Every error is an XML document with Code, Message, Resource and RequestId.', errorTable),
  'docs/metrics.md': () =>
    page('Metrics', 'Served at `/metrics` on the admin port, in the Prometheus text format.', metricTable),
  'README.md': () =>
    section(
      'README.md',
      'operations',
      table(
        ['Operation', 'Request'],
        operations.map(({ name, route: recognised }) => [name, route(recognised)]),
      ),
    ),
}

const check = process.argv.includes('--check')
const stale = Object.entries(documents).filter(([file, make]) => {
  const path = join(root, file)
  const text = make()
  let current = ''
  try {
    current = readFileSync(path, 'utf8')
  } catch {
    // Not there yet: stale.
  }
  if (current === text) return false
  if (!check) writeFileSync(path, text)
  console.log(`${check ? 'stale' : 'wrote'} ${file}`)
  return true
})
if (check && stale.length > 0) {
  console.error('Run `make generate` and commit the result.')
  process.exitCode = 1
}
