/**
 * How much JSON a schema or a set of claims may be: deep nesting overflows the stack of whoever writes it out again, and
 * a member named `__proto__` is lost or worse in the hands of careless code.
 */

/** A JSON object, as opposed to an array, a scalar or null. */
export type JsonObject = Record<string, unknown>

/** A JSON object, as opposed to an array, a scalar or null. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** `depth` counts levels of objects and arrays, `values` everything in them, `characters` strings and member names together. */
export type Limits = { depth: number; values: number; characters: number }

/** Says what is too much about a JSON value, in the words that complete "it …"; `undefined` when nothing is. */
export function findExcess(value: unknown, limits: Limits): string | undefined {
  let values = 0
  let characters = 0

  function visit(value: unknown, depth: number): string | undefined {
    values += 1
    if (values > limits.values) return `has more than ${limits.values} values`
    if (typeof value === 'string') characters += value.length
    if (characters > limits.characters) return `has more than ${limits.characters} characters`
    if (typeof value !== 'object' || value === null) return undefined
    if (depth >= limits.depth) return `is nested deeper than ${limits.depth} levels`
    for (const [name, member] of Object.entries(value)) {
      if (name === '__proto__') return 'has a member named __proto__, which is not accepted'
      if (!Array.isArray(value)) characters += name.length
      const excess = visit(member, depth + 1)
      if (excess !== undefined) return excess
    }
    return undefined
  }

  return visit(value, 0)
}
