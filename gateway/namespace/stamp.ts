import { realTime } from './libc.ts'

/** What a file system with coarser times keeps of a stamp: a multiple of this many ns, measured at start. */
let granularity = 1n
let last = 0n

export function setGranularity(ns: bigint): void {
  granularity = ns
}

/**
 * A modification time (ns) for a file that gets a new identity: the real-time clock, and never twice the same in this
 * thread, for the clock may stand still or be set back.
 */
export function nextStamp(): bigint {
  const now = realTime()
  const rounded = now - (now % granularity)
  last = rounded > last ? rounded : last + granularity
  return last
}
