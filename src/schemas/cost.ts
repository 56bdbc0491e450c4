/**
 * What applying a JSON schema costs, written into the schema itself: every subschema gets a keyword of ours with a number, which the
 * validator takes off the fuel whenever it applies that subschema, by whatever path of references it came there.
 */
import { isJsonObject, type JsonObject } from './limits.ts'

/** The keyword; its value is the number of things that the other keywords beside it look at. */
export const costKeyword = '$$cost'

/** Compiling takes about 0.2 ms for each. */
const maxSubschemas = 300

/** Keywords whose members are subschemas by names that somebody chose. */
const maps = new Set(['properties', 'patternProperties', 'dependentSchemas', 'dependencies', '$defs', 'definitions'])
/** Keywords with values that are no subschemas and must stay as they are. */
const literals = new Set(['const', 'enum', 'dependentRequired', '$vocabulary'])

/** A copy of a schema with costs. @throws {SyntaxError} when it is too large, or a reference leads where there are no costs. */
export function withCosts(schema: JsonObject): JsonObject {
  let subschemas = 0

  // Values of unknown keywords are copied like subschemas: a reference may lead there.
  function copy(value: unknown): unknown {
    if (Array.isArray(value)) return value.map(copy)
    if (!isJsonObject(value)) return value
    subschemas += 1
    if (subschemas > maxSubschemas) throw new SyntaxError(`it has more than ${maxSubschemas} subschemas`)
    checkReference(value['$ref'])
    checkReference(value['$dynamicRef'])
    const members = Object.entries(value).map(([keyword, member]) => [keyword, copyMember(keyword, member)])
    return { ...Object.fromEntries(members), [costKeyword]: Object.values(value).reduce<number>((sum, member) => sum + sizeOf(member), 1) }
  }

  function copyMember(keyword: string, member: unknown): unknown {
    if (literals.has(keyword)) return member
    if (!maps.has(keyword) || !isJsonObject(member)) return copy(member)
    return Object.fromEntries(Object.entries(member).map(([name, subschema]) => [name, copy(subschema)]))
  }

  return copy(schema) as JsonObject
}

/** Refuses a reference into a literal. */
function checkReference(reference: unknown): void {
  if (typeof reference !== 'string') return
  const [, ...pointer] = decode(reference.replace(/^[^#]*/, '')).split('/')
  let isName = false
  for (const segment of pointer) {
    if (!isName && literals.has(segment)) throw new SyntaxError(`the reference ${reference} leads to a value, not to a schema`)
    isName = !isName && maps.has(segment)
  }
}

function decode(reference: string): string {
  try {
    return decodeURIComponent(reference)
  } catch (error) {
    throw new SyntaxError(`the reference ${reference} is not percent-encoded`, { cause: error })
  }
}

/** How much a keyword looks at; subschemas count themselves. */
function sizeOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1
  return Object.values(value).reduce<number>((sum, member) => sum + (Array.isArray(value) ? sizeOf(member) : 1), 1)
}
