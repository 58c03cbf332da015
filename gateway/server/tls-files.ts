import { readFileSync, unwatchFile, watchFile } from 'node:fs'
import type { Server } from 'node:http'
import type { Server as TlsServer } from 'node:https'
import { createSecureContext } from 'node:tls'
import type { Config } from '../config/properties.ts'

export interface TlsFiles {
  readonly cert: Buffer
  readonly key: Buffer
}

/** Certificate and key of the configuration, undefined for plain HTTP. Throws an Error with a sentence. */
export function readTlsFiles(config: Config): TlsFiles | undefined {
  if (config.tlsCertificate === '' || config.tlsKey === '') return undefined
  const files = {
    cert: readNamed(config.tlsCertificate, 'svc.proxy.web.tls.certificate.file'),
    key: readNamed(config.tlsKey, 'svc.proxy.web.tls.key.file'),
  }
  try {
    createSecureContext(files)
  } catch (error) {
    throw new Error(
      `The TLS certificate and key do not go together: ${error instanceof Error ? error.message : error}.`,
    )
  }
  return files
}

/**
 * Takes a renewed certificate without a restart: new connections get it, running ones go on. A pair that does not fit
 * (the files are replaced one after the other) is left alone until it does. Returns a function that stops.
 */
export function watchTlsFiles(
  config: Config,
  servers: readonly Server[],
  told: (error: Error | undefined) => void,
  intervalMs = 1000,
): () => void {
  const paths = [config.tlsCertificate, config.tlsKey]
  const reload = () => {
    try {
      const files = readTlsFiles(config)
      if (files) for (const server of servers) (server as TlsServer).setSecureContext(files)
      told(undefined)
    } catch (error) {
      told(error as Error)
    }
  }
  for (const path of paths) watchFile(path, { interval: intervalMs, persistent: false }, reload)
  return () => {
    for (const path of paths) unwatchFile(path, reload)
  }
}

function readNamed(path: string, property: string): Buffer {
  try {
    return readFileSync(path)
  } catch (error) {
    throw new Error(`${property} = ${path} cannot be read: ${error instanceof Error ? error.message : error}.`)
  }
}
