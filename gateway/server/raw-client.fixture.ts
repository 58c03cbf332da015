import { connect, type Socket } from 'node:net'

export interface RawAnswer {
  readonly status: number
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
}

/** A client that sends whatever bytes a test wants and reads answers one by one. */
export class RawClient {
  readonly socket: Socket
  #received = Buffer.alloc(0)
  #ended = false
  #wake = () => {}

  constructor(port: number) {
    this.socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
    this.socket.setNoDelay(true)
    this.socket.on('data', (bytes: Buffer) => {
      this.#received = Buffer.concat([this.#received, bytes])
      this.#wake()
    })
    const end = () => {
      this.#ended = true
      this.#wake()
    }
    this.socket.on('end', end)
    this.socket.on('close', end)
    this.socket.on('error', end)
  }

  send(bytes: string | Buffer): this {
    this.socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes)
    return this
  }

  /** Sends a request with Host and, for a body, Content-Length. */
  request(method: string, path: string, options: { headers?: Record<string, string>; body?: string } = {}): this {
    const headers: Record<string, string> = { Host: 'localhost', ...options.headers }
    if (options.body !== undefined) headers['Content-Length'] ??= String(Buffer.byteLength(options.body))
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
    return this.send(`${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${options.body ?? ''}`)
  }

  /** The next answer; with `headOnly` no body is expected (HEAD). Throws when the connection ends before. */
  async answer(headOnly = false): Promise<RawAnswer> {
    const headEnd = await this.#until(
      () => this.#received.indexOf('\r\n\r\n'),
      (at) => at >= 0,
    )
    const lines = this.#received.subarray(0, headEnd).toString('latin1').split('\r\n')
    const headers: Record<string, string> = {}
    for (const line of lines.slice(1)) {
      const colon = line.indexOf(':')
      headers[line.slice(0, colon).toLowerCase()] = line.slice(colon + 1).trim()
    }
    this.#received = this.#received.subarray(headEnd + 4)
    const status = Number(lines[0]?.split(' ')[1])
    if (headOnly || status === 204 || status === 304 || status === 100)
      return { status, headers, body: Buffer.alloc(0) }
    return {
      status,
      headers,
      body: headers['transfer-encoding']
        ? await this.#chunks()
        : await this.#exactly(Number(headers['content-length'])),
    }
  }

  /** Resolves with the bytes left over when the server has closed the connection. */
  async closed(): Promise<Buffer> {
    while (!this.#ended) await this.#more()
    return this.#received
  }

  async #chunks(): Promise<Buffer> {
    const pieces: Buffer[] = []
    for (;;) {
      const lineEnd = await this.#until(
        () => this.#received.indexOf('\r\n'),
        (at) => at >= 0,
      )
      const size = Number.parseInt(this.#received.subarray(0, lineEnd).toString(), 16)
      this.#received = this.#received.subarray(lineEnd + 2)
      pieces.push(await this.#exactly(size))
      await this.#exactly(2)
      if (size === 0) return Buffer.concat(pieces)
    }
  }

  async #exactly(length: number): Promise<Buffer> {
    await this.#until(
      () => this.#received.length,
      (size) => size >= length,
    )
    const bytes = this.#received.subarray(0, length)
    this.#received = this.#received.subarray(length)
    return bytes
  }

  async #until(read: () => number, enough: (value: number) => boolean): Promise<number> {
    while (!enough(read())) {
      if (this.#ended)
        throw new Error(`the connection ended after ${JSON.stringify(this.#received.toString('latin1'))}`)
      await this.#more()
    }
    return read()
  }

  #more(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve
    })
  }
}
