import { S3Error } from './errors.ts'
import { subresources } from './unsupported.ts'

/** How an operation is recognised. The most demanding route that holds wins, so the table's order does not matter. */
export interface Route {
  readonly method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE'
  readonly target: 'service' | 'bucket' | 'object'
  /** Query parameters that must be there: `uploads`, or with a value `list-type=2`. */
  readonly query?: readonly string[]
  /** A header that must be there, in lower case. */
  readonly header?: string
}

/** What of a request decides which operation it is. */
export interface RoutedRequest {
  readonly method: string
  readonly target: Route['target']
  readonly query: ReadonlyMap<string, string>
  readonly headers: Readonly<Record<string, string | undefined>>
}

interface Routed {
  readonly name: string
  readonly route: Route
}

interface Compiled<T> {
  readonly operation: T
  readonly query: readonly { readonly name: string; readonly value: string | undefined }[]
  readonly header: string | undefined
}

/**
 * Makes the function that finds the operation of a request. It throws MethodNotAllowed (405 with Allow) for a method
 * that a resource or sub-resource does not have, NotImplemented for sub-resources that only S3 has, InvalidArgument
 * for half of a sub-resource (`partNumber` without `uploadId`) or two of them, and for versions, which do not exist.
 * Query names that S3 does not know are ignored.
 */
export function compileRouter<T extends Routed>(operations: readonly T[]): (request: RoutedRequest) => T {
  const tables = {
    service: compile(operations, 'service'),
    bucket: compile(operations, 'bucket'),
    object: compile(operations, 'object'),
  }
  return (request) => {
    const table = tables[request.target]
    const found = table.get(request.method)?.find((route) => holds(route, request))
    if (found !== undefined && request.query.size === 0) return found.operation
    if (found === undefined) throw refusal(operations, request)
    checkQuery(operations, found, request)
    return found.operation
  }
}

function compile<T extends Routed>(operations: readonly T[], target: Route['target']): Map<string, Compiled<T>[]> {
  const byMethod = new Map<string, Compiled<T>[]>()
  for (const operation of operations) {
    const { route } = operation
    if (route.target !== target) continue
    const list = byMethod.get(route.method) ?? []
    list.push({ operation, query: (route.query ?? []).map(demand), header: route.header })
    byMethod.set(route.method, list)
  }
  for (const list of byMethod.values()) list.sort((a, b) => demands(b.operation.route) - demands(a.operation.route))
  return byMethod
}

function demand(query: string): { name: string; value: string | undefined } {
  const equals = query.indexOf('=')
  return equals < 0
    ? { name: query, value: undefined }
    : { name: query.slice(0, equals), value: query.slice(equals + 1) }
}

/** A sub-resource says what a request is about, other parameters and headers only how: it outweighs one of them. */
function demands(route: Route): number {
  let sum = route.header === undefined ? 0 : 1
  for (const query of route.query ?? []) sum += subresources.has(query) ? 2 : 1
  return sum
}

function holds<T>(route: Compiled<T>, request: RoutedRequest): boolean {
  if (route.header !== undefined && request.headers[route.header] === undefined) return false
  for (const { name, value } of route.query) {
    const sent = request.query.get(name)
    if (sent === undefined || (value !== undefined && sent !== value)) return false
  }
  return true
}

/** A sub-resource that the found operation does not ask for must not fall through to a listing or a PUT. */
function checkQuery<T extends Routed>(operations: readonly T[], found: Compiled<T>, request: RoutedRequest): void {
  for (const name of request.query.keys()) {
    if (found.query.some((asked) => asked.name === name)) continue
    if (name === 'versionId' && request.target === 'object') refuseVersion(request.query.get(name) ?? '')
    if (subresources.has(name)) throw subresourceRefusal(operations, found, request, name)
    const half = operations.some(({ route }) => sameResource(route, request) && asksFor(route, name))
    if (half && found.operation.route.method !== 'GET' && found.operation.route.method !== 'HEAD') {
      throw new S3Error(
        'InvalidArgument',
        `The query parameter ${name} means nothing alone here. Send its companions too.`,
      )
    }
  }
}

function subresourceRefusal<T extends Routed>(
  operations: readonly T[],
  found: Compiled<T>,
  request: RoutedRequest,
  name: string,
): S3Error {
  const methods = operations
    .filter(({ route }) => route.target === request.target && asksFor(route, name))
    .map(({ route }) => route.method)
  if (methods.length === 0 || subresources.get(name)?.has(request.method)) return notImplemented(name)
  if (methods.includes(found.operation.route.method)) {
    return new S3Error(
      'InvalidArgument',
      `The query parameter ${name} does not go with the others. Send all or one of them.`,
    )
  }
  return methodNotAllowed(request, methods)
}

function refusal(operations: readonly Routed[], request: RoutedRequest): S3Error {
  for (const name of request.query.keys()) {
    const methods = operations
      .filter(({ route }) => route.target === request.target && asksFor(route, name))
      .map(({ route }) => route.method)
    if (!subresources.has(name)) continue
    if (methods.length === 0 || subresources.get(name)?.has(request.method)) return notImplemented(name)
    return methodNotAllowed(request, methods)
  }
  // A form from a browser (POST object), which the specification lists as unsupported.
  if (request.method === 'POST' && request.headers['content-type']?.toLowerCase().startsWith('multipart/form-data')) {
    return new S3Error('NotImplemented', 'Uploads by browser form (POST object) are not implemented. Use PutObject.')
  }
  const plain = operations.filter(({ route }) => route.target === request.target && demands(route) === 0)
  return methodNotAllowed(
    request,
    plain.map(({ route }) => route.method),
  )
}

function sameResource(route: Route, request: RoutedRequest): boolean {
  return route.target === request.target && route.method === request.method
}

function asksFor(route: Route, name: string): boolean {
  return route.query?.some((query) => query === name) ?? false
}

function notImplemented(name: string): S3Error {
  return new S3Error('NotImplemented', `The sub-resource ${name} is not implemented with this method.`)
}

function methodNotAllowed(request: RoutedRequest, methods: readonly string[]): S3Error {
  const allow = [...new Set(methods)].sort().join(', ')
  return new S3Error('MethodNotAllowed', undefined, {
    headers: { Allow: allow },
    details: { Method: request.method, ResourceType: request.target.toUpperCase() },
  })
}

function refuseVersion(versionId: string): void {
  if (versionId === '' || versionId === 'null') return
  throw new S3Error('InvalidArgument', 'Invalid version id specified. There are no versions here: leave versionId out.')
}

/**
 * Pairs of operations that are equally demanding and can both hold for one request, so that their order would decide:
 * a mistake in the table. `[name, name]` each.
 */
export function overlaps(operations: readonly Routed[]): [string, string][] {
  const pairs: [string, string][] = []
  for (const [index, a] of operations.entries()) {
    for (const b of operations.slice(index + 1)) {
      if (a.route.method !== b.route.method || a.route.target !== b.route.target) continue
      if (demands(a.route) === demands(b.route) && !exclusive(a.route, b.route)) pairs.push([a.name, b.name])
    }
  }
  return pairs
}

/** Two routes that want different values of one parameter, or different sub-resources, which never go together. */
function exclusive(a: Route, b: Route): boolean {
  const wanted = (a.query ?? []).map(demand)
  for (const { name, value } of (b.query ?? []).map(demand)) {
    const other = wanted.find((asked) => asked.name === name)
    if (other !== undefined && other.value !== undefined && value !== undefined && other.value !== value) return true
  }
  return hasForeignSubresource(a, b) && hasForeignSubresource(b, a)
}

function hasForeignSubresource(a: Route, b: Route): boolean {
  return a.query?.some((query) => subresources.has(query) && !asksFor(b, query)) ?? false
}
