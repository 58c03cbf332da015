import { renameSync, writeFileSync } from 'node:fs'

/** What a program that started the gateway wants to know. */
export interface Ready {
  /** `http://127.0.0.1:39999/api/v1/s3` */
  readonly endpoint: string
  /** The alias at `/`, when it is on. */
  readonly rootEndpoint: string | undefined
  readonly adminEndpoint: string | undefined
  readonly pid: number
  /** Processes that answer requests. */
  readonly pids: readonly number[]
}

/** Writes the file in one piece: who sees it can read it whole. */
export function writeReadyFile(path: string, ready: Ready): void {
  const temporary = `${path}.${process.pid}`
  writeFileSync(temporary, `${JSON.stringify(ready)}\n`)
  renameSync(temporary, path)
}
