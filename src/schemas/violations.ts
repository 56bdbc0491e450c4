/** What claims violate, in words (JSON paths of RFC 9535). */
import type { ErrorObject } from 'ajv/dist/2020.js'

/** Violations that are spelt out, and how much of each. */
const maxListed = 100
const maxLength = 300

/** A sentence for each violation, the first hundred in full, and how many more there are. */
export function toSentences(violations: readonly ErrorObject[]): string[] {
  const listed = violations.slice(0, maxListed).map(toSentence)
  return violations.length > maxListed ? [...listed, `${violations.length - maxListed} more`] : listed
}

/** One violation: the JSON path of what is wrong, and what is wrong with it. */
function toSentence(error: ErrorObject): string {
  const { keyword, params } = error
  const path = error.instancePath.split('/').slice(1).map(unescape)
  const names: Record<string, unknown> = params
  const wrong = (text: string, ...rest: unknown[]) =>
    shorten(`${toJsonPath([...path, ...rest.map(String)])}: ${text}`)
  if (keyword === 'required') return wrong('is missing but it is required', names['missingProperty'])
  if (keyword === 'additionalProperties')
    return wrong('is not defined in the schema, which allows no others', names['additionalProperty'])
  if (keyword === 'unevaluatedProperties')
    return wrong('is not defined in the schema, which allows no others', names['unevaluatedProperty'])
  if (keyword === 'enum') return wrong(`must be one of ${JSON.stringify(names['allowedValues'])}`)
  if (keyword === 'const') return wrong(`must be ${JSON.stringify(names['allowedValue'])}`)
  return wrong(error.message ?? `does not satisfy ${keyword}`)
}

/** RFC 9535: `$.address.lines[0]['post code']`. */
function toJsonPath(path: string[]): string {
  const segments = path.map((segment) => {
    if (/^[A-Za-z_]\w*$/.test(segment)) return `.${segment}`
    if (/^\d+$/.test(segment)) return `[${segment}]`
    return `['${segment.replaceAll(/['\\]/g, String.raw`\$&`)}']`
  })
  return `$${segments.join('')}`
}

/** Reads one part of a JSON pointer (RFC 6901 §3). */
function unescape(segment: string): string {
  return segment.replaceAll('~1', '/').replaceAll('~0', '~')
}

function shorten(text: string): string {
  return text.length > maxLength ? `${text.slice(0, maxLength)}…` : text
}
