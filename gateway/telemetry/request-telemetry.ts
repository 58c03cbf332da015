import type { AccessEntry, AccessLogFormat } from './access-log.ts'
import type { LineWriter } from './line-writer.ts'
import type { Counter, Histogram, Recorder } from './recorder.ts'

interface Series {
  readonly duration: Histogram
  readonly timeToFirstByte: Histogram
  readonly byStatus: Map<number, Counter>
  readonly byError: Map<string, Counter>
}

/** Returns what is to be called with every request that has ended: counts it and writes its line. */
export function createRequestTelemetry(
  recorder: Recorder,
  format: AccessLogFormat | undefined,
  lines: LineWriter,
): (entry: AccessEntry) => void {
  const byOperation = new Map<string, Series>()
  const bytesIn = recorder.counter('bytes', ['in'])
  const bytesOut = recorder.counter('bytes', ['out'])

  const seriesOf = (operation: string): Series => {
    let series = byOperation.get(operation)
    if (series === undefined) {
      series = {
        duration: recorder.histogram('requestDuration', [operation]),
        timeToFirstByte: recorder.histogram('timeToFirstByte', [operation]),
        byStatus: new Map(),
        byError: new Map(),
      }
      byOperation.set(operation, series)
    }
    return series
  }
  const bound = <K>(counters: Map<K, Counter>, key: K, bind: () => Counter): Counter => {
    let counter = counters.get(key)
    if (counter === undefined) {
      counter = bind()
      counters.set(key, counter)
    }
    return counter
  }

  return (entry) => {
    const operation = entry.operation ?? 'Unknown'
    const series = seriesOf(operation)
    const { status, errorCode } = entry
    bound(series.byStatus, status, () => recorder.counter('requests', [operation, String(status)])).value++
    if (errorCode !== undefined) {
      bound(series.byError, errorCode, () => recorder.counter('errors', [operation, errorCode])).value++
    }
    series.duration.observe(entry.totalMs / 1000)
    series.timeToFirstByte.observe(entry.turnAroundMs / 1000)
    bytesIn.value += entry.bytesReceived
    bytesOut.value += entry.bytesSent
    if (format !== undefined) lines.write(`${format(entry)}\n`)
  }
}
