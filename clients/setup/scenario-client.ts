import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll } from 'vitest'
import { selfSigned } from './certificate.ts'
import { type Gateway, startClientGateway } from './gateway.ts'
import { type PythonSet, python, pythonScripts } from './python.ts'
import { ScenarioProgram } from './scenarios.ts'
import { awsEnvironment } from './users.ts'

/** Runs one scenario of the client against the gateway of the test file. */
export type RunScenario = (scenario: string) => Promise<unknown>

/**
 * Starts, for the tests of the file that calls it, a gateway and the client program beside it; `command` sets the
 * client's tools up and gives the program and its arguments. With `tls` the gateway speaks HTTPS only, and the
 * client is told to trust its certificate. A failure carries what the gateway wrote.
 */
export function scenarioClient(command: () => Promise<readonly string[]>, { tls = false } = {}): RunScenario {
  const cleanUp: (() => Promise<unknown>)[] = []
  let gateway: Gateway | undefined
  let program: ScenarioProgram | undefined

  beforeAll(async () => {
    const [executable = '', ...args] = await command()
    const { properties, environment } = tls ? await secured(cleanUp) : { properties: {}, environment: {} }
    const started = await startClientGateway(properties)
    cleanUp.push(() => started.stop())
    gateway = started
    const address = { ...awsEnvironment(started.endpoint), S3_ROOT_ENDPOINT: started.rootEndpoint }
    const client = new ScenarioProgram(executable, args, { ...address, ...environment })
    cleanUp.push(() => client.stop())
    program = client
  })
  afterAll(async () => {
    for (const step of cleanUp.reverse()) await step()
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
export function pythonClient(set: PythonSet, script: string, options: { tls?: boolean } = {}): RunScenario {
  return scenarioClient(async () => [(await python(set)).interpreter, join(pythonScripts, script)], options)
}

async function secured(
  cleanUp: (() => Promise<unknown>)[],
): Promise<Record<'properties' | 'environment', Record<string, string>>> {
  const { directory, certificate, key } = await selfSigned()
  cleanUp.push(() => rm(directory, { recursive: true }))
  return {
    properties: { 'svc.proxy.web.tls.certificate.file': certificate, 'svc.proxy.web.tls.key.file': key },
    // The first is botocore's, the second OpenSSL's and Go's.
    environment: { AWS_CA_BUNDLE: certificate, SSL_CERT_FILE: certificate },
  }
}
