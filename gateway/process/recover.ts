import type { Metadata } from '../metadata/metadata.ts'
import type { Namespace } from '../namespace/namespace.ts'

/**
 * Ends what processes that died had begun: their temporary files go, then their intents. Several processes may do this
 * at once; a file or intent that is gone already is fine. Returns how many there were.
 */
export async function recover(namespace: Namespace, metadata: Metadata): Promise<number> {
  const intents = await metadata.abandoned()
  const temps = intents.flatMap(({ temp }) => (temp === undefined ? [] : [temp]))
  if (temps.length > 0) await namespace.collect(temps)
  for (const intent of intents) await intent.settle()
  return intents.length
}
