/**
 * What applying a JSON schema costs, written into the schema itself: every subschema gets a keyword of ours with a number, which the
 * validator takes off the fuel whenever it applies that subschema, by whatever path of references it came there.
 */
import { isJsonObject, type JsonObject } from './limits.ts'
import type { PatternCompiler } from './pattern.ts'
import { UnusableSchema } from './unusable.ts'

/** The keyword; its value is the number of things that the other keywords beside it look at. */
export const costKeyword = '$$cost'

/** Compiling takes about 0.5 ms for each. */
const maxSubschemas = 300

/** Keywords whose members are subschemas by names that somebody chose. */
const maps = new Set([
  'properties',
  'patternProperties',
  'dependentSchemas',
  'dependencies',
  '$defs',
  'definitions',
])
/** Keywords with values that are no subschemas and must stay as they are. */
const literals = new Set(['const', 'enum', 'dependentRequired', '$vocabulary', '@context'])

/**
 * A copy of a schema with costs.
 *
 * @throws {UnusableSchema} when it is too large, a reference leads where there are no costs, or a pattern cannot be used.
 */
export function withCosts(schema: JsonObject, compilePattern: PatternCompiler): JsonObject {
  let subschemas = 0

  // Values of unknown keywords are copied like subschemas: a reference may lead there.
  function copy(value: unknown, path: readonly string[]): unknown {
    if (Array.isArray(value)) return value.map((item, index) => copy(item, [...path, String(index)]))
    if (!isJsonObject(value)) return value
    subschemas += 1
    if (subschemas > maxSubschemas) throw new UnusableSchema([], `has more than ${maxSubschemas} subschemas`)
    for (const keyword of ['$ref', '$dynamicRef']) checkReference(value[keyword], [...path, keyword])
    checkPatterns(value, path)
    const members = Object.entries(value).map(([keyword, member]) => [
      keyword,
      copyMember(keyword, member, [...path, keyword]),
    ])
    return {
      ...Object.fromEntries(members),
      [costKeyword]: Object.values(value).reduce<number>((sum, member) => sum + sizeOf(member), 1),
    }
  }

  function copyMember(keyword: string, member: unknown, path: readonly string[]): unknown {
    if (literals.has(keyword)) return member
    if (!maps.has(keyword) || !isJsonObject(member)) return copy(member, path)
    return Object.fromEntries(
      Object.entries(member).map(([name, subschema]) => [name, copy(subschema, [...path, name])]),
    )
  }

  /** Here, because ajv does not say where the pattern stands that it could not compile. */
  function checkPatterns({ pattern, patternProperties }: JsonObject, path: readonly string[]): void {
    if (typeof pattern === 'string') check(pattern, [...path, 'pattern'])
    if (isJsonObject(patternProperties))
      for (const each of Object.keys(patternProperties)) check(each, [...path, 'patternProperties'])
  }

  function check(pattern: string, path: readonly string[]): void {
    try {
      compilePattern(pattern)
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error
      throw new UnusableSchema(path, error.message, { cause: error })
    }
  }

  return copy(schema, []) as JsonObject
}

/** Refuses a reference into a literal. */
function checkReference(reference: unknown, path: readonly string[]): void {
  if (typeof reference !== 'string') return
  const [, ...pointer] = decode(reference.replace(/^[^#]*/, ''), path).split('/')
  let isName = false
  for (const segment of pointer) {
    if (!isName && literals.has(segment))
      throw new UnusableSchema(path, `the reference ${reference} leads to a value, not to a schema`)
    isName = !isName && maps.has(segment)
  }
}

function decode(reference: string, path: readonly string[]): string {
  try {
    return decodeURIComponent(reference)
  } catch (error) {
    throw new UnusableSchema(path, `the reference ${reference} is not percent-encoded`, { cause: error })
  }
}

/** How much a keyword looks at; subschemas count themselves. */
function sizeOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1
  return Object.values(value).reduce<number>(
    (sum, member) => sum + (Array.isArray(value) ? sizeOf(member) : 1),
    1,
  )
}
