import { momentOf } from './calendar.ts'

/** HTTP-date of RFC 9110 §5.6.7, in whole seconds: `Sun, 06 Nov 1994 08:49:37 GMT`. */
export function httpDate(ms: number): string {
  const { day, time } = momentOf(ms)
  return `${day.http}${time} GMT`
}

const imfFixdate = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} (?:GMT|UTC)$/
const rfc850Date = /^[A-Z][a-z]{5,8}, (\d{2})-([A-Z][a-z]{2})-(\d{2}) (\d{2}:\d{2}:\d{2}) GMT$/
const asctimeDate = /^[A-Z][a-z]{2} ([A-Z][a-z]{2}) ([ \d]\d) (\d{2}:\d{2}:\d{2}) (\d{4})$/
const isoDate = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?Z$/

/**
 * Milliseconds of an HTTP-date in any of the three forms of RFC 9110, or of an ISO 8601 time, which S3 takes too.
 * Undefined when it is none: a conditional header with such a date is ignored (RFC 9110 §13.1.3).
 */
export function parseHttpDate(text: string): number | undefined {
  const value = text.trim()
  if (imfFixdate.test(value) || isoDate.test(value)) return valid(Date.parse(value))
  const old = rfc850Date.exec(value)
  if (old) return valid(Date.parse(`${old[1]} ${old[2]} ${century(Number(old[3]))} ${old[4]} GMT`))
  const asctime = asctimeDate.exec(value)
  if (asctime) return valid(Date.parse(`${asctime[2]?.trim()} ${asctime[1]} ${asctime[4]} ${asctime[3]} GMT`))
  return undefined
}

/** A two-digit year that would lie more than 50 years ahead is of the past (RFC 9110 §5.6.7). */
function century(year: number): number {
  const now = new Date().getUTCFullYear()
  const near = now - (now % 100) + year
  return near > now + 50 ? near - 100 : near
}

function valid(ms: number): number | undefined {
  return Number.isNaN(ms) ? undefined : ms
}
