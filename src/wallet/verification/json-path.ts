/**
 * JSONPath (RFC 9535) with json-p3, restricted to paths of bounded cost: no filter expressions, whose regular
 * expressions and loops are unbounded, and few branches.
 */
import { jsonpath, JSONPathEnvironment, JSONPathError, type JSONPathQuery, type JSONValue } from 'json-p3'

/** Returns the first selected value, wrapped because it may be null. */
export type PathQuery = (value: unknown) => { value: unknown } | undefined

const maxLength = 500
const maxSegments = 12
/** The product of all selectors such as `[a,b]`. Each combination traverses the document once. */
const maxBranches = 4

// Exceeds the depth of accepted credentials.
const environment = new JSONPathEnvironment({ maxRecursionDepth: 100 })

/**
 * Compiles a path. A query of some thousand members takes at most a tenth of a second.
 *
 * @throws {SyntaxError} for an invalid or unsupported path
 */
export function compilePath(path: string): PathQuery {
  if (path.length > maxLength) throw new SyntaxError(`has more than ${maxLength} characters`)
  const query = parse(path)
  const { segments } = query
  const branches = segments.reduce((product, { selectors }) => product * selectors.length, 1)
  if (segments.length > maxSegments || branches > maxBranches)
    throw new SyntaxError('branches in too many ways')
  if (
    segments.some(({ selectors }) =>
      selectors.some((each) => each instanceof jsonpath.selectors.FilterSelector),
    )
  ) {
    throw new SyntaxError(
      'has a filter expression, which is not supported; use `filter` to constrain the value',
    )
  }
  if (segments.filter(isDescendant).length > 1) throw new SyntaxError('has `..` more than once')
  return (value) => query.match(value as JSONValue)
}

function parse(path: string): JSONPathQuery {
  try {
    return environment.compile(path)
  } catch (error) {
    if (!(error instanceof JSONPathError || error instanceof RangeError)) throw error
    throw new SyntaxError(`is not a JSONPath such as $.vc.credentialSubject.name: ${error.message}`, {
      cause: error,
    })
  }
}

/** The library does not export the class of these segments. */
function isDescendant(segment: JSONPathQuery['segments'][number]): boolean {
  return segment.toString().startsWith('..')
}
