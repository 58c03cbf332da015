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

/** Name and value of a demanded parameter; without a value any will do. */
export interface Demand {
  readonly name: string
  readonly value: string | undefined
}

export function demandsOf(route: Route): Demand[] {
  return (route.query ?? []).map((query) => {
    const equals = query.indexOf('=')
    if (equals < 0) return { name: query, value: undefined }
    return { name: query.slice(0, equals), value: query.slice(equals + 1) }
  })
}

/** How demanding a route is. A sub-resource says what a request is about, other things only how: it outweighs one. */
export function weightOf(route: Route): number {
  let weight = route.header === undefined ? 0 : 1
  for (const query of route.query ?? []) weight += subresources.has(query) ? 2 : 1
  return weight
}

/** Whether the route demands the parameter, whatever its value. */
export function asksFor(route: Route, name: string): boolean {
  return route.query?.includes(name) ?? false
}
