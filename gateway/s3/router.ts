/** How an operation is recognised. The most demanding route that holds wins, so the table's order does not matter. */
export interface Route {
  readonly method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE'
  readonly target: 'service' | 'bucket' | 'object'
  /** Query parameters that must be there: `uploads`, or with a value `list-type=2`. */
  readonly query?: readonly string[]
  /** A header that must be there, in lower case. */
  readonly header?: string
}
