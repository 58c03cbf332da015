import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { cached } from './cache.ts'
import { run } from './command.ts'
import { needCommand } from './debian.ts'

const source = join(import.meta.dirname, '..', 'hadoop')

/**
 * The class path of Hadoop's file-system shell with S3A, from Maven's local repository. Asked of Maven once for each
 * content of the pom; a repository that was emptied since is filled again.
 */
export async function hadoopClassPath(): Promise<string> {
  await needCommand('java', '-version', ['openjdk-17-jdk-headless'])
  const pom = join(source, 'pom.xml')
  const directory = await cached('hadoop', [pom], async (scratch) => {
    await needCommand('mvn', '-version', ['maven'])
    const goal = ['-B', '-ntp', '-q', '-f', pom, 'dependency:build-classpath', '-DincludeScope=runtime']
    await run('mvn', [...goal, `-Dmdep.outputFile=${join(scratch, 'classpath')}`])
  })
  return readFile(join(directory, 'classpath'), 'utf8')
}
