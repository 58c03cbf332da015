import { join } from 'node:path'
import { afterAll, beforeAll } from 'vitest'
import { type Gateway, startClientGateway } from './gateway.ts'
import { type PythonSet, python, pythonScripts } from './python.ts'
import { ScenarioProgram } from './scenarios.ts'
import { awsEnvironment } from './users.ts'

/** Runs one scenario of the client against the gateway of the test file. */
export type RunScenario = (scenario: string) => Promise<unknown>

/**
 * Starts, for the tests of the file that calls it, a gateway and the client program beside it; `command` sets the
 * client's tools up and gives the program and its arguments. A failure carries what the gateway wrote.
 */
export function scenarioClient(command: () => Promise<readonly string[]>): RunScenario {
  let gateway: Gateway | undefined
  let program: ScenarioProgram | undefined
  beforeAll(async () => {
    const [executable = '', ...args] = await command()
    gateway = await startClientGateway()
    const env = { ...awsEnvironment(gateway.endpoint), S3_ROOT_ENDPOINT: gateway.rootEndpoint }
    program = new ScenarioProgram(executable, args, env)
  })
  afterAll(async () => {
    await program?.stop()
    await gateway?.stop()
  })
  return async (scenario) => {
    try {
      return await program?.run(scenario)
    } catch (error) {
      throw new Error(`${(error as Error).message}\nthe gateway wrote:\n${gateway?.output().slice(-3000)}`)
    }
  }
}

/** A scenario client that is a script of `clients/python`. */
export function pythonClient(set: PythonSet, script: string): RunScenario {
  return scenarioClient(async () => [(await python(set)).interpreter, join(pythonScripts, script)])
}
