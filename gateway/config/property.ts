/**
 * A configuration property: declared once, as a value. Parsing, documents, the CRD schema and the Helm values all come
 * from the declaration. Durations become milliseconds and sizes bytes at this border.
 */
export interface Property<T> {
  /** As in the specification, `svc.proxy.…`. */
  readonly name: string
  /** In the notation a user writes (`5MB`, `10min`, `false`). */
  readonly default: string
  /** One or two sentences: what it does. */
  readonly summary: string
  /** What values are allowed, in words, for error messages. */
  readonly allowed: string
  /** JSON schema of the written form, for the CRD and the Helm values. */
  readonly schema: Readonly<Record<string, unknown>>
  /** Takes effect without a restart when the mounted file changes. */
  readonly live: boolean
  /** Throws an Error (its message is never shown) when the text is not allowed. */
  parse(text: string): T
}

interface Options {
  readonly live?: boolean
}

const sizeUnits: Record<string, number> = {
  '': 1,
  B: 1,
  KB: 2 ** 10,
  MB: 2 ** 20,
  GB: 2 ** 30,
  TB: 2 ** 40,
  PB: 2 ** 50,
}
const durationUnits: Record<string, number> = {
  '': 1,
  ms: 1,
  msec: 1,
  millisecond: 1,
  s: 1e3,
  sec: 1e3,
  second: 1e3,
  m: 6e4,
  min: 6e4,
  minute: 6e4,
  h: 36e5,
  hr: 36e5,
  hour: 36e5,
  d: 864e5,
  day: 864e5,
}

function scaled(text: string, units: Record<string, number>, fold: (unit: string) => string): number {
  const match = /^\s*(-?\d+(?:\.\d+)?)\s*([A-Za-z]*)\s*$/.exec(text)
  const unit = units[fold(match?.[2] ?? '?')]
  if (!match || unit === undefined) throw new Error('not a number with a unit')
  const value = Math.round(Number(match[1]) * unit)
  if (!Number.isSafeInteger(value)) throw new Error('too large')
  return value
}

/** A size: `5MB`, `2KB`, `0`. Units are powers of 1,024 and their case does not matter. In bytes. */
export function bytes(name: string, fallback: string, summary: string, options: Options = {}): Property<number> {
  return {
    name,
    default: fallback,
    summary,
    live: options.live ?? false,
    allowed: 'a size such as 0, 512, 2KB, 5MB or 1GB',
    schema: { type: 'string', pattern: '^-?[0-9]+(\\.[0-9]+)?\\s*([bB]|[kKmMgGtTpP][bB])?$' },
    parse: (text) => scaled(text, sizeUnits, (unit) => unit.toUpperCase()),
  }
}

/** A duration: `30sec`, `10min`, `0`. Without a unit it is milliseconds. In milliseconds. */
export function duration(name: string, fallback: string, summary: string, options: Options = {}): Property<number> {
  return {
    name,
    default: fallback,
    summary,
    live: options.live ?? false,
    allowed: 'a duration such as 500ms, 30sec, 10min, 1h or 0',
    schema: {
      type: 'string',
      pattern: '^-?[0-9]+(\\.[0-9]+)?\\s*(ms|msec|millisecond|s|sec|second|m|min|minute|h|hr|hour|d|day)?s?$',
    },
    parse: (text) =>
      scaled(text, durationUnits, (unit) => {
        const lower = unit.toLowerCase()
        return lower in durationUnits ? lower : lower.replace(/s$/, '')
      }),
  }
}

/** A whole number within bounds. */
export function count(
  name: string,
  fallback: string,
  summary: string,
  options: Options & { min?: number; max?: number } = {},
): Property<number> {
  const { min = 0, max = 2 ** 31 - 1 } = options
  return {
    name,
    default: fallback,
    summary,
    live: options.live ?? false,
    allowed: `a whole number from ${min} to ${max}`,
    schema: { type: 'integer', minimum: min, maximum: max },
    parse(text) {
      const value = Number(text)
      if (!/^\s*-?\d+\s*$/.test(text) || value < min || value > max) throw new Error('out of bounds')
      return value
    },
  }
}

/** `true` or `false`. */
export function flag(
  name: string,
  fallback: 'true' | 'false',
  summary: string,
  options: Options = {},
): Property<boolean> {
  return {
    name,
    default: fallback,
    summary,
    live: options.live ?? false,
    allowed: 'true or false',
    schema: { type: 'boolean' },
    parse(text) {
      const word = text.trim().toLowerCase()
      if (word !== 'true' && word !== 'false') throw new Error('neither true nor false')
      return word === 'true'
    },
  }
}

/** One of a few words; case does not matter. */
export function oneOf<const W extends readonly string[]>(
  name: string,
  words: W,
  fallback: W[number],
  summary: string,
  options: Options = {},
): Property<W[number]> {
  return {
    name,
    default: fallback,
    summary,
    live: options.live ?? false,
    allowed: `one of ${words.join(', ')}`,
    schema: { type: 'string', enum: words },
    parse(text) {
      const word = words.find((candidate) => candidate.toLowerCase() === text.trim().toLowerCase())
      if (word === undefined) throw new Error('not one of the words')
      return word as W[number]
    },
  }
}

/** Free text, such as a path or an address; '' where it may be unset. */
export function text(
  name: string,
  fallback: string,
  summary: string,
  options: Options & { pattern?: RegExp; allowed?: string } = {},
): Property<string> {
  return {
    name,
    default: fallback,
    summary,
    live: options.live ?? false,
    allowed: options.allowed ?? 'any text',
    schema: options.pattern ? { type: 'string', pattern: options.pattern.source } : { type: 'string' },
    parse(value) {
      if (options.pattern && !options.pattern.test(value)) throw new Error('does not match')
      return value.trim()
    },
  }
}
