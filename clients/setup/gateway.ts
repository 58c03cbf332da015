import { type Gateway, startGateway } from '../../testing/gateway.ts'

export type { Gateway }

/**
 * The gateway that clients are tested against: two processes, so that the requests of one client meet both. Writes
 * are not fsynced, because no client can see whether they are, and ten thousand small ones would take minutes.
 */
export function startClientGateway(properties: Readonly<Record<string, string>> = {}): Promise<Gateway> {
  return startGateway({
    properties: { 'svc.proxy.processes': 2, 'svc.proxy.s3.writetype': 'MUST_CACHE', ...properties },
  })
}
