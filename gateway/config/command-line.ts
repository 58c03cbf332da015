import { parseArgs } from 'node:util'

/** What the gateway was asked to do. */
export interface CommandLine {
  readonly config: string | undefined
  readonly sets: readonly string[]
  readonly printConfig: boolean
  readonly help: boolean
  /** File to write once requests are answered: JSON with the addresses and process ids. */
  readonly readyFile: string | undefined
  readonly banner: boolean
}

export const usage = `Usage: s3proxy-gateway [--config FILE] [--set name=value]...

Serves the buckets and objects of a directory tree over the S3 API.

  --config FILE       read properties from FILE: lines of name=value, # begins a comment
  --set name=value    set one property; may be given many times
  --print-config      print each property's effective value and where it came from, and exit
  --ready-file FILE   write a JSON file with addresses and process ids once requests are answered
  --no-banner         print nothing but log lines
  --help              print this

Later ones win: default, file, environment, --set. In the environment svc.proxy.web.port is SVC_PROXY_WEB_PORT.
`

/** Throws an Error with a sentence for an unknown or incomplete option. */
export function parseCommandLine(args: readonly string[]): CommandLine {
  const { values } = parseArgs({
    args: [...args],
    options: {
      config: { type: 'string' },
      set: { type: 'string', multiple: true },
      'print-config': { type: 'boolean' },
      'ready-file': { type: 'string' },
      'no-banner': { type: 'boolean' },
      help: { type: 'boolean', short: 'h' },
    },
  })
  return {
    config: values.config,
    sets: values.set ?? [],
    printConfig: values['print-config'] ?? false,
    help: values.help ?? false,
    readyFile: values['ready-file'],
    banner: !values['no-banner'],
  }
}
