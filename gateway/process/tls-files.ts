import { readFileSync } from 'node:fs'
import type { Server } from 'node:http'
import type { Server as TlsServer } from 'node:https'
import { createSecureContext } from 'node:tls'
import type { Config } from '../config/properties.ts'
import { watchPaths } from '../config/watch-paths.ts'

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
  used: TlsFiles,
  servers: readonly Server[],
  told: (error: Error | undefined) => void,
  intervalMs = 1000,
): () => void {
  let current = used
  const reload = () => {
    try {
      const files = readTlsFiles(config)
      if (!files || (current.cert.equals(files.cert) && current.key.equals(files.key))) return
      for (const server of servers) (server as TlsServer).setSecureContext(files)
      current = files
      told(undefined)
    } catch (error) {
      told(error as Error)
    }
  }
  return watchPaths([config.tlsCertificate, config.tlsKey], reload, intervalMs)
}

function readNamed(path: string, property: string): Buffer {
  try {
    return readFileSync(path)
  } catch (error) {
    throw new Error(`${property} = ${path} cannot be read: ${error instanceof Error ? error.message : error}.`)
  }
}
