import { spawn } from 'node:child_process'

/** What a program wrote before it ended with status 0. */
export interface CommandOutput {
  readonly stdout: Buffer
  readonly stderr: string
}

/** A program that ended with another status than 0, or could not be started. */
export class CommandFailed extends Error {
  readonly status: number | string
  readonly stderr: string

  constructor(command: string, status: number | string, stdout: string, stderr: string) {
    super(`${command}\nended with ${status}\n${tail(stdout)}${tail(stderr)}`)
    this.name = 'CommandFailed'
    this.status = status
    this.stderr = stderr
  }
}

/**
 * Runs a program to its end. `env` is added to the environment of this process; `input` is written to its stdin.
 * Throws CommandFailed, with the end of what the program wrote, unless it ends with status 0.
 */
export function run(
  command: string,
  args: readonly string[],
  options: { readonly cwd?: string; readonly env?: Record<string, string>; readonly input?: string | Buffer } = {},
): Promise<CommandOutput> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd: options.cwd,
      env: { ...process.env, ...options.env },
      stdio: 'pipe',
    })
    const stdout: Buffer[] = []
    const stderr: Buffer[] = []
    child.stdout.on('data', (bytes: Buffer) => stdout.push(bytes))
    child.stderr.on('data', (bytes: Buffer) => stderr.push(bytes))
    const line = [command, ...args].join(' ')
    child.on('error', (error) => reject(new CommandFailed(line, error.message, '', '')))
    child.on('close', (code, signal) => {
      const output = { stdout: Buffer.concat(stdout), stderr: Buffer.concat(stderr).toString() }
      if (code === 0) resolve(output)
      else reject(new CommandFailed(line, code ?? signal ?? 'no status', output.stdout.toString(), output.stderr))
    })
    // A program may end without reading its input.
    child.stdin.on('error', () => {})
    child.stdin.end(options.input ?? '')
  })
}

/** Whether the program can be found and answers `args` with status 0. */
export async function answers(command: string, ...args: readonly string[]): Promise<boolean> {
  return run(command, args).then(
    () => true,
    () => false,
  )
}

function tail(text: string): string {
  return text.length > 6000 ? `...${text.slice(-6000)}` : text
}
