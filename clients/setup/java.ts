import { join } from 'node:path'
import { cached } from './cache.ts'
import { run } from './command.ts'
import { needCommand } from './debian.ts'

const pom = join(import.meta.dirname, '..', 'hadoop', 'pom.xml')

/** The class path of Hadoop's file-system shell with S3A: the jars of `clients/hadoop/pom.xml`, fetched by Maven. */
export async function hadoopClassPath(): Promise<string> {
  // The compiler too, because the session is started from its source.
  await needCommand('javac', ['-version'], ['openjdk-17-jdk-headless'])
  const directory = await cached('hadoop-jars', [pom], async (scratch) => {
    await needCommand('mvn', ['-version'], ['maven'])
    const goal = ['-B', '-ntp', '-q', '-f', pom, 'dependency:copy-dependencies', '-DincludeScope=runtime']
    await run('mvn', [...goal, `-DoutputDirectory=${scratch}`])
  })
  return join(directory, '*')
}
