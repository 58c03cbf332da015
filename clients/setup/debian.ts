import { answers, run } from './command.ts'
import { withProgress } from './progress.ts'

let listsAreFresh = false

/**
 * Makes sure that `command` answers `probe` with status 0, installing the Debian packages that bring it when it does
 * not. Throws when the machine is not a Debian or its packages cannot be had.
 */
export async function needCommand(
  command: string,
  probe: readonly string[],
  packages: readonly string[],
): Promise<void> {
  if (await answers(command, ...probe)) return
  await withProgress(`installing ${packages.join(' ')}`, async () => {
    const env = { DEBIAN_FRONTEND: 'noninteractive' }
    if (!listsAreFresh) await run('apt-get', ['update', '-qq'], { env })
    listsAreFresh = true
    const patient = ['-o', 'DPkg::Lock::Timeout=300']
    await run('apt-get', [...patient, 'install', '-y', '-qq', '--no-install-recommends', ...packages], { env })
  })
  if (!(await answers(command, ...probe))) throw new Error(`${command} is needed and ${packages} did not bring it`)
}
