import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openEmbeddedMetadata } from './embedded.ts'
import { describeMetadata } from './metadata.contract.ts'

describeMetadata('embedded', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'metadata-'))
  return {
    open: () => openEmbeddedMetadata({ directory }),
    stop: () => rm(directory, { recursive: true }),
  }
})
