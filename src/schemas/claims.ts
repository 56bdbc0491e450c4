/** Checking claims against a credential schema (service §4.3, wire.md 8.4). */
import type { ErrorObject } from 'ajv/dist/2020.js'
import { Problem } from '../base/problem.ts'
import { OutOfFuel } from './fuel.ts'
import { findExcess, isJsonObject } from './limits.ts'
import { compileSchema, type Validator } from './validator.ts'

const limits = { depth: 32, values: 10_000, characters: 2_000_000 }
/** Violations that are spelt out, and how much of each. */
const maxListed = 100
const maxLength = 300

/**
 * Checks claims against a JSON schema of draft 2020-12.
 *
 * @throws {Problem} `error:CredentialSchemaError:CredentialSchemaValidationError` with every violation and its JSON path, the first
 * hundred in full; `error:CredentialSchemaError:InvalidSchema` when the schema itself cannot be used.
 */
export function checkClaims(claims: unknown, schema: unknown): void {
  const excess = findExcess(claims, limits)
  if (excess !== undefined) throw failed([`the set of claims ${excess}`])
  const violations = validate(toValidator(schema), claims)
  if (violations.length === 0) return
  const listed = violations.slice(0, maxListed).map(toSentence)
  throw failed(violations.length > maxListed ? [...listed, `${violations.length - maxListed} more`] : listed)
}

function toValidator(schema: unknown): Validator {
  try {
    if (!isJsonObject(schema)) throw new SyntaxError('it is not a JSON object')
    return compileSchema(schema)
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    throw new Problem('error:CredentialSchemaError:InvalidSchema', `The credential schema cannot be used: ${error.message}`)
  }
}

function validate(validator: Validator, claims: unknown): readonly ErrorObject[] {
  try {
    return validator(claims)
  } catch (error) {
    // A reference that leads back to itself ends in a stack overflow.
    if (!(error instanceof OutOfFuel || error instanceof RangeError)) throw error
    throw failed(['checking these claims against it takes too much work; shorten the claims or simplify the schema'])
  }
}

function failed(reasons: string[]): Problem {
  return new Problem(
    'error:CredentialSchemaError:CredentialSchemaValidationError',
    `The credential schema validation failed: ${reasons.join('; ')}`,
  )
}

/** One violation: the JSON path of what is wrong, and what is wrong with it. */
function toSentence(error: ErrorObject): string {
  const { keyword, params } = error
  const path = error.instancePath.split('/').slice(1).map(unescape)
  const names: Record<string, unknown> = params
  const wrong = (text: string, ...rest: unknown[]) => shorten(`${toJsonPath([...path, ...rest.map(String)])}: ${text}`)
  if (keyword === 'required') return wrong('is missing but it is required', names['missingProperty'])
  if (keyword === 'additionalProperties') return wrong('is not defined in the schema, which allows no others', names['additionalProperty'])
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
