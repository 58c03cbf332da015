import { type Metric, type MetricKey, metrics } from './metrics.ts'

/** A counter with its labels bound: counting is one addition. */
export interface Counter {
  value: number
}

/** A histogram with its labels bound. */
export class Histogram {
  readonly bounds: readonly number[]
  /** One more than bounds: the last is everything above. */
  readonly counts: Float64Array
  sum = 0

  constructor(bounds: readonly number[]) {
    this.bounds = bounds
    this.counts = new Float64Array(bounds.length + 1)
  }

  observe(value: number): void {
    this.sum += value
    const { bounds, counts } = this
    let index = 0
    while (index < bounds.length && value > (bounds[index] as number)) index++
    counts[index] = (counts[index] as number) + 1
  }
}

/** One labelled value as it travels between processes. */
export interface Sample {
  readonly labels: readonly string[]
  /** Counters and gauges. */
  readonly value?: number
  /** Histograms. */
  readonly sum?: number
  readonly counts?: readonly number[]
}

/** All values of one process, or of several merged. */
export type Snapshot = { readonly [K in MetricKey]?: readonly Sample[] }

/**
 * Keeps the numbers of one process. Series are bound once and then counted by plain additions: the OpenTelemetry SDK,
 * which takes microseconds for each, sees them only when they are collected (see prometheus.ts).
 */
export class Recorder {
  readonly #counters = new Map<string, { key: MetricKey; labels: readonly string[]; series: Counter }>()
  readonly #histograms = new Map<string, { key: MetricKey; labels: readonly string[]; series: Histogram }>()
  readonly #observed: { key: MetricKey; observe: () => readonly Sample[] | Promise<readonly Sample[]> }[] = []

  counter(key: MetricKey, labels: readonly string[]): Counter {
    const id = `${key}\0${labels.join('\0')}`
    let entry = this.#counters.get(id)
    if (!entry) {
      entry = { key, labels, series: { value: 0 } }
      this.#counters.set(id, entry)
    }
    return entry.series
  }

  histogram(key: MetricKey, labels: readonly string[]): Histogram {
    const id = `${key}\0${labels.join('\0')}`
    let entry = this.#histograms.get(id)
    if (!entry) {
      const metric: Metric = metrics[key]
      entry = { key, labels, series: new Histogram(metric.buckets ?? []) }
      this.#histograms.set(id, entry)
    }
    return entry.series
  }

  /** Values that are asked for when metrics are collected. */
  observe(key: MetricKey, observe: () => readonly Sample[] | Promise<readonly Sample[]>): void {
    this.#observed.push({ key, observe })
  }

  async snapshot(): Promise<Snapshot> {
    const samples: { [K in MetricKey]?: Sample[] } = {}
    const add = (key: MetricKey, sample: Sample) => {
      const list = samples[key]
      if (list) list.push(sample)
      else samples[key] = [sample]
    }
    for (const { key, labels, series } of this.#counters.values()) add(key, { labels, value: series.value })
    for (const { key, labels, series } of this.#histograms.values()) {
      add(key, { labels, sum: series.sum, counts: [...series.counts] })
    }
    for (const { key, observe } of this.#observed) {
      try {
        for (const sample of await observe()) add(key, sample)
      } catch {
        // What cannot be asked at the moment (a store that is away) is left out; the rest is worth having.
      }
    }
    return samples
  }
}

/** Joins the values that processes report under the same labels: sums, but the largest of shared ones. */
export function mergeSnapshots(snapshots: readonly Snapshot[]): Snapshot {
  const merged: { [K in MetricKey]?: Sample[] } = {}
  for (const key of Object.keys(metrics) as MetricKey[]) {
    const byLabels = new Map<string, Sample>()
    for (const snapshot of snapshots) {
      for (const sample of snapshot[key] ?? []) {
        const id = sample.labels.join('\0')
        const earlier = byLabels.get(id)
        byLabels.set(id, earlier ? together(key, earlier, sample) : sample)
      }
    }
    if (byLabels.size > 0) merged[key] = [...byLabels.values()]
  }
  return merged
}

function together(key: MetricKey, a: Sample, b: Sample): Sample {
  const metric: Metric = metrics[key]
  if (metric.shared) return (a.value ?? 0) >= (b.value ?? 0) ? a : b
  if (a.counts) {
    const counts = a.counts.map((count, index) => count + (b.counts?.[index] ?? 0))
    return { labels: a.labels, sum: (a.sum ?? 0) + (b.sum ?? 0), counts }
  }
  return { labels: a.labels, value: (a.value ?? 0) + (b.value ?? 0) }
}

/** What a process that is gone leaves behind: its counters and histograms go on counting, its gauges do not. */
export function withoutGauges(snapshot: Snapshot): Snapshot {
  return Object.fromEntries(Object.entries(snapshot).filter(([key]) => metrics[key as MetricKey].kind !== 'gauge'))
}
