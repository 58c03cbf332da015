import { execFileSync } from 'node:child_process'
import { statfsSync } from 'node:fs'
import { cpus, release, totalmem } from 'node:os'

/** Where the figures were made, so that nobody compares them with those of another machine. */
export interface Machine {
  readonly cpus: string
  readonly memoryGiB: number
  readonly kernel: string
  readonly node: string
  readonly go: string
  readonly fileSystem: string
  readonly commit: string
}

const magics: Record<number, string> = {
  61267: 'ext4',
  16914836: 'tmpfs',
  1481003842: 'xfs',
  2435016766: 'btrfs',
  26985: 'nfs',
  2035054128: 'overlayfs',
}

export function describeMachine(directory: string): Machine {
  const processors = cpus()
  const magic = statfsSync(directory).type
  return {
    cpus: `${processors.length} × ${processors[0]?.model.trim() ?? 'unknown'}`,
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    kernel: release(),
    node: process.version,
    go: firstLine('go', ['version']),
    fileSystem: magics[magic] ?? `0x${magic.toString(16)}`,
    commit: firstLine('git', ['-C', import.meta.dirname, 'describe', '--always', '--dirty']),
  }
}

function firstLine(program: string, args: readonly string[]): string {
  try {
    return execFileSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).split('\n')[0] ?? ''
  } catch {
    return 'unknown'
  }
}
