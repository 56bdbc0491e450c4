/** A JSON Schema made from claims, for a credential type that nobody has described. */
import { Problem } from '../../foundation/problem.ts'
import { isJsonObject, type JsonObject } from '../../foundation/json.ts'

const dialect = 'https://json-schema.org/draft/2020-12/schema'

/**
 * The schema that has these claims and no others. Properties have labels for people.
 *
 * @throws {Problem} 400 for a claim whose value has no type
 */
export function schemaOf(title: string, claims: Readonly<Record<string, unknown>>): JsonObject {
  return { $schema: dialect, title, ...objectOf(claims, 'claims') }
}

function objectOf(values: Readonly<Record<string, unknown>>, place: string): JsonObject {
  const properties = Object.entries(values).map(([name, value]) => [
    name,
    { title: labelOf(name), ...typeOf(value, `${place}.${name}`) },
  ])
  return {
    type: 'object',
    properties: Object.fromEntries(properties) as JsonObject,
    required: Object.keys(values),
    additionalProperties: false,
  }
}

function typeOf(value: unknown, place: string): JsonObject {
  if (typeof value === 'string' || typeof value === 'boolean') return { type: typeof value }
  if (typeof value === 'number') return { type: Number.isInteger(value) ? 'integer' : 'number' }
  if (Array.isArray(value)) return { type: 'array', items: elementOf(value, place) }
  if (isJsonObject(value)) return objectOf(value, place)
  throw new Problem(
    'BadRequest',
    `${place}: ${JSON.stringify(value)} has no type from which a schema can be made. Leave it out, or publish a schema and name its configuration.`,
  )
}

/** The type of the first element, which the others must have too. An empty array is one of texts. */
function elementOf(values: readonly unknown[], place: string): JsonObject {
  return values.length === 0 ? { type: 'string' } : typeOf(values[0], `${place}[0]`)
}

/** A name as people read it: `birthDate` and `birth_date` become “Birth date”. */
export function labelOf(name: string): string {
  const words = name
    .replaceAll(/([\p{Ll}\d])(\p{Lu})/gu, '$1 $2')
    .replaceAll(/[_\-.\s]+/g, ' ')
    .trim()
  const isAbbreviation = /^[\p{Lu}\d\s]+$/u.test(words)
  const text = isAbbreviation ? words : words.toLowerCase()
  return text === '' ? name : text.replace(/^\p{L}/u, (letter) => letter.toUpperCase())
}
