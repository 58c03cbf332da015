import { S3Error } from './errors.ts'
import { asksFor, type Route, type RoutedRequest, weightOf } from './route.ts'
import { subresources } from './unsupported.ts'

/** The error of a request for which there is no route at all: MethodNotAllowed, or NotImplemented. */
export function missingRoute(routes: readonly Route[], request: RoutedRequest): S3Error {
  for (const name of request.query.keys()) {
    if (subresources.has(name)) return unsupported(routes, request, name)
  }
  // A form from a browser (POST object), which the specification lists as unsupported.
  if (request.method === 'POST' && request.headers['content-type']?.toLowerCase().startsWith('multipart/form-data')) {
    return new S3Error('NotImplemented', 'Uploads by browser form (POST object) are not implemented. Use PutObject.')
  }
  return methodNotAllowed(
    request,
    routes.filter((route) => route.target === request.target && weightOf(route) === 0),
  )
}

/**
 * The error of a query parameter that the route which was found does not ask for, and that makes the request one about
 * something else. Undefined for the version that every object has.
 */
export function strangeParameter(routes: readonly Route[], request: RoutedRequest, name: string): S3Error | undefined {
  if (name === 'versionId') {
    const version = request.query.get(name)
    if (version === '' || version === 'null') return undefined
    return new S3Error(
      'InvalidArgument',
      'Invalid version id specified. There are no versions here: leave versionId out.',
    )
  }
  const known = routes.some(
    (route) => route.target === request.target && route.method === request.method && asksFor(route, name),
  )
  if (!known) return unsupported(routes, request, name)
  return new S3Error(
    'InvalidArgument',
    `The query parameter ${name} does not go with the others, or lacks its companions. Send all or one of them.`,
  )
}

/** 501 for what only S3 has, 405 with Allow for what has other methods here. */
function unsupported(routes: readonly Route[], request: RoutedRequest, name: string): S3Error {
  const having = routes.filter((route) => route.target === request.target && asksFor(route, name))
  if (having.length > 0 && !subresources.get(name)?.has(request.method)) return methodNotAllowed(request, having)
  return new S3Error('NotImplemented', `The sub-resource ${name} is not implemented with this method.`)
}

function methodNotAllowed(request: RoutedRequest, having: readonly Route[]): S3Error {
  const methods = new Set(having.map((route) => route.method))
  return new S3Error('MethodNotAllowed', undefined, {
    headers: { Allow: [...methods].sort().join(', ') },
    details: { Method: request.method, ResourceType: request.target.toUpperCase() },
  })
}
