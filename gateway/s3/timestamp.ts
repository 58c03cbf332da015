let second = Number.NaN
let prefix = ''

/** Time in documents: ISO 8601 UTC with milliseconds (spec §2). Entries of a listing often share their second. */
export function timestamp(ms: number): string {
  const whole = Math.floor(ms / 1000)
  if (whole !== second) {
    prefix = new Date(whole * 1000).toISOString().slice(0, -4)
    second = whole
  }
  const fraction = Math.floor(ms - whole * 1000)
  return `${prefix}${fraction < 10 ? '00' : fraction < 100 ? '0' : ''}${fraction}Z`
}
