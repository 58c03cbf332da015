import { readFileSync } from 'node:fs'
import { nearestName } from './nearest-name.ts'
import { type Config, properties } from './properties.ts'
import { parsePropertiesFile } from './properties-file.ts'
import type { Property } from './property.ts'

/** Where settings come from. Later ones win: default, file, environment, `--set`. */
export interface Sources {
  /** Path of a properties file. */
  readonly file?: string | undefined
  readonly environment?: Readonly<Record<string, string | undefined>>
  /** `name=value`, in the order of the command line. */
  readonly sets?: readonly string[]
}

/** One effective value as it was written, and where. */
export interface Setting {
  readonly key: keyof Config
  readonly property: Property<unknown>
  readonly text: string
  /** `default`, `FILE line 3`, `environment SVC_PROXY_WEB_PORT` or `--set`. */
  readonly source: string
}

export interface LoadedConfig {
  /** Usable only when there are no mistakes; values in error keep their default. */
  readonly config: Config
  readonly settings: readonly Setting[]
  /** All of them, as sentences; empty when the configuration is right. */
  readonly mistakes: readonly string[]
}

const keys = Object.keys(properties) as (keyof Config)[]
const keyByName = new Map<string, keyof Config>(keys.map((key) => [properties[key].name, key]))
const names = [...keyByName.keys()]

/** `svc.proxy.web.port` is `SVC_PROXY_WEB_PORT` in the environment. */
export function environmentName(property: string): string {
  return property.toUpperCase().replaceAll('.', '_')
}
const keyByEnvironmentName = new Map<string, keyof Config>(
  keys.map((key) => [environmentName(properties[key].name), key]),
)

/** Reads and checks everything; reports every mistake at once instead of throwing. */
export function loadConfig(sources: Sources): LoadedConfig {
  const mistakes: string[] = []
  const written = new Map<keyof Config, { text: string; source: string }>()

  for (const entry of readFile(sources.file, mistakes)) {
    const source = `${sources.file} line ${entry.line}`
    const key = keyByName.get(entry.name)
    if (key === undefined) {
      mistakes.push(unknown(entry.name, names, source))
      continue
    }
    const earlier = written.get(key)
    if (earlier) mistakes.push(`${entry.name} is given twice: in ${earlier.source} and in ${source}. Keep one of them.`)
    written.set(key, { text: entry.value, source })
  }

  for (const [name, text] of Object.entries(sources.environment ?? {})) {
    if (!name.startsWith('SVC_PROXY_') || text === undefined) continue
    const key = keyByEnvironmentName.get(name)
    if (key !== undefined) written.set(key, { text, source: `environment ${name}` })
    else if (!isServiceLink(name)) mistakes.push(unknown(name, [...keyByEnvironmentName.keys()], 'the environment'))
  }

  for (const set of sources.sets ?? []) {
    const equals = set.indexOf('=')
    const name = equals < 0 ? set.trim() : set.slice(0, equals).trim()
    const key = keyByName.get(name)
    if (equals < 0) mistakes.push(`--set ${set}: write it as --set name=value.`)
    else if (key === undefined) mistakes.push(unknown(name, names, '--set'))
    else written.set(key, { text: set.slice(equals + 1), source: '--set' })
  }

  const settings: Setting[] = []
  const values: Partial<Record<keyof Config, unknown>> = {}
  for (const key of keys) {
    const property: Property<unknown> = properties[key]
    const { text, source } = written.get(key) ?? { text: property.default, source: 'default' }
    settings.push({ key, property, text, source })
    try {
      values[key] = property.parse(text)
    } catch {
      mistakes.push(`${property.name} = ${JSON.stringify(text)} (${source}): must be ${property.allowed}.`)
      values[key] = property.parse(property.default)
    }
  }
  const config = values as Config
  mistakes.push(...contradictions(config))
  return { config, settings, mistakes }
}

/** Values that are right each by itself and wrong together. */
function contradictions(config: Config): string[] {
  const found: string[] = []
  const name = (key: keyof Config) => properties[key].name
  if ((config.tlsCertificate === '') !== (config.tlsKey === '')) {
    const [given, missing] =
      config.tlsKey === '' ? (['tlsCertificate', 'tlsKey'] as const) : (['tlsKey', 'tlsCertificate'] as const)
    found.push(`${name(given)} is set but ${name(missing)} is not: HTTPS needs both.`)
  }
  for (const pool of ['heavyPool', 'lightPool'] as const) {
    const core = config[`${pool}Core`]
    const maximum = config[`${pool}Maximum`]
    if (maximum < core) {
      found.push(`${name(`${pool}Maximum`)} = ${maximum} must not be less than ${name(`${pool}Core`)} = ${core}.`)
    }
  }
  const ports = (['port', 'rootPort', 'adminPort'] as const).filter((key) => config[key] !== 0)
  for (const [index, key] of ports.entries()) {
    const other = ports.slice(0, index).find((earlier) => config[earlier] === config[key])
    if (other) found.push(`${name(key)} and ${name(other)} are both ${config[key]}: give each its own port.`)
  }
  if (config.root === '') found.push(`${name('root')} must name a directory.`)
  return found
}

function readFile(file: string | undefined, mistakes: string[]) {
  if (file === undefined) return []
  try {
    return parsePropertiesFile(readFileSync(file, 'utf8'))
  } catch (error) {
    mistakes.push(`The configuration file ${file} cannot be read: ${error instanceof Error ? error.message : error}.`)
    return []
  }
}

function unknown(name: string, candidates: readonly string[], source: string): string {
  const nearest = nearestName(name, candidates)
  return `${name} (${source}) is no property.${nearest ? ` Did you mean ${nearest}?` : ' --print-config lists all.'}`
}

/** Kubernetes puts such variables into every pod beside a Service whose name begins with `svc-proxy`. */
function isServiceLink(name: string): boolean {
  return /_SERVICE_(HOST|PORT(_\w+)?)$|_PORT(_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?$/.test(name)
}
