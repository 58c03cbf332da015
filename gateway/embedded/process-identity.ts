import { readFileSync } from 'node:fs'

/**
 * Names a process of this host so that another process can tell later whether it is still the same one:
 * `<pid>-<start time in ticks>-<boot>`. The start time guards against reused pids, the boot id against reused both.
 */
export type ProcessId = string

/** Identity of this boot of the kernel; '' where it cannot be read (not Linux). */
export const bootId: string = readText('/proc/sys/kernel/random/boot_id').trim()

const bootMark = bootId.slice(0, 8)

/** This process. */
export const ownProcessId: ProcessId = `${process.pid}-${startTime(process.pid) ?? 0}-${bootMark}`

/** Whether the process still runs. A zombie does not: it will never settle anything. */
export function isAlive(id: ProcessId): boolean {
  const [pid = '', started = '', boot = ''] = id.split('-')
  if (boot !== bootMark) return false
  if (Number(pid) === process.pid) return id === ownProcessId
  if (started === '0') return answersSignals(Number(pid))
  return startTime(Number(pid)) === started
}

/** Field 22 of /proc/<pid>/stat (proc(5)): ticks since boot; undefined when the process is gone or a zombie. */
function startTime(pid: number): string | undefined {
  const stat = readText(`/proc/${pid}/stat`)
  // The second field is the name in parentheses and may hold spaces and parentheses itself.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return fields[0] === 'Z' || fields[0] === 'X' ? undefined : fields[19]
}

function answersSignals(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    return ''
  }
}
