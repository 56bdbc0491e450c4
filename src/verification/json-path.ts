/**
 * JSONPath (RFC 9535) by json-p3, as far as a stranger's path is safe to follow: no filters, whose regular expressions and loops have no bound,
 * and no path that finds one value in many ways.
 */
import { jsonpath, JSONPathEnvironment, JSONPathError, type JSONPathQuery, type JSONValue } from 'json-p3'

/** The first value that a path finds, in an object of its own: `null` is a value too. */
export type Find = (value: unknown) => { value: unknown } | undefined

const maxLength = 500
const maxSegments = 12
/** In how many ways `[a,b]` may branch; each way looks through the whole once. */
const maxWays = 4

// Credentials nest less deep than this.
const environment = new JSONPathEnvironment({ maxRecursionDepth: 100 })

/**
 * Makes a path ready to be followed; in a value of some thousand members that takes a tenth of a second at most.
 *
 * @throws {SyntaxError} saying why it is none, or none that is followed here
 */
export function compilePath(path: string): Find {
  if (path.length > maxLength) throw new SyntaxError(`has more than ${maxLength} characters`)
  const query = parse(path)
  const { segments } = query
  const ways = segments.reduce((product, { selectors }) => product * selectors.length, 1)
  if (segments.length > maxSegments || ways > maxWays) throw new SyntaxError('branches in too many ways')
  if (
    segments.some(({ selectors }) =>
      selectors.some((each) => each instanceof jsonpath.selectors.FilterSelector),
    )
  ) {
    throw new SyntaxError(
      'has a filter expression, which is not evaluated here; say what the value must be in `filter`',
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

/** The library has a class for it, which it does not export. */
function isDescendant(segment: JSONPathQuery['segments'][number]): boolean {
  return segment.toString().startsWith('..')
}
