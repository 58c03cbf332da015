import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expecting } from './job.ts'
import { makeFiles, runLoad } from './load.ts'
import { prepareRow, type Settings } from './measure.ts'
import { memory, resetPeaks } from './processes.ts'
import type { Row } from './rows.ts'
import type { Running } from './servers.ts'

/** What a large row found on one server: names with a unit, and values. */
export interface LargeFigures {
  readonly row: string
  readonly server: string
  readonly figures: Readonly<Record<string, number>>
  readonly failure?: string
}

export interface LargeRow {
  readonly name: string
  readonly title: string
  measure(running: Running, settings: Settings): Promise<Record<string, number>>
}

/** Rows that take minutes and tens of gigabytes; only with `--large`. */
export const largeRows: readonly LargeRow[] = [
  { name: 'list-5m', title: 'LIST in a directory of five million names', measure: listMany },
  { name: 'complete-20g', title: 'CompleteMultipartUpload of 20 GiB in 320 parts', measure: completeLarge },
]

/** Measures one large row; a failure is a result too. */
export async function measureLarge(row: LargeRow, running: Running, settings: Settings): Promise<LargeFigures> {
  try {
    return { row: row.title, server: running.server.name, figures: await row.measure(running, settings) }
  } catch (error) {
    const failure = error instanceof Error ? error.message : String(error)
    return { row: row.title, server: running.server.name, figures: {}, failure }
  }
}

async function listMany(running: Running, settings: Settings): Promise<Record<string, number>> {
  const bucket = 'list-5m'
  await prepareRow(bare(bucket), running, settings)
  const directory = join(running.root, bucket)
  const count = 5e6
  await makeFiles(settings.program, directory, count)
  try {
    // A directory that has just changed may not be trusted to stay as it is read: design §7.
    await sleep(3000)
    resetPeaks(running.pids())
    const page = (query: string) =>
      once(running, settings, {
        requests: [
          {
            method: 'GET',
            path: `${running.server.prefix}/${bucket}`,
            query: `list-type=2&max-keys=1000${query}`,
            expect: expecting(200),
          },
        ],
      })
    const first = await page('')
    const next = await page('&start-after=file-0000999')
    const middle = await page('&start-after=file-2500000')
    const peak = memory(running.pids(), 'VmHWM')
    return {
      'first page, s': first.seconds,
      'first page, CPU s': first.serverCpu,
      'next page, s': next.seconds,
      'next page, CPU s': next.serverCpu,
      'page in the middle, s': middle.seconds,
      'page in the middle, CPU s': middle.serverCpu,
      'peak RSS, MiB, largest process': peak.largest / 2 ** 20,
      'peak RSS, MiB, all processes': peak.sum / 2 ** 20,
    }
  } finally {
    rmSync(directory, { recursive: true, force: true })
    mkdirSync(directory)
  }
}

async function completeLarge(running: Running, settings: Settings): Promise<Record<string, number>> {
  const bucket = 'complete-20g'
  await prepareRow(bare(bucket), running, settings)
  resetPeaks(running.pids())
  try {
    const path = `${running.server.prefix}/${bucket}/object-{n}`
    const result = await once(running, settings, { multipart: { path, from: 0, parts: 320, partSize: 2 ** 26 } })
    return {
      'completion, s': result.seconds,
      'completion, CPU s': result.serverCpu,
      'peak RSS, MiB, all processes': memory(running.pids(), 'VmHWM').sum / 2 ** 20,
    }
  } finally {
    rmSync(join(running.root, bucket), { recursive: true, force: true })
    mkdirSync(join(running.root, bucket))
  }
}

async function once(
  running: Running,
  settings: Settings,
  work: Pick<Parameters<typeof runLoad>[1], 'requests' | 'multipart'>,
) {
  const { access, secret, program } = settings
  const result = await runLoad(program, {
    ...{ host: '127.0.0.1', port: running.port, access, secret, region: 'us-east-1', pids: running.pids() },
    ...{ connections: 1, operations: 1 },
    ...work,
  })
  if (result.errors > 0) throw new Error(result.firstError)
  return result
}

function bare(bucket: string): Row {
  return { name: bucket, title: bucket, bucket, work: () => ({}) }
}
