import type { Config } from '../config/properties.ts'
import { alluxioLine } from './access-log-alluxio.ts'
import { awsLine } from './access-log-aws.ts'
import { jsonLine } from './access-log-json.ts'

/** What is known of an answered request. */
export interface AccessEntry {
  readonly startedAt: Date
  readonly requestId: string
  readonly hostId: string
  readonly remoteAddress: string
  readonly remotePort: number
  readonly method: string
  /** Request target as it came. */
  readonly uri: string
  readonly httpVersion: string
  readonly headers: Readonly<Record<string, string | undefined>>
  /** Decoded query parameters. */
  readonly query: ReadonlyMap<string, string>
  /** AWS's name; undefined where none was recognised. */
  readonly operation: string | undefined
  readonly bucket: string | undefined
  readonly key: string | undefined
  /** Name of the acting user, undefined where it was not yet known. */
  readonly user: string | undefined
  /** Names of the user's groups. */
  readonly group: string | undefined
  readonly authenticated: boolean
  readonly status: number
  readonly errorCode: string | undefined
  readonly bytesReceived: number
  readonly bytesSent: number
  /** Size of the object in question, where the answer is about one. */
  readonly objectSize: number | undefined
  /** The client went away before the end of its answer. */
  readonly aborted: boolean
  readonly totalMs: number
  readonly turnAroundMs: number
  /** TLS version and cipher of the connection. */
  readonly tls: { readonly version: string; readonly cipher: string } | undefined
}

/** Writes one line, without the newline. */
export type AccessLogFormat = (entry: AccessEntry) => string

/** The format of `svc.proxy.log.access`; undefined when it is off. */
export function accessLogFormat(form: Config['accessLog']): AccessLogFormat | undefined {
  switch (form) {
    case 'json':
      return jsonLine
    case 'aws':
      return awsLine
    case 'alluxio':
      return alluxioLine
    case 'off':
      return undefined
  }
}
