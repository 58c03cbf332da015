import type { Result } from './job.ts'
import type { Measured } from './measure.ts'

/** What the slices of one series come to. */
export interface Figures {
  readonly operations: number
  readonly operationsPerSecond: number
  readonly megabytesPerSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly cpuMs: number
  /** Of the load generator, per operation. */
  readonly loadCpuMs: number
  /** CPUs that something else kept busy meanwhile. */
  readonly otherCpus: number
}

export function figuresOf(slices: readonly Result[]): Figures | undefined {
  if (slices.length === 0) return undefined
  const total = (field: (slice: Result) => number) => slices.reduce((sum, slice) => sum + field(slice), 0)
  const operations = total((slice) => slice.operations)
  const seconds = total((slice) => slice.seconds)
  return {
    operations,
    operationsPerSecond: operations / seconds,
    megabytesPerSecond: total((slice) => slice.bytes) / seconds / 1e6,
    p50Ms: median(slices.map((slice) => slice.p50)) * 1e3,
    p99Ms: median(slices.map((slice) => slice.p99)) * 1e3,
    cpuMs: (total((slice) => slice.serverCpu) / operations) * 1e3,
    loadCpuMs: (total((slice) => slice.loadCpu) / operations) * 1e3,
    otherCpus: total((slice) => slice.otherCpu) / seconds,
  }
}

/** The first server over the second; below 1 is better but for throughput. */
export interface Ratios {
  readonly cpu: number
  /** Smallest and largest of the rounds: how much the machine's noise matters. */
  readonly cpuRange: readonly [number, number]
  readonly p50: number
  readonly p99: number
  readonly throughput: number
}

export function ratiosOf({ series }: Measured): Ratios | undefined {
  const [a, b] = series
  if (!a || !b) return undefined
  const [ours, theirs] = [figuresOf(a.slices), figuresOf(b.slices)]
  if (!ours || !theirs) return undefined
  const perRound = a.slices.flatMap((slice, i) => {
    const other = b.slices[i]
    return other ? [slice.serverCpu / slice.operations / (other.serverCpu / other.operations)] : []
  })
  return {
    cpu: ours.cpuMs / theirs.cpuMs,
    cpuRange: [Math.min(...perRound), Math.max(...perRound)],
    p50: ours.p50Ms / theirs.p50Ms,
    p99: ours.p99Ms / theirs.p99Ms,
    throughput: ours.operationsPerSecond / theirs.operationsPerSecond,
  }
}

/** pass or miss of one row: CPU against its aim, and at 64 connections p99 no worse (issue 3). */
export function verdictOf(measured: Measured): { cpu?: 'pass' | 'miss'; p99?: 'pass' | 'miss' } {
  const ratios = ratiosOf(measured)
  if (measured.failure !== undefined || !ratios) return {}
  const { aim } = measured.row
  return {
    ...(aim === undefined ? {} : { cpu: ratios.cpu <= aim ? 'pass' : 'miss' }),
    ...(measured.connections < 64 ? {} : { p99: ratios.p99 <= 1 ? 'pass' : 'miss' }),
  }
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  return sorted.length % 2 === 1 ? (sorted[middle] ?? 0) : ((sorted[middle - 1] ?? 0) + (sorted[middle] ?? 0)) / 2
}
