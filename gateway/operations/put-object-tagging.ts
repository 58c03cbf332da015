import { readTagging, taggingMaxBytes } from '../s3/tagging.ts'
import { targetOf } from './address.ts'
import { operation } from './operation.ts'
import { readDocument } from './read-document.ts'
import { done } from './replies.ts'

export const PutObjectTagging = operation({
  name: 'PutObjectTagging',
  route: { method: 'PUT', target: 'object', query: ['tagging'] },
  pool: 'light',
  effect: 'write',
  summary: 'Replaces the tags of an object or folder.',
  input: targetOf,
  async run(target, { request, config, user, objects }) {
    const body = await readDocument(request, taggingMaxBytes)
    await objects.putTags(user, target, readTagging(body, config.taggingRestrictions))
    return done()
  },
})
