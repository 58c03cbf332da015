import { Agent, type IncomingHttpHeaders, request } from 'node:http'

/** An answer with its whole body. */
export interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

export interface Ask {
  readonly body?: Buffer | string
  readonly headers?: Record<string, string>
  readonly user?: string
}

/** A client that sends just what a test says: one request, one answer, no retries and no help. Rejects when cut off. */
export class S3Client {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 256 })
  readonly #endpoint: string

  /** `endpoint`: base address, such as `http://127.0.0.1:39999/api/v1/s3`. */
  constructor(endpoint: string) {
    this.#endpoint = endpoint
  }

  /** `path` is raw: percent-encoded by the caller, with its query. */
  ask(method: string, path: string, { body, headers = {}, user = 'root' }: Ask = {}): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const outgoing = request(`${this.#endpoint}${path}`, {
        method,
        agent: this.#agent,
        headers: {
          authorization: `AWS4-HMAC-SHA256 Credential=${user}/20261121/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=0`,
          'content-length': String(body === undefined ? 0 : Buffer.byteLength(body)),
          ...headers,
        },
      })
      outgoing.on('error', reject)
      outgoing.on('response', (incoming) => {
        const chunks: Buffer[] = []
        incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
        incoming.on('error', reject)
        incoming.on('aborted', () => reject(new Error('the answer was cut off')))
        incoming.on('end', () =>
          resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, body: Buffer.concat(chunks) }),
        )
      })
      outgoing.end(body)
    })
  }

  /** As `ask`, but anything other than `status` rejects with the answer's text. */
  async expect(status: number, method: string, path: string, ask: Ask = {}): Promise<Answer> {
    const answer = await this.ask(method, path, ask)
    if (answer.status !== status) {
      throw new Error(
        `${method} ${path}: ${answer.status} instead of ${status}: ${answer.body.toString().slice(0, 500)}`,
      )
    }
    return answer
  }

  /** All keys of a bucket, page by page. */
  async keys(bucket: string, query = ''): Promise<string[]> {
    const keys: string[] = []
    for (let token = ''; ; ) {
      const page = await this.expect(200, 'GET', `/${bucket}?list-type=2&encoding-type=url${query}${token}`)
      const xml = page.body.toString()
      for (const [, key = ''] of xml.matchAll(/<Key>([^<]*)<\/Key>/g))
        keys.push(decodeURIComponent(key.replaceAll('+', ' ')))
      const next = /<NextContinuationToken>([^<]*)</.exec(xml)?.[1]
      if (next === undefined) return keys
      token = `&continuation-token=${encodeURIComponent(next)}`
    }
  }

  close(): void {
    this.#agent.destroy()
  }
}
