const dayMs = 86_400_000
const keptDays = 4096

/** A moment's day as it begins dates, and its time `03:04:05`. */
interface Moment {
  readonly day: { readonly iso: string; readonly http: string }
  readonly time: string
  readonly milliseconds: number
}

/** By day: Date takes a microsecond for each text, and a page of a listing has a thousand. */
const days = new Map<number, Moment['day']>()
const two = Array.from({ length: 60 }, (_, number) => String(number).padStart(2, '0'))

/** Day and time of a moment in UTC, given in milliseconds since 1970. */
export function momentOf(ms: number): Moment {
  const day = Math.floor(ms / dayMs)
  const rest = Math.floor(ms - day * dayMs)
  const seconds = Math.floor(rest / 1000)
  const minutes = Math.floor(seconds / 60)
  return {
    day: dayOf(day),
    time: `${two[Math.floor(minutes / 60)]}:${two[minutes % 60]}:${two[seconds % 60]}`,
    milliseconds: rest % 1000,
  }
}

function dayOf(day: number): Moment['day'] {
  let texts = days.get(day)
  if (texts === undefined) {
    if (days.size >= keptDays) days.clear()
    const date = new Date(day * dayMs)
    texts = { iso: date.toISOString().slice(0, -14), http: date.toUTCString().slice(0, -12) }
    days.set(day, texts)
  }
  return texts
}
