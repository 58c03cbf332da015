import type { ReadObject } from '../objects/objects.ts'
import type { Range } from '../s3/range.ts'
import type { ReplyBody } from '../s3/reply.ts'
import { targetOf } from './address.ts'
import { objectHead, objectQuestion } from './object-reply.ts'
import { operation } from './operation.ts'

export const GetObject = operation({
  name: 'GetObject',
  route: { method: 'GET', target: 'object' },
  pool: 'heavy',
  effect: 'read',
  summary: 'Returns an object, or a range or part of it, under conditions.',
  input: (request) => ({ target: targetOf(request), question: objectQuestion(request) }),
  async run({ target, question }, { request, config, user, objects }) {
    const object = await objects.read(user, target, { inlineBytes: config.inlineSize })
    let sent = false
    try {
      const { status, headers, range } = objectHead(request, question, object, false)
      if (status === 304) return { status, headers }
      sent = true
      return { status, headers, body: bodyOf(object, range) }
    } finally {
      if (!sent) object.file?.close()
    }
  },
})

/** A folder has no bytes. */
function bodyOf({ bytes, file }: ReadObject, range: Range): ReplyBody {
  if (file !== undefined) return { file, start: range.start, length: range.length }
  if (bytes === undefined || range.length === bytes.length) return bytes ?? ''
  return bytes.subarray(range.start, range.start + range.length)
}
