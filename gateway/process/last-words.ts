import type { LineWriter } from '../telemetry/line-writer.ts'
import type { Log } from '../telemetry/log.ts'

/**
 * Sees to it that nothing this process has to say is lost: pending log lines are written at its end, and an error that
 * nobody caught becomes a log line before it ends the process (the state is unknown then; a fresh one takes over).
 */
export function keepLastWords(log: Log, lines: LineWriter): void {
  process.on('exit', () => lines.flush())
  process.on('uncaughtException', (error) => {
    log.fatal({ err: error }, 'an error that nobody caught ends this process')
    process.exit(70)
  })
}
