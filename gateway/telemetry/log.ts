import { type Logger, pino } from 'pino'
import type { Config } from '../config/properties.ts'
import type { LineWriter } from './line-writer.ts'

export type Log = Logger

/** The process's own log: JSON lines. */
export function createLog(config: Pick<Config, 'logLevel'>, lines: LineWriter): Log {
  return pino(
    {
      level: config.logLevel,
      base: { pid: process.pid },
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: { level: (level) => ({ level }) },
    },
    { write: (line) => lines.write(line) },
  )
}
