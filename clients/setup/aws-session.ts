import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { CommandFailed, type CommandOutput } from './command.ts'
import { python, pythonScripts } from './python.ts'
import { ScenarioProgram } from './scenarios.ts'

/** The AWS CLI for many commands, see `clients/python/aws_session.py`. */
export interface AwsSession {
  /** Runs `aws ...args`; throws CommandFailed unless it ends with status 0. */
  aws(args: readonly string[], input?: Buffer): Promise<CommandOutput>
  stop(): Promise<void>
}

/** Starts a session whose commands see `env`; their input and output pass through files in `directory`. */
export async function startAwsSession(directory: string, env: Record<string, string>): Promise<AwsSession> {
  const { interpreter } = await python('clients')
  const program = new ScenarioProgram(interpreter, [join(pythonScripts, 'aws_session.py')], { ...env, AWS_PAGER: '' })
  const stdin = join(directory, 'aws-stdin')
  const stdout = join(directory, 'aws-stdout')
  const stderr = join(directory, 'aws-stderr')
  return {
    async aws(args, input = Buffer.alloc(0)) {
      await Promise.all([writeFile(stdin, input), writeFile(stdout, ''), writeFile(stderr, '')])
      const status = (await program.run(JSON.stringify({ args, stdin, stdout, stderr }))) as number
      const output = { stdout: await readFile(stdout), stderr: await readFile(stderr, 'utf8') }
      if (status === 0) return output
      throw new CommandFailed(`aws ${args.join(' ')}`, status, output.stdout.toString(), output.stderr)
    },
    stop: () => program.stop(),
  }
}
