import type { AccessEntry } from './access-log.ts'

/** Operations whose audit name in the reference is not their own. Source: seen on the reference, facts §15. */
const commands: Record<string, string> = {
  CreateMultipartUpload: 'initiateMultipartUpload',
  AbortMultipartUpload: 'abortMultipartUpload',
  DeleteObject: 'deleteObject',
  DeleteObjectTagging: 'deleteObjectTags',
}

/** The reference's audit line: tab-separated `name=value`. Completion is logged too, which the reference leaves out. */
export function alluxioLine(entry: AccessEntry): string {
  const operation = entry.operation ?? 'Unknown'
  return [
    `succeeded=${entry.status < 400 && !entry.aborted}`,
    `allowed=${entry.status !== 403}`,
    `ugi=${clean(entry.user)},${clean(entry.group)}`,
    `ip=${entry.remoteAddress}:${entry.remotePort}`,
    `cmd=${commands[operation] ?? operation}`,
    `bucket=${clean(entry.bucket)}`,
    `object=${clean(entry.key)}`,
    `executionTimeUs=${Math.round(entry.totalMs * 1000)}`,
  ].join('\t')
}

function clean(text: string | undefined): string {
  return (text ?? 'null').replace(/[\x00-\x1f\x7f\\]/g, (c) => `\\x${c.charCodeAt(0).toString(16).padStart(2, '0')}`)
}
