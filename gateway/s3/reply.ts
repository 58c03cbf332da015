import type { OpenFile } from '../namespace/namespace.ts'

/** What an operation answers; `server/` adds request id, Date, Server, framing and the bytes. */
export interface Reply {
  readonly status: number
  /** Header names in their usual spelling. Content-Length is set by the server, but for HEAD replies. */
  readonly headers: Readonly<Record<string, string>>
  readonly body?: ReplyBody
}

export type ReplyBody = string | Buffer | FileBody | AsyncIterable<string | Buffer>

/** A byte range of an open file; the server streams it, shapes its rate and closes the file in every case. */
export interface FileBody {
  readonly file: OpenFile
  /** First byte. */
  readonly start: number
  /** Number of bytes. */
  readonly length: number
}
