import { figuresOf, ratiosOf, verdictOf } from './figures.ts'
import type { LargeFigures } from './large.ts'
import type { Machine } from './machine.ts'
import type { Measured, Settings } from './measure.ts'
import type { Server } from './servers.ts'

export interface Report {
  readonly date: string
  readonly machine: Machine
  readonly servers: readonly Server[]
  readonly settings: Pick<Settings, 'seconds' | 'warmup' | 'rounds'>
  readonly measured: readonly Measured[]
  readonly large: readonly LargeFigures[]
}

/** The report for a person. */
export function writeMarkdown({ date, machine, servers, settings, measured, large }: Report): string {
  const [ours, theirs] = servers.map(({ name }) => name)
  const lines = [
    `# Benchmark of ${date}`,
    '',
    `${machine.cpus}, ${machine.memoryGiB} GiB, Linux ${machine.kernel}, ${machine.fileSystem}, Node ${machine.node}, ${machine.go}; commit ${machine.commit}.`,
    ...servers.map(({ name, summary }) => `- **${name}**: ${summary}.`),
    '',
    `Each row: ${settings.rounds} rounds of ${settings.seconds} s per server after ${settings.warmup} s of warm-up, the servers taking turns.`,
    'CPU is that of all processes and threads of the server, per operation, in ms. Ratios are',
    `${ours} / ${theirs}: below 1 is better, but for throughput. In brackets: lowest and highest round. The figures of one`,
    'machine on one day compare servers; they are nothing to quote.',
    '',
    `| row | c | CPU ${ours} | CPU ${theirs} | CPU ratio | aim | | p99 ratio | | throughput ratio |`,
    '|---|--:|--:|--:|--:|--:|---|--:|---|--:|',
    ...measured.map(ratioLine),
    '',
    '| row | c | server | ops/s | MB/s | p50 ms | p99 ms | CPU ms/op | load CPU ms/op | other CPUs |',
    '|---|--:|---|--:|--:|--:|--:|--:|--:|--:|',
    ...measured.flatMap(figureLines),
    ...(large.length === 0 ? [] : ['', '## Large', '', '| row | server | figure | value |', '|---|---|---|--:|']),
    ...large.flatMap(({ row, server, figures, failure }) =>
      failure === undefined
        ? Object.entries(figures).map(([name, value]) => `| ${row} | ${server} | ${name} | ${short(value)} |`)
        : [`| ${row} | ${server} | failed: ${failure} | |`],
    ),
  ]
  return `${lines.join('\n')}\n`
}

function ratioLine(measured: Measured): string {
  const { row, connections, series, failure } = measured
  if (failure !== undefined) return `| ${row.title} | ${connections} | failed: ${oneLine(failure)} | | | | | | | |`
  const cpu = series.map(({ slices }) => short(figuresOf(slices)?.cpuMs))
  const ratios = ratiosOf(measured)
  const verdict = verdictOf(measured)
  const ratio = ratios ? `${ratios.cpu.toFixed(2)} (${ratios.cpuRange.map((r) => r.toFixed(2)).join('–')})` : ''
  const aim = row.aim === undefined ? '' : row.aim.toFixed(2)
  return `| ${row.title} | ${connections} | ${cpu[0]} | ${cpu[1] ?? ''} | ${ratio} | ${aim} | ${verdict.cpu ?? ''} | ${ratios?.p99.toFixed(2) ?? ''} | ${verdict.p99 ?? ''} | ${ratios?.throughput.toFixed(2) ?? ''} |`
}

function figureLines({ row, connections, series }: Measured): string[] {
  return series.flatMap(({ server, slices }) => {
    const figures = figuresOf(slices)
    if (!figures) return []
    const { operationsPerSecond, megabytesPerSecond, p50Ms, p99Ms, cpuMs, loadCpuMs, otherCpus } = figures
    const cells = [operationsPerSecond, megabytesPerSecond, p50Ms, p99Ms, cpuMs, loadCpuMs, otherCpus].map(short)
    return [`| ${row.title} | ${connections} | ${server} | ${cells.join(' | ')} |`]
  })
}

/** One line for the terminal while the run goes on. */
export function progressLine(measured: Measured): string {
  const { row, connections, series, failure } = measured
  const head = `${row.name} c=${connections}:`
  if (failure !== undefined) return `${head} FAILED ${oneLine(failure)}`
  const each = series.map(({ server, slices }) => {
    const figures = figuresOf(slices)
    return `${server} ${short(figures?.operationsPerSecond)} op/s p99 ${short(figures?.p99Ms)} ms CPU ${short(figures?.cpuMs)} ms`
  })
  const ratios = ratiosOf(measured)
  const verdict = verdictOf(measured)
  const aim = row.aim === undefined ? '' : ` (aim ${row.aim}: ${verdict.cpu})`
  const compared = ratios ? [`CPU ratio ${ratios.cpu.toFixed(2)}${aim}, p99 ratio ${ratios.p99.toFixed(2)}`] : []
  return `${head} ${[...each, ...compared].join('; ')}`
}

/** The report for a program: every slice as it was measured. */
export function writeJson(report: Report): string {
  const { servers, measured, ...rest } = report
  const rows = measured.map((one) => ({
    row: one.row.name,
    connections: one.connections,
    aim: one.row.aim,
    failure: one.failure,
    ratios: ratiosOf(one),
    verdict: verdictOf(one),
    servers: one.series.map(({ server, slices }) => ({ server, figures: figuresOf(slices), slices })),
  }))
  return `${JSON.stringify({ ...rest, servers: servers.map(({ name, summary }) => ({ name, summary })), rows }, null, 1)}\n`
}

function short(value: number | undefined): string {
  if (value === undefined) return ''
  return value >= 1000 ? value.toFixed(0) : value.toPrecision(3)
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').replaceAll('|', '\\|').slice(0, 200)
}
