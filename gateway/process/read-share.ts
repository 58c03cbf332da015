/**
 * Divides a cap over processes by the number of transfers each has at work; a process without any gets nothing. The
 * shares add up to the cap, so all together hold it, and each connection gets the same.
 */
export function divideReadRate(bytesPerSecond: number, transfers: ReadonlyMap<number, number>): Map<number, number> {
  const all = [...transfers.values()].reduce((sum, each) => sum + each, 0)
  return new Map([...transfers].map(([id, each]) => [id, all === 0 ? 0 : (bytesPerSecond * each) / all]))
}

/** Reports a number that changes often: at once when it leaves 0, otherwise at most every `intervalMs`. */
export function calmReporter(report: (value: number) => void, intervalMs = 100): (value: number) => void {
  let reported = 0
  let current = 0
  let waiting = false
  const say = () => {
    waiting = false
    if (current === reported) return
    reported = current
    report(current)
  }
  return (value) => {
    current = value
    if (reported === 0 && value > 0) say()
    else if (!waiting) {
      waiting = true
      setTimeout(say, intervalMs).unref()
    }
  }
}
