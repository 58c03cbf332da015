import type { Upload } from '../metadata/metadata.ts'
import { S3Error } from '../s3/errors.ts'
import type { ObjectRecord } from '../s3/object-record.ts'
import type { Stores } from './stores.ts'

/**
 * The states of an upload while it is completed (design §6), each step a compare-and-set of its record:
 *
 *     open ──take──▶ completing ──assembled──▶ assembled ──completed──▶ completed
 *       ◀──giveBack──┘   ◀──────giveBack───────────┘
 *
 * - `completing` names the one job that may assemble, and its temporary file; the same job, run again after the death of
 *   its process, takes it over with another file.
 * - `assembled` names the one file that may be published, by a rename of that very name: a rename can happen only once,
 *   so an object is never published twice, and nobody assembles again.
 * - `giveBack` goes back through `completing`, so that a file is removed only when no record says it is to be published.
 *
 * Each resolves with the upload as it is then; with undefined when its state was another by now.
 */
export async function take(stores: Stores, upload: Upload, job: string, temp: string): Promise<Upload | undefined> {
  const taken = await move(stores, upload, { ...upload, state: 'completing', completion: job, temp })
  if (taken !== undefined && upload.temp !== undefined) await stores.namespace.collect([upload.temp])
  return taken
}

export async function assembled(
  stores: Stores,
  upload: Upload,
  file: { temp: string; id: string },
  record: ObjectRecord,
): Promise<Upload | undefined> {
  return move(stores, upload, {
    ...upload,
    state: 'assembled',
    assembled: { temp: file.temp, id: file.id, etag: record.etag },
    record,
    temp: undefined,
  })
}

export async function completed(stores: Stores, upload: Upload): Promise<Upload | undefined> {
  return move(stores, upload, { ...upload, state: 'completed', completedMs: Date.now() })
}

/** Opens an upload again whose completion was refused or failed, and removes its temporary file. */
export async function giveBack(stores: Stores, upload: Upload): Promise<Upload | undefined> {
  const { assembled: file, ...rest } = upload
  const back =
    file === undefined ? upload : await move(stores, upload, { ...rest, state: 'completing', temp: file.temp })
  if (back === undefined) return undefined
  if (back.temp !== undefined) await stores.namespace.collect([back.temp])
  const { completion: _completion, temp: _temp, ...open } = back
  return move(stores, back, { ...open, state: 'open', record: openRecord(back.record) })
}

/**
 * To be asked when a move did not come about: the upload was aborted, or the job runs elsewhere too (its process was
 * thought dead) and is further there. Whoever is not at the same stage may look again; at the same stage the two would
 * take the upload from each other for ever. Throws ServiceUnavailable.
 */
export async function refuseRivalry(stores: Stores, id: string): Promise<void> {
  const now = await stores.metadata.upload(id)
  if (now?.state !== 'completing') return
  throw new S3Error('ServiceUnavailable', 'Another process completes this upload. Send the request again.')
}

/** Whether the upload's completion is the one of this name; a job's name is that of its completion and a version. */
export function isSameCompletion(upload: Upload, name: string): boolean {
  return upload.completion?.slice(0, upload.completion.lastIndexOf('-')) === name
}

async function move(stores: Stores, from: Upload, to: Upload): Promise<Upload | undefined> {
  const moved = await stores.metadata.replaceUpload(from, to)
  return moved ? { ...to, version: from.version + 1 } : undefined
}

/** What the client gave when it opened the upload, without what belongs to the assembled content. */
function openRecord(record: ObjectRecord): ObjectRecord {
  const { checksums: _checksums, checksumType: _type, parts: _parts, ...given } = record
  return { ...given, etag: '' }
}
