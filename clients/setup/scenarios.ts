import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { createInterface, type Interface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'

/**
 * A client program that runs scenarios by name, so that its start is paid once for all of them. The protocol, the
 * same in every language: a line with the name goes to its stdin; a line of JSON `{"ok": boolean, "error"?: string,
 * "result"?: any}` comes from its stdout. What it writes to stderr is part of the message of a failure.
 */
export class ScenarioProgram {
  readonly #child: ChildProcessByStdio<Writable, Readable, Readable>
  readonly #lines: Interface
  /** Resolves when the program has ended, for whatever reason, or could not be started. */
  readonly #ended: Promise<string>
  #stderr = ''

  constructor(command: string, args: readonly string[], env: Record<string, string>) {
    this.#child = spawn(command, args, { env: { ...process.env, ...env }, stdio: ['pipe', 'pipe', 'pipe'] })
    this.#ended = new Promise((resolve) => {
      this.#child.once('close', (code, signal) => resolve(`ended with ${code ?? signal}`))
      this.#child.once('error', (error) => resolve(error.message))
    })
    this.#lines = createInterface(this.#child.stdout)
    this.#child.stderr.on('data', (bytes: Buffer) => {
      this.#stderr = (this.#stderr + bytes.toString()).slice(-6000)
    })
    // A program that ended is noticed by its end.
    this.#child.stdin.on('error', () => {})
  }

  /** Runs one scenario and gives its result; throws what went wrong there, with the program's own trace. */
  async run(scenario: string): Promise<unknown> {
    const line = new Promise<string>((resolve) => this.#lines.once('line', resolve))
    this.#child.stdin.write(`${scenario}\n`)
    const gone = this.#ended.then((how) => {
      throw new Error(`the client ${how} before it answered ${scenario}\n${this.#stderr}`)
    })
    const { ok, error, result } = JSON.parse(await Promise.race([line, gone])) as Answer
    const trace = this.#stderr
    this.#stderr = ''
    if (!ok) throw new Error(`${scenario}: ${error}\n${trace}`)
    return result
  }

  /** Lets the program end by closing its input. */
  async stop(): Promise<void> {
    this.#child.stdin.end()
    await this.#ended
  }
}

interface Answer {
  readonly ok: boolean
  readonly error?: string
  readonly result?: unknown
}
