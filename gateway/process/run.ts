import { parseCommandLine, usage } from '../config/command-line.ts'
import { loadConfig } from '../config/load.ts'
import { printConfig } from '../config/print-config.ts'
import { runGateway } from './gateway.ts'
import { type WorkerStart, workerVariable } from './messages.ts'

const wrongUse = 2

/** Runs what the command line asks for; resolves with the exit code. A worker of the cluster goes on after that. */
export async function run(): Promise<number> {
  const start = process.env[workerVariable]
  if (start !== undefined) {
    const { runWorker } = await import('./worker.ts')
    await runWorker(JSON.parse(start) as WorkerStart)
    return 0
  }
  let commandLine: ReturnType<typeof parseCommandLine>
  try {
    commandLine = parseCommandLine(process.argv.slice(2))
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n\n${usage}`)
    return wrongUse
  }
  if (commandLine.help) {
    process.stdout.write(usage)
    return 0
  }
  const sources = { file: commandLine.config, environment: process.env, sets: commandLine.sets }
  const loaded = loadConfig(sources)
  if (loaded.mistakes.length > 0) {
    process.stderr.write(`The configuration is wrong:\n${loaded.mistakes.map((each) => `  ${each}\n`).join('')}`)
    return wrongUse
  }
  if (commandLine.printConfig) {
    process.stdout.write(printConfig(loaded.settings))
    return 0
  }
  try {
    await runGateway(loaded, sources, commandLine)
    return 0
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n`)
    return 1
  }
}
