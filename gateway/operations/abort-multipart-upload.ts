import { targetOf } from './address.ts'
import { operation } from './operation.ts'
import { noContent } from './replies.ts'
import { uploadIdIn } from './upload-id.ts'

export const AbortMultipartUpload = operation({
  name: 'AbortMultipartUpload',
  route: { method: 'DELETE', target: 'object', query: ['uploadId'] },
  pool: 'light',
  effect: 'write',
  summary: 'Ends a multipart upload and removes its parts.',
  input: (request) => ({ target: targetOf(request), id: uploadIdIn(request) }),
  async run({ target, id }, { user, uploads }) {
    await uploads.abort(user, target, id)
    return noContent
  },
})
