import { targetOf } from './address.ts'
import { operation } from './operation.ts'
import { noContent } from './replies.ts'

export const DeleteObjectTagging = operation({
  name: 'DeleteObjectTagging',
  route: { method: 'DELETE', target: 'object', query: ['tagging'] },
  pool: 'light',
  effect: 'write',
  summary: 'Removes the tags of an object or folder.',
  input: targetOf,
  async run(target, { user, objects }) {
    await objects.putTags(user, target, [])
    return noContent
  },
})
