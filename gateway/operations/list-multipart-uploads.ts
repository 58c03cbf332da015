import type { Users } from '../identity/identity.ts'
import { listMultipartUploadsParameters } from '../s3/list-parameters.ts'
import type { Owner } from '../s3/xml/documents.ts'
import { listMultipartUploadsResult } from '../s3/xml/listings.ts'
import { bucketOf } from './address.ts'
import { operation } from './operation.ts'
import { ownerOf } from './owner.ts'
import { xml } from './replies.ts'

export const ListMultipartUploads = operation({
  name: 'ListMultipartUploads',
  route: { method: 'GET', target: 'bucket', query: ['uploads'] },
  pool: 'light',
  effect: 'read',
  summary: 'Lists the open multipart uploads of the acting user.',
  input: (request) => ({ ...bucketOf(request), ...listMultipartUploadsParameters(request.query) }),
  async run(input, { user, users, buckets, uploads }) {
    await buckets.head(user, input.path)
    const page = await uploads.list(user, {
      bucket: input.path,
      prefix: input.prefix,
      delimiter: input.delimiter,
      afterKey: input.keyMarker,
      afterId: input.uploadIdMarker,
      limit: input.maxUploads,
    })
    const initiators = await ownersOf(new Set(page.uploads.map((upload) => upload.user)), users)
    return xml(
      listMultipartUploadsResult({
        ...input,
        bucket: input.name,
        next: page.next,
        uploads: page.uploads.map((upload) => ({
          key: upload.key,
          uploadId: upload.id,
          initiatedMs: upload.initiatedMs,
          initiator: initiators.get(upload.user),
          checksumAlgorithm: upload.checksumAlgorithm,
          checksumType: upload.checksumType,
        })),
        commonPrefixes: page.commonPrefixes,
      }),
    )
  },
})

async function ownersOf(names: ReadonlySet<string>, users: Users): Promise<Map<string, Owner>> {
  const owners = new Map<string, Owner>()
  for (const name of names) owners.set(name, ownerOf((await users.identify(name)).uid, users))
  return owners
}
