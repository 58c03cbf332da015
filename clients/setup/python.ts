import { join } from 'node:path'
import { cached } from './cache.ts'
import { answers, run } from './command.ts'
import { needCommand } from './debian.ts'

export const pythonScripts = join(import.meta.dirname, '..', 'python')

/** The sets of Python packages: s3fs holds botocore to another version than boto3 does, so it has one of its own. */
export type PythonSet = 'clients' | 's3fs'

/**
 * The interpreter of a virtual environment with the packages of `clients/python/requirements-<set>.txt`, all of them
 * wheels at pinned versions. Programs of the environment are started through it (`python bin/s3cmd`).
 */
export async function python(set: PythonSet): Promise<{ readonly interpreter: string; readonly bin: string }> {
  const requirements = join(pythonScripts, `requirements-${set}.txt`)
  const directory = await cached(`python-${set}`, [requirements], async (scratch) => {
    await run(await systemPython(), ['-m', 'venv', scratch])
    const pip = [
      '-m',
      'pip',
      'install',
      '--quiet',
      '--only-binary=:all:',
      '--no-compile',
      '--requirement',
      requirements,
    ]
    await run(join(scratch, 'bin', 'python'), pip)
  })
  return { interpreter: join(directory, 'bin', 'python'), bin: join(directory, 'bin') }
}

/** A Python of 3.11 or newer that can make virtual environments. */
export async function systemPython(): Promise<string> {
  const probe = ['-c', 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))']
  for (const command of ['python3.11', 'python3']) if (await answers(command, ...probe)) return command
  await needCommand('/usr/bin/python3', probe, ['python3', 'python3-venv'])
  return '/usr/bin/python3'
}
