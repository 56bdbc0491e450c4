/**
 * Generates values for the JSON Schemas of the OpenAPI document, with existing ids where a member has their
 * name.
 */
import fc from 'fast-check'
import type { Draw } from './_draw.ts'

export type Schema = { [keyword: string]: any }

/** `find` returns an existing value by member name. */
export type Source = {
  draw: Draw
  schemas: Readonly<Record<string, Schema>>
  find: (name: string) => string | undefined
}

const uris = [
  'https://127.0.0.1:1/x',
  'http://127.0.0.1:1/x',
  'did:web:127.0.0.1%3A1',
  'urn:x:y',
  'http://127.0.0.1:1/a?b=c#d',
]
const instant = fc
  .date({ min: new Date(0), max: new Date(4e12), noInvalidDate: true })
  .map((date) => date.toISOString())
const matching = new Map<string, fc.Arbitrary<string>>()

/** A value that satisfies a schema, except for rules that are only in its description. */
export function valueOf(source: Source, schema: Schema, name = '', depth = 0): unknown {
  const { draw, schemas } = source
  const again = (inner: Schema, innerName = name) => valueOf(source, inner, innerName, depth + 1)
  if (schema['$ref']) return again(schemas[(schema['$ref'] as string).split('/').at(-1)!]!)
  const choices = (schema['anyOf'] ?? schema['oneOf']) as Schema[] | undefined
  // Null means absent and is drawn rarely.
  if (choices)
    return again(draw.of(draw.share(0.9) ? choices.filter(({ type }) => type !== 'null') : choices))
  if ('const' in schema) return schema['const']
  if (schema['enum']) return draw.of(schema['enum'])
  const type: string = Array.isArray(schema['type']) ? draw.of(schema['type']) : schema['type']
  switch (type) {
    case 'string':
      return textOf(source, schema, name)
    case 'boolean':
      return draw.share(0.5)
    case 'null':
      return null
    case 'integer':
    case 'number': {
      const least: number = schema['minimum'] ?? schema['exclusiveMinimum'] ?? 0
      return (
        least + draw.below(Math.min((schema['maximum'] ?? 100) - least, 100)) + (type === 'number' ? 0.5 : 0)
      )
    }
    case 'array': {
      const { minItems: least = 0, maxItems: most = 100 } = schema as { minItems?: number; maxItems?: number }
      // Sometimes the maximum, because the cost of items adds up.
      const count =
        depth > 6
          ? least
          : draw.share(0.03) && depth < 4
            ? Math.min(most, 100)
            : least + draw.below(Math.min(3, most - least + 1))
      return Array.from({ length: count }, () => again(schema['items'] ?? {}))
    }
    case 'object':
      return objectOf(source, schema, again, depth)
    default:
      return draw.from(fc.jsonValue({ maxDepth: 2 }))
  }
}

function objectOf(
  { draw }: Source,
  schema: Schema,
  again: (inner: Schema, name?: string) => unknown,
  depth: number,
): object {
  const required: string[] = schema['required'] ?? []
  const members = Object.entries<Schema>(schema['properties'] ?? {}).filter(
    ([name]) => required.includes(name) || (depth < 6 && draw.share(0.4)),
  )
  const known = members.map(([name, inner]) => [name, again(inner, name)] as const)
  const more = typeof schema['additionalProperties'] === 'object' && depth < 5 ? draw.below(3) : 0
  return Object.fromEntries([
    ...known,
    ...Array.from({ length: more }, (_, at) => [
      `name${at}`,
      again(schema['additionalProperties'] as Schema, ''),
    ]),
  ])
}

function textOf(
  { draw, find }: Source,
  { format, pattern, minLength = 0, maxLength = 40 }: Schema,
  name: string,
): string {
  const found = draw.share(0.8) ? find(name) : undefined
  if (found !== undefined) return found
  if (format === 'uuid') return draw.from(fc.uuid())
  if (format === 'uri') return draw.of(uris)
  if (format === 'date-time') return draw.from(instant)
  if (pattern !== undefined) {
    if (!matching.has(pattern)) matching.set(pattern, fc.stringMatching(new RegExp(pattern)))
    return draw.from(matching.get(pattern)!)
  }
  return draw.from(fc.string({ minLength, maxLength: Math.max(minLength, Math.min(maxLength, 40)) }))
}
