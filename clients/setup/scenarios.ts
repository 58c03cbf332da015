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
  #stderr = ''

  constructor(command: string, args: readonly string[], env: Record<string, string>) {
    this.#child = spawn(command, args, { env: { ...process.env, ...env }, stdio: ['pipe', 'pipe', 'pipe'] })
    this.#lines = createInterface(this.#child.stdout)
    this.#child.stderr.on('data', (bytes: Buffer) => {
      this.#stderr = (this.#stderr + bytes.toString()).slice(-6000)
    })
    this.#child.stdin.on('error', () => {})
  }

  /** Runs one scenario and gives its result; throws what went wrong there, with the program's own trace. */
  async run(scenario: string): Promise<unknown> {
    this.#stderr = ''
    const answer = await new Promise<string>((resolve, reject) => {
      const ended = (): void => reject(new Error(`the client ended in ${scenario}\n${this.#stderr}`))
      if (this.#child.exitCode !== null) return ended()
      this.#lines.once('close', ended)
      this.#child.once('error', reject)
      this.#lines.once('line', (line) => {
        this.#lines.off('close', ended)
        this.#child.off('error', reject)
        resolve(line)
      })
      this.#child.stdin.write(`${scenario}\n`)
    })
    const { ok, error, result } = JSON.parse(answer) as { ok: boolean; error?: string; result?: unknown }
    if (!ok) throw new Error(`${scenario}: ${error}\n${this.#stderr}`)
    return result
  }

  /** Lets the program end by closing its input. */
  async stop(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    const closed = new Promise((resolve) => this.#child.once('close', resolve))
    this.#child.stdin.end()
    await closed
  }
}
