import { listPartsParameters } from '../s3/list-parameters.ts'
import { listPartsResult } from '../s3/xml/listings.ts'
import { targetOf } from './address.ts'
import { operation } from './operation.ts'
import { ownerOf } from './owner.ts'
import { xml } from './replies.ts'
import { uploadIdIn } from './upload-id.ts'

export const ListParts = operation({
  name: 'ListParts',
  route: { method: 'GET', target: 'object', query: ['uploadId'] },
  pool: 'light',
  effect: 'read',
  summary: 'Lists the parts stored so far.',
  input: (request) => ({
    target: targetOf(request),
    bucket: request.bucket ?? '',
    id: uploadIdIn(request),
    ...listPartsParameters(request.query),
  }),
  async run({ target, bucket, id, partNumberMarker, maxParts, encodingType }, { user, users, uploads }) {
    const page = await uploads.parts(user, target, id, { after: partNumberMarker, limit: maxParts })
    const { checksumAlgorithm, checksumType } = page.upload
    return xml(
      listPartsResult({
        bucket,
        key: target.key,
        uploadId: id,
        encodingType,
        initiator: ownerOf((await users.identify(page.upload.user)).uid, users),
        partNumberMarker,
        maxParts,
        truncated: page.truncated,
        checksumAlgorithm,
        checksumType,
        parts: page.parts,
      }),
    )
  },
})
