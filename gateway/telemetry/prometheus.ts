import { type Metric, type MetricKey, metrics } from './metrics.ts'
import type { Sample, Snapshot } from './recorder.ts'

/** The numbers of `values` in Prometheus' text format, written by OpenTelemetry's exporter (loaded at the first call). */
export async function prometheusText(values: Snapshot, startedMs: number): Promise<string> {
  const [{ PrometheusSerializer }, { AggregationTemporality, DataPointType }, { resourceFromAttributes }] =
    await Promise.all([
      import('@opentelemetry/exporter-prometheus'),
      import('@opentelemetry/sdk-metrics'),
      import('@opentelemetry/resources'),
    ])
  const startTime = hrTime(startedMs)
  const endTime = hrTime(Date.now())
  const data = (Object.keys(values) as MetricKey[]).map((key) => {
    const metric: Metric = metrics[key]
    const samples = values[key] ?? []
    const points = samples.map((sample) => ({ startTime, endTime, attributes: attributes(metric, sample) }))
    const common = {
      descriptor: { name: metric.name, description: metric.doc, unit: metric.unit, valueType: 1, advice: {} },
      aggregationTemporality: AggregationTemporality.CUMULATIVE,
    }
    if (metric.kind === 'histogram') {
      return {
        ...common,
        dataPointType: DataPointType.HISTOGRAM,
        dataPoints: points.map((point, index) => ({ ...point, value: histogramValue(metric, samples[index]) })),
      }
    }
    return {
      ...common,
      dataPointType: metric.kind === 'gauge' ? DataPointType.GAUGE : DataPointType.SUM,
      isMonotonic: metric.kind === 'counter',
      dataPoints: points.map((point, index) => ({ ...point, value: samples[index]?.value ?? 0 })),
    }
  })
  const serializer = new PrometheusSerializer('', false, undefined, true, true)
  return serializer.serialize({
    resource: resourceFromAttributes({}),
    scopeMetrics: [{ scope: { name: 's3proxy' }, metrics: data as never }],
  })
}

function attributes(metric: Metric, sample: Sample): Record<string, string> {
  return Object.fromEntries(metric.labels.map((label, index) => [label, sample.labels[index] ?? '']))
}

function histogramValue(metric: Metric, sample: Sample | undefined) {
  const counts = [...(sample?.counts ?? [])]
  const count = counts.reduce((total, each) => total + each, 0)
  return { buckets: { boundaries: [...(metric.buckets ?? [])], counts }, sum: sample?.sum ?? 0, count }
}

function hrTime(ms: number): [number, number] {
  return [Math.floor(ms / 1000), (ms % 1000) * 1e6]
}
