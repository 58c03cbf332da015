import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { withProgress } from './progress.ts'

/**
 * A directory in the cache whose name carries the digest of `files`; built once, found by every later run, so take
 * another name when `build` makes something else of the same files. `build`
 * fills a directory beside it that is then renamed, so that a run that was broken off leaves nothing half made and
 * two runs at once do no harm.
 */
export async function cached(
  name: string,
  files: readonly string[],
  build: (directory: string) => Promise<void>,
): Promise<string> {
  const digest = createHash('sha256')
  for (const file of files) digest.update(await readFile(file)).update('\0')
  const cache = join(homedir(), '.cache', 's3proxy', 'clients')
  const directory = join(cache, `${name}-${digest.digest('hex').slice(0, 16)}`)
  if (existsSync(directory)) return directory

  await mkdir(cache, { recursive: true })
  const scratch = await mkdtemp(`${directory}.`)
  try {
    await withProgress(`setting up ${name}`, () => build(scratch))
    await rename(scratch, directory).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error
    })
  } finally {
    await rm(scratch, { recursive: true, force: true })
  }
  return directory
}
