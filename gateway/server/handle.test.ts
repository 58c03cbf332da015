import { expect, it } from 'vitest'
import type { Reply } from '../s3/reply.ts'
import type { Exchange } from './exchange.ts'
import { configWith, fakeServices } from './fake-services.fixture.ts'
import { handle } from './handle.ts'
import { fake } from './running-server.fixture.ts'

const pools = 'svc.proxy.s3.v2.async'

it.each([
  ['the bound on requests', { 'svc.proxy.web.max.requests': 1 }],
  [
    'the pools',
    {
      [`${pools}.processing.enabled`]: true,
      [`${pools}.light.pool.core.thread.number`]: 1,
      [`${pools}.light.pool.maximum.thread.number`]: 1,
      [`${pools}.light.pool.queue.size`]: 0,
    },
  ],
])('a request that %s refuses gives nobody a uid', async (_, properties) => {
  let finish = (_reply: Reply) => {}
  const get = fake({ method: 'GET', target: 'object' }, 'GetObject', () => new Promise((resolve) => (finish = resolve)))
  const services = fakeServices(configWith(properties), [get])
  const identified: (string | undefined)[] = []
  const users: typeof services.users = {
    ...services.users,
    identify(name) {
      identified.push(name)
      return services.users.identify(name)
    },
  }
  const ask = (user: string) => handle(exchangeOf(user), { ...services, users })

  const first = ask('alice')
  await expect(ask('mallory')).rejects.toMatchObject({ code: 'SlowDown' })
  finish({ status: 200, headers: {} })
  expect((await first).status).toBe(200)
  expect(identified).toEqual(['alice'])
})

/** As much of an exchange as is looked at here. */
function exchangeOf(user: string): Exchange {
  return {
    method: 'GET',
    target: 'object',
    bucket: 'b',
    key: 'k',
    query: new Map(),
    headers: { authorization: `AWS4-HMAC-SHA256 Credential=${user}/20261121/us-east-1/s3/aws4_request` },
    body: {},
  } as unknown as Exchange
}
