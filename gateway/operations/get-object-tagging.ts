import { taggingDocument } from '../s3/xml/documents.ts'
import { targetOf } from './address.ts'
import { operation } from './operation.ts'
import { xml } from './replies.ts'

export const GetObjectTagging = operation({
  name: 'GetObjectTagging',
  route: { method: 'GET', target: 'object', query: ['tagging'] },
  pool: 'light',
  effect: 'read',
  summary: 'Returns the tags of an object or folder; an empty set when there are none.',
  input: targetOf,
  run: async (target, { user, objects }) => xml(taggingDocument((await objects.head(user, target)).tags)),
})
