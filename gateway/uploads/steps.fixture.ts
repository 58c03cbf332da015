import { createObjects } from '../objects/create-objects.ts'
import type { Stores } from './stores.ts'

/** Called around every step that uploads and objects take outside of themselves; may wait for ever: a dead process. */
export interface Steps {
  before(step: string): Promise<void>
  after(step: string): Promise<void>
}

/** The stores, with every call of namespace, metadata and staged files made a step. */
export function withSteps(stores: Stores, steps: Steps): Stores {
  const namespace = stepping('namespace', stores.namespace, steps, ['tempName', 'features'])
  const metadata = stepping('metadata', stores.metadata, steps, [])
  const objects = createObjects({ config: stores.config, namespace, metadata })
  return { ...stores, namespace, metadata, objects }
}

const staging = new Set([
  'namespace.adopt',
  'namespace.assemble',
  'namespace.restage',
  'namespace.stage',
  'namespace.copy',
])

function stepping<T extends object>(name: string, inner: T, steps: Steps, plain: readonly string[]): T {
  return new Proxy(inner, {
    get(target, property) {
      const value = Reflect.get(target, property)
      if (typeof value !== 'function' || plain.includes(String(property))) return value
      const step = `${name}.${String(property)}`
      return async (...args: unknown[]) => {
        await steps.before(step)
        const result = await value.apply(target, args)
        await steps.after(step)
        const staged = staging.has(step) && typeof result === 'object' && result !== null
        return staged ? stepping('staged', result, steps, ['temp']) : result
      }
    },
  })
}

/** Dies (waits for ever) at the `limit`-th of the places before and after steps; `died` tells where. */
export function dyingAt(limit: number): Steps & { readonly died: Promise<string>; count: number } {
  let die = (_where: string) => {}
  const died = new Promise<string>((resolve) => {
    die = resolve
  })
  const place = async (where: string) => {
    steps.count += 1
    if (steps.count < limit) return
    die(where)
    await new Promise<never>(() => {})
  }
  const steps = {
    died,
    count: 0,
    before: (step: string) => place(`before ${step}`),
    after: (step: string) => place(`after ${step}`),
  }
  return steps
}

/** Waits for some milliseconds at every place, so that two runs meet in ever other ways. */
export function dawdling(random: () => number): Steps {
  const place = () => new Promise<void>((resolve) => setTimeout(resolve, Math.floor(random() * 4)))
  return { before: place, after: place }
}
