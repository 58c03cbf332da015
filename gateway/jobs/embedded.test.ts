import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openEmbeddedJobs } from './embedded.ts'
import { describeJobs } from './jobs.contract.ts'

describeJobs('embedded', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'jobs-'))
  return {
    open: () => openEmbeddedJobs({ directory }),
    stop: () => rm(directory, { recursive: true }),
  }
})
