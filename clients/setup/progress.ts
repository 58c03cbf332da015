/**
 * Runs long work and tells on stderr what it is, every ten seconds that it still goes on, and how long it took, so
 * that a cold machine is never silent for minutes.
 */
export async function withProgress<T>(what: string, work: () => Promise<T>): Promise<T> {
  const start = performance.now()
  const seconds = (): number => Math.round((performance.now() - start) / 1000)
  const say = (text: string): boolean => process.stderr.write(`clients: ${what}${text}\n`)
  say(' ...')
  const heartbeat = setInterval(() => say(` ... ${seconds()} s`), 10_000)
  try {
    const result = await work()
    say(`: ready in ${seconds()} s`)
    return result
  } finally {
    clearInterval(heartbeat)
  }
}
