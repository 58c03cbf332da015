import { join } from 'node:path'
import { CommandFailed } from './command.ts'
import { hadoopClassPath } from './java.ts'
import { ScenarioProgram } from './scenarios.ts'
import { user } from './users.ts'

/** `hadoop fs` for many commands in one JVM, see `clients/hadoop/FsShellSession.java`. */
export interface HadoopShell {
  /** Runs `hadoop fs ...args` and gives what it wrote; throws CommandFailed unless it ends with status 0. */
  run(...args: readonly string[]): Promise<Buffer>
  stop(): Promise<void>
}

/** Starts a shell whose `s3a:` paths are at the endpoint, with parts of 5 MiB. */
export async function startHadoopShell(endpoint: string): Promise<HadoopShell> {
  const properties = {
    'fs.s3a.endpoint': endpoint,
    'fs.s3a.endpoint.region': 'us-east-1',
    'fs.s3a.path.style.access': 'true',
    'fs.s3a.connection.ssl.enabled': 'false',
    'fs.s3a.access.key': user,
    'fs.s3a.secret.key': 'unused',
    'fs.s3a.aws.credentials.provider': 'org.apache.hadoop.fs.s3a.SimpleAWSCredentialsProvider',
    'fs.s3a.multipart.size': '5M',
    'fs.s3a.multipart.threshold': '5M',
    'fs.s3a.attempts.maximum': '1',
    'fs.s3a.retry.limit': '1',
  }
  const session = join(import.meta.dirname, '..', 'hadoop', 'FsShellSession.java')
  const settings = Object.entries(properties).map(([name, value]) => `${name}=${value}`)
  const log = '-Dorg.slf4j.simpleLogger.defaultLogLevel=error'
  const args = ['-cp', await hadoopClassPath(), '-XX:TieredStopAtLevel=1', log, session, ...settings]
  const program = new ScenarioProgram('java', args, {})
  return {
    async run(...command) {
      const answer = (await program.run(command.join('\t'))) as { status: number; stdout: string; stderr: string }
      const stdout = Buffer.from(answer.stdout, 'base64')
      const stderr = Buffer.from(answer.stderr, 'base64').toString()
      if (answer.status === 0) return stdout
      throw new CommandFailed(`hadoop fs ${command.join(' ')}`, answer.status, stdout.toString(), stderr)
    },
    stop: () => program.stop(),
  }
}
