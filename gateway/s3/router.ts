import { asksFor, type Demand, demandsOf, type Route, type RoutedRequest, weightOf } from './route.ts'
import { missingRoute, strangeParameter } from './route-refusal.ts'
import { subresources } from './unsupported.ts'

export type { Route, RoutedRequest }

interface Routed {
  readonly name: string
  readonly route: Route
}

interface Compiled<T> {
  readonly operation: T
  readonly query: readonly Demand[]
  readonly header: string | undefined
  /** Query names that may not come along: they make the request one about something else. */
  readonly strangers: ReadonlySet<string>
}

/** The routes of one method on one kind of resource, the most demanding first. */
type Compilation<T> = ReadonlyMap<string, readonly Compiled<T>[]>

/**
 * Makes the function that finds the operation of a request. It throws MethodNotAllowed (405 with Allow) for a method
 * that a resource or sub-resource does not have, NotImplemented for sub-resources that only S3 has, InvalidArgument
 * for half of a sub-resource (`partNumber` without `uploadId`) or two of them, and for versions, which do not exist.
 * Query names that S3 does not know are ignored.
 */
export function compileRouter<T extends Routed>(operations: readonly T[]): (request: RoutedRequest) => T {
  const routes = operations.map(({ route }) => route)
  const tables = {
    service: compile(operations, 'service'),
    bucket: compile(operations, 'bucket'),
    object: compile(operations, 'object'),
  }
  return (request) => {
    const found = find(tables[request.target].get(request.method), request)
    if (found === undefined) throw missingRoute(routes, request)
    if (request.query.size > found.query.length) {
      for (const name of request.query.keys()) {
        const error = found.strangers.has(name) ? strangeParameter(routes, request, name) : undefined
        if (error !== undefined) throw error
      }
    }
    return found.operation
  }
}

function compile<T extends Routed>(operations: readonly T[], target: Route['target']): Compilation<T> {
  const here = operations
    .filter(({ route }) => route.target === target)
    .sort((a, b) => weightOf(b.route) - weightOf(a.route))
  return Map.groupBy(
    here.map((operation) => compileOne(operation, here)),
    ({ operation }) => operation.route.method,
  )
}

function compileOne<T extends Routed>(operation: T, here: readonly T[]): Compiled<T> {
  const { route } = operation
  const siblings = here.map((other) => other.route).filter(({ method }) => method === route.method)
  return { operation, query: demandsOf(route), header: route.header, strangers: strangersOf(route, siblings) }
}

/**
 * Sub-resources that the route does not ask for; for a write also what another one asks for (`partNumber` without
 * `uploadId`), lest half a request replaces the object; for objects a version.
 */
function strangersOf(route: Route, siblings: readonly Route[]): Set<string> {
  const names = new Set(subresources.keys())
  if (route.method !== 'GET' && route.method !== 'HEAD') {
    for (const { name } of siblings.flatMap(demandsOf)) names.add(name)
  }
  for (const { name } of demandsOf(route)) names.delete(name)
  if (route.target === 'object') names.add('versionId')
  return names
}

function find<T>(routes: readonly Compiled<T>[] | undefined, request: RoutedRequest): Compiled<T> | undefined {
  if (routes === undefined) return undefined
  const { size } = request.query
  for (const route of routes) if (route.query.length <= size && holds(route, request)) return route
  return undefined
}

function holds<T>(route: Compiled<T>, request: RoutedRequest): boolean {
  if (route.header !== undefined && request.headers[route.header] === undefined) return false
  for (const { name, value } of route.query) {
    const sent = request.query.get(name)
    if (sent === undefined || (value !== undefined && sent !== value)) return false
  }
  return true
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
      if (weightOf(a.route) === weightOf(b.route) && !exclude(a.route, b.route)) pairs.push([a.name, b.name])
    }
  }
  return pairs
}

/** Two routes that want different values of one parameter, or different sub-resources, which never go together. */
function exclude(a: Route, b: Route): boolean {
  const wanted = new Map(demandsOf(a).map(({ name, value }) => [name, value]))
  for (const { name, value } of demandsOf(b)) {
    const other = wanted.get(name)
    if (other !== undefined && value !== undefined && other !== value) return true
  }
  return hasForeignSubresource(a, b) && hasForeignSubresource(b, a)
}

function hasForeignSubresource(a: Route, b: Route): boolean {
  return a.query?.some((query) => subresources.has(query) && !asksFor(b, query)) ?? false
}
