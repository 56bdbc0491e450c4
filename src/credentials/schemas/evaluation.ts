/** Compiles a schema and evaluates claims against it: plain data in, plain data out, in either thread. */
import type { ErrorObject } from 'ajv/dist/2020.js'
import type { JsonObject } from '../../foundation/json.ts'
import { compileSchema, UnusableSchema } from './validator.ts'

/** A schema within `schemaLimits`, alone or with claims to evaluate against it. */
export type Task = { schema: JsonObject; claims?: unknown }

/**
 * `unusable`: why the schema cannot be used. `violations`: one sentence each. `aborted`: a limit was
 * exceeded.
 */
export type Evaluation = { unusable: string } | { violations: string[] } | { aborted: true }

const maxViolations = 100
const maxViolationLength = 300

export function evaluate({ schema, ...rest }: Task): Evaluation {
  try {
    const validate = compileSchema(schema)
    return { violations: 'claims' in rest ? findViolations(validate, rest.claims) : [] }
  } catch (error) {
    if (error instanceof UnusableSchema) return { unusable: error.message }
    // A reference that leads back to itself overflows the stack.
    if (error instanceof RangeError) return { aborted: true }
    throw error
  }
}

function findViolations(validate: ReturnType<typeof compileSchema>, claims: unknown): string[] {
  try {
    return toSentences(validate(claims))
  } catch (error) {
    // Ajv compares objects by their own `valueOf` and `toString`, which claims may have as members.
    if (error instanceof TypeError)
      return ['$: members named toString or valueOf cannot be compared with enum, const or uniqueItems']
    throw error
  }
}

/** One sentence for each of the first hundred violations, and the number of the others. */
function toSentences(violations: readonly ErrorObject[]): string[] {
  const sentences = violations.slice(0, maxViolations).map(toSentence)
  const more = violations.length - sentences.length
  return more > 0 ? [...sentences, `${more} more`] : sentences
}

/** The parameter of a violation that names the member in question. */
const memberParameters: Record<string, string> = {
  required: 'missingProperty',
  additionalProperties: 'additionalProperty',
  unevaluatedProperties: 'unevaluatedProperty',
}

/** The JSONPath of the member, and what is wrong with it. */
function toSentence(violation: ErrorObject): string {
  const path = violation.instancePath.split('/').slice(1).map(unescape)
  const parameter = memberParameters[violation.keyword]
  if (parameter !== undefined) path.push(String(violation.params[parameter]))
  const text = `${toJsonPath(path)}: ${toReason(violation)}`
  return text.length > maxViolationLength ? `${text.slice(0, maxViolationLength)}…` : text
}

function toReason({ keyword, params, message }: ErrorObject): string {
  if (keyword === 'required') return 'is missing but it is required'
  if (keyword in memberParameters) return 'is not defined in the schema, which allows no others'
  if (keyword === 'enum') return `must be one of ${JSON.stringify(params['allowedValues'])}`
  if (keyword === 'const') return `must be ${JSON.stringify(params['allowedValue'])}`
  return message ?? `does not satisfy ${keyword}`
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

/** Decodes one reference token of a JSON Pointer (RFC 6901 §4). */
function unescape(token: string): string {
  return token.replaceAll('~1', '/').replaceAll('~0', '~')
}
