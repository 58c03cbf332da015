import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { type LargeFigures, largeRows, measureLarge } from './large.ts'
import { buildLoad } from './load.ts'
import { describeMachine } from './machine.ts'
import { type Measured, measureRow, prepareRow, type Settings } from './measure.ts'
import { progressLine, type Report, writeJson, writeMarkdown } from './report.ts'
import { rows } from './rows.ts'
import { type Running, servers, startServer } from './servers.ts'

const help = `Usage: make bench ARGS='...'
  --rows a,b           only these rows (${rows.map(({ name }) => name).join(', ')})
  --large              also the rows that take minutes and 60 GiB (${largeRows.map(({ name }) => name).join(', ')});
                       with --rows only those of them that it names
  --servers a,b        of ${servers.map(({ name }) => name).join(', ')} (the first two); ratios are first to second
  --concurrency 8,64   connections
  --seconds 3          each slice
  --warmup 1           seconds before each slice
  --rounds 3           slices of each server in each row
  --root DIRECTORY     where the servers keep their data (bench/.work); /dev/shm leaves the disk out
  --set NAME=VALUE     a property of the gateway; may be repeated
  --node ARGUMENT      an argument for the gateway's Node, such as --node=--cpu-prof
  --baseline DIRECTORY another checkout, measured as a server too: --servers gateway,baseline
  --user NAME          access key; the gateway acts as this user (bench)
  --out DIRECTORY      for <date>.md and <date>.json (bench/results; bench/.work when only some rows are run)`

const { values } = parseArgs({
  options: {
    rows: { type: 'string' },
    large: { type: 'boolean', default: false },
    servers: { type: 'string' },
    concurrency: { type: 'string', default: '8,64' },
    seconds: { type: 'string', default: '3' },
    warmup: { type: 'string', default: '1' },
    rounds: { type: 'string', default: '3' },
    root: { type: 'string' },
    set: { type: 'string', multiple: true, default: [] },
    node: { type: 'string', multiple: true, default: [] },
    baseline: { type: 'string', default: join(import.meta.dirname, '..') },
    user: { type: 'string', default: 'bench' },
    out: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
})

if (values.help) console.log(help)
else await main()

async function main(): Promise<void> {
  const work = join(import.meta.dirname, '.work')
  const names = values.rows?.split(',')
  const chosen = pick(
    names?.filter((name) => !largeRows.some((row) => row.name === name)),
    rows,
    'row',
  )
  const chosenLarge = values.large ? largeRows.filter(({ name }) => names === undefined || names.includes(name)) : []
  const peers = pick(values.servers?.split(',') ?? ['gateway', 'versitygw'], servers, 'server')
  const concurrency = values.concurrency.split(',').map(Number)
  const out =
    values.out ??
    (values.rows === undefined && values.servers === undefined ? join(import.meta.dirname, 'results') : work)
  const settings: Settings = {
    program: buildLoad(work),
    seconds: Number(values.seconds),
    warmup: Number(values.warmup),
    rounds: Number(values.rounds),
    access: values.user,
    secret: 'benchmark',
  }
  const data = join(values.root ?? work, `s3proxy-bench-${process.pid}`)
  mkdirSync(data, { recursive: true })
  const measured: Measured[] = []
  const large: LargeFigures[] = []
  const running: Running[] = []
  const machine = describeMachine(data)
  const report = (): Report => ({
    date: new Date().toISOString().slice(0, 10),
    machine,
    servers: peers,
    settings,
    measured,
    large,
  })
  const stopped = (): void => {
    console.error('interrupted')
    void end().then(() => process.exit(130))
  }
  const end = async (): Promise<void> => {
    await Promise.all(running.splice(0).map((one) => one.stop()))
    rmSync(data, { recursive: true, force: true })
  }
  process.once('SIGINT', stopped).once('SIGTERM', stopped)
  try {
    for (const server of peers) {
      server.prepare()
      const { set, node, baseline } = values
      running.push(
        await startServer(server, data, { set, node, baseline, access: settings.access, secret: settings.secret }),
      )
    }
    for (const row of chosen) {
      try {
        for (const one of running) await prepareRow(row, one, settings)
      } catch (error) {
        const failure = error instanceof Error ? error.message : String(error)
        measured.push({ row, connections: 0, series: [], failure })
        console.error(`${row.name}: FAILED in preparation: ${failure}`)
        continue
      }
      for (const connections of (row.concurrency ?? concurrency).filter((c) => concurrency.includes(c))) {
        const one = await measureRow(row, connections, running, settings)
        measured.push(one)
        console.error(progressLine(one))
        writeReport(out, report())
      }
    }
    for (const row of chosenLarge) {
      for (const one of running) {
        const figures = await measureLarge(row, one, settings)
        large.push(figures)
        console.error(JSON.stringify(figures))
        writeReport(out, report())
      }
    }
  } finally {
    await end()
  }
  console.error(`written: ${join(out, `${report().date}.md`)}`)
  if (measured.some(({ failure }) => failure !== undefined)) process.exitCode = 1
}

function writeReport(directory: string, report: Report): void {
  mkdirSync(directory, { recursive: true })
  writeFileSync(join(directory, `${report.date}.md`), writeMarkdown(report))
  writeFileSync(join(directory, `${report.date}.json`), writeJson(report))
}

/** Those named, in the order they were named; all when none is. */
function pick<T extends { readonly name: string }>(
  names: string[] | undefined,
  all: readonly T[],
  what: string,
): readonly T[] {
  return (
    names?.map((name) => {
      const found = all.find((one) => one.name === name)
      if (!found) throw new Error(`no ${what} ${name}; there are ${all.map((one) => one.name).join(', ')}`)
      return found
    }) ?? all
  )
}
