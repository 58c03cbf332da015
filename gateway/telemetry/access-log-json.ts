import type { AccessEntry } from './access-log.ts'

/** Longest user agent and referer written: a line must stay small (see LineWriter). */
const maxHeader = 256

/**
 * One JSON object. Written by hand, in the same shape as the process log: `JSON.stringify` of an object takes three times
 * as long, and only what a client wrote needs escaping.
 */
export function jsonLine(entry: AccessEntry): string {
  const agent = entry.headers['user-agent']
  const referer = entry.headers.referer
  let line = `{"level":"info","time":"${entry.startedAt.toISOString()}","msg":"access","requestId":"${entry.requestId}"`
  line += `,"remote":"${entry.remoteAddress}","method":${quote(entry.method)},"uri":${quote(entry.uri)}`
  if (entry.operation !== undefined) line += `,"operation":"${entry.operation}"`
  if (entry.bucket !== undefined) line += `,"bucket":${quote(entry.bucket)}`
  if (entry.key !== undefined) line += `,"key":${quote(entry.key)}`
  if (entry.user !== undefined) line += `,"user":${quote(entry.user)},"authenticated":${entry.authenticated}`
  line += `,"status":${entry.status}`
  if (entry.errorCode !== undefined) line += `,"error":"${entry.errorCode}"`
  line += `,"bytesIn":${entry.bytesReceived},"bytesOut":${entry.bytesSent}`
  if (entry.objectSize !== undefined) line += `,"objectSize":${entry.objectSize}`
  if (entry.aborted) line += ',"aborted":true'
  line += `,"ms":${rounded(entry.totalMs)},"turnAroundMs":${rounded(entry.turnAroundMs)}`
  if (agent !== undefined) line += `,"userAgent":${quote(agent.slice(0, maxHeader))}`
  if (referer !== undefined) line += `,"referer":${quote(referer.slice(0, maxHeader))}`
  return `${line}}`
}

const quote = JSON.stringify

function rounded(ms: number): number {
  return Math.round(ms * 1000) / 1000
}
