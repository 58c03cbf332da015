import { loadConfig } from '../config/load.ts'
import type { Config } from '../config/properties.ts'
import { createAdmission } from '../flow/admission.ts'
import type { Identity } from '../identity/identity.ts'
import type { Operation } from '../operations/operation.ts'
import { S3Error } from '../s3/errors.ts'
import { compileRouter } from '../s3/router.ts'
import type { Services } from './handle.ts'

/** The configuration with some properties set. Throws when a value is wrong. */
export function configWith(properties: Readonly<Record<string, string | number | boolean>>): Config {
  const { config, mistakes } = loadConfig({
    sets: Object.entries(properties).map(([name, value]) => `${name}=${value}`),
  })
  if (mistakes.length > 0) throw new Error(mistakes.join('\n'))
  return config
}

const processUser: Identity = { name: 'root', uid: 0, gid: 0, groups: [], authenticated: false, superuser: true }

/** Services that answer with the given operations only and have nothing below them. */
export function fakeServices(config: Config, operations: readonly Operation<unknown>[]): Services {
  const nothing = new Proxy({}, { get: (_, name) => refuse(String(name)) }) as never
  return {
    config,
    users: {
      identify: async (name) =>
        name === undefined ? processUser : { ...processUser, name, authenticated: true, superuser: false },
      nameOf: String,
    },
    buckets: nothing,
    objects: nothing,
    uploads: nothing,
    admission: createAdmission(config),
    route: compileRouter(operations),
  }
}

function refuse(name: string): never {
  throw new S3Error('InternalError', `nothing here has ${name}`)
}
