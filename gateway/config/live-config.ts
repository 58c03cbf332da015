import { type LoadedConfig, loadConfig, type Setting, type Sources } from './load.ts'
import { type Config, properties } from './properties.ts'
import { watchPaths } from './watch-paths.ts'

/** What a changed configuration file means for the running process. */
export interface Reload {
  /** Written values of live properties that changed; to be applied. */
  readonly changed: readonly Setting[]
  /** Names of changed properties that need a restart. */
  readonly pending: readonly string[]
  /** When there are any, nothing is applied. */
  readonly mistakes: readonly string[]
}

/**
 * Watches the configuration file.
 * `onReload` is called for every change of content. Returns a function that stops.
 */
export function watchConfig(
  sources: Sources & { readonly file: string },
  loaded: LoadedConfig,
  onReload: (reload: Reload) => void,
  intervalMs = 1000,
): () => void {
  let current = new Map(loaded.settings.map((setting) => [setting.key, setting.text]))
  let lastMistakes = ''
  const check = () => {
    const { settings, mistakes } = loadConfig(sources)
    if (mistakes.length > 0) {
      if (mistakes.join() !== lastMistakes) onReload({ changed: [], pending: [], mistakes })
      lastMistakes = mistakes.join()
      return
    }
    lastMistakes = ''
    const different = settings.filter(({ key, text }) => current.get(key) !== text)
    if (different.length === 0) return
    current = new Map(settings.map((setting) => [setting.key, setting.text]))
    onReload({
      changed: different.filter(({ property }) => property.live),
      pending: different.filter(({ property }) => !property.live).map(({ property }) => property.name),
      mistakes: [],
    })
  }
  return watchPaths([sources.file], check, intervalMs)
}

/** Puts written values of live properties into `config`, in place: whoever reads a field sees it at the next read. */
export function applyLive(config: Config, changed: readonly Pick<Setting, 'key' | 'text'>[]): void {
  const writable = config as { -readonly [K in keyof Config]: unknown }
  for (const { key, text } of changed) writable[key] = properties[key].parse(text)
}
