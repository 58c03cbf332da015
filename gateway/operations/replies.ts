import type { Reply } from '../s3/reply.ts'

/** 200 with a document. */
export function xml(body: string): Reply {
  return { status: 200, headers: { 'Content-Type': 'application/xml' }, body }
}

/** 200 without a body, as the specification has it for everything that stores something. */
export function done(headers: Readonly<Record<string, string>> = {}): Reply {
  return { status: 200, headers }
}

/** 204, for everything that removes something. */
export const noContent: Reply = { status: 204, headers: {} }
