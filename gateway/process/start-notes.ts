import type { Config } from '../config/properties.ts'
import type { MemberStatus } from './member.ts'

/** What an operator should know of this configuration on this machine, in sentences; empty when all is as it should be. */
export function startNotes(config: Config, status: MemberStatus | undefined): string[] {
  const notes: string[] = []
  if (status?.identity === 'process') {
    const why =
      config.identityMode === 'process'
        ? 'as svc.proxy.identity.mode=process asks for'
        : 'which may not act as others (needs uid 0 with SETUID and SETGID)'
    notes.push(
      `All files belong to the user of this process, ${why}; ` +
        'the owner kept with each bucket decides who may write.',
    )
  }
  if (config.writeType === 'THROUGH' || config.writeType === 'ASYNC_THROUGH') {
    notes.push(`There is no backing store, so svc.proxy.s3.writetype=${config.writeType} acts as CACHE_THROUGH.`)
  }
  if (config.deleteType === 'ALLUXIO_ONLY') {
    notes.push('There is no backing store, so svc.proxy.s3.deletetype=ALLUXIO_ONLY deletes the file all the same.')
  }
  if (config.asyncProcessing && !config.version2) {
    notes.push('svc.proxy.s3.v2.async.processing.enabled has no effect while svc.proxy.s3.v2.version.enabled is false.')
  }
  if (config.readOnly) notes.push('The gateway is read-only (svc.proxy.readonly).')
  return [...notes, ...(status?.metadata ?? [])]
}
