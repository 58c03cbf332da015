import { statfs } from 'node:fs/promises'
import { ownProcessId, type ProcessId } from '../embedded/process-identity.ts'
import { Sessions } from '../embedded/sessions.ts'
import { type EmbeddedStore, openEmbeddedStore } from '../embedded/store.ts'
import type { FileId } from '../namespace/namespace.ts'
import { EmbeddedExpiry } from './embedded-expiry.ts'
import { EmbeddedIntents } from './embedded-intents.ts'
import { EmbeddedObjects } from './embedded-objects.ts'
import { EmbeddedUploads } from './embedded-uploads.ts'
import type { Intent, Metadata } from './metadata.ts'

/** Records of replaced and removed files stay so long for readers that still hold the file (design §4). */
const graceMs = 600_000
const defaultWaitMs = 30_000
/** NFS and CIFS, by statfs(2): shared mappings and locks are not reliable there. */
const networkFileSystems: ReadonlyMap<number, string> = new Map([
  [0x6969, 'NFS'],
  [0xff534d42, 'CIFS'],
  [0xfe534d42, 'SMB2'],
])

/**
 * Metadata on this host's disk (design §5), for `make start` and single-node use. Several processes of one host may
 * open the same directory; any may be killed at any instruction.
 * Throws an Error with a sentence for the operator when the directory cannot be used.
 */
export async function openEmbeddedMetadata(options: { directory: string; processId?: ProcessId }): Promise<Metadata> {
  const store = await openEmbeddedStore(options.directory)
  const sessions = new Sessions(store)
  await sessions.open(options.processId ?? ownProcessId)
  const expiry = new EmbeddedExpiry(store, graceMs)
  const objects = new EmbeddedObjects(store, expiry)
  const intents = new EmbeddedIntents(store, sessions)
  const uploads = new EmbeddedUploads(store, expiry)

  return {
    object: async (id) => objects.get(id),
    records: async (ids) => objects.records(ids),
    putTags: (id, tags) => objects.putTags(id, tags),
    putRecord: (id, record, tags) => store.write(() => objects.put(id, record, tags, false)),
    expire: (ids, afterMs) => objects.expire(ids, Date.now() + afterMs),

    async begin({ path, exclusive, temp, write, durable, waitMs = defaultWaitMs }) {
      const key = await intents.begin(path, exclusive, temp, waitMs, () => {
        if (write) objects.put(write.id, write.record, write.tags, true)
      })
      const settle = (expired: FileId | undefined) => {
        intents.settle(key, temp)
        if (expired !== undefined) objects.expireLater(expired)
      }
      if (durable) {
        await store.flush().catch((error) => {
          // The caller never gets the intent, so nobody else would end it.
          settle(write?.id)
          throw error
        })
      }
      return { path, temp, settle: async (expired) => settle(expired) }
    },

    abandoned: async () =>
      intents.abandoned().map(
        (intent): Intent => ({
          path: intent.path,
          temp: intent.temp,
          async settle(expired) {
            await intents.settleAbandoned(intent)
            if (expired !== undefined) objects.expireLater(expired)
          },
        }),
      ),

    markDeleted: (folder, deleted) => objects.markDeleted(folder, deleted),
    isMarkedDeleted: async (folder) => objects.isMarkedDeleted(folder),

    createUpload: (upload) => uploads.create(upload),
    upload: async (id) => uploads.get(id),
    uploads: async (query) => uploads.list(query),
    replaceUpload: (expected, next) => uploads.replace(expected, next),

    flush: () => store.flush(),
    check: () => findProblems(store),
    async close() {
      expiry.close()
      sessions.close()
      await store.close()
    },
  }
}

async function findProblems(store: EmbeddedStore): Promise<string[]> {
  const { directory } = store
  const problems: string[] = []
  try {
    await store.write(() => {})
    await store.flush()
  } catch (error) {
    const { cause } = error as Error
    problems.push(`The metadata store in ${directory} cannot be written: ${(cause as Error).message}.`)
  }
  const { type, bavail, blocks, bsize } = await statfs(directory)
  const network = networkFileSystems.get(type)
  if (network) {
    problems.push(
      `The metadata directory ${directory} is on ${network}, where its locks are not reliable. ` +
        'Name a directory on a local disk in svc.proxy.metadata.directory.',
    )
  }
  if (bavail < blocks * 0.02 || bavail * bsize < 64 * 2 ** 20) {
    problems.push(
      `The disk of the metadata directory ${directory} has ${Math.floor((bavail * bsize) / 2 ** 20)} MiB left. Free some space.`,
    )
  }
  return problems
}
