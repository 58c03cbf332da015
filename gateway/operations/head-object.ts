import { targetOf } from './address.ts'
import { objectHead, objectQuestion } from './object-reply.ts'
import { operation } from './operation.ts'

export const HeadObject = operation({
  name: 'HeadObject',
  route: { method: 'HEAD', target: 'object' },
  pool: 'light',
  effect: 'read',
  summary: 'Returns the headers of an object, as GetObject does.',
  input: (request) => ({ target: targetOf(request), question: objectQuestion(request) }),
  async run({ target, question }, { request, user, objects }) {
    const { status, headers } = objectHead(request, question, await objects.head(user, target), true)
    return { status, headers }
  },
})
