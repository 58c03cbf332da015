import { momentOf } from './calendar.ts'

const three = Array.from({ length: 1000 }, (_, number) => String(number).padStart(3, '0'))

/** Time in documents: ISO 8601 UTC with milliseconds (spec §2). */
export function timestamp(ms: number): string {
  const { day, time, milliseconds } = momentOf(ms)
  return `${day.iso}T${time}.${three[milliseconds]}Z`
}
