/**
 * Limits of JSON from strangers. Deep nesting overflows the stack, and members named `__proto__` can change
 * prototypes.
 */

/** `depth`: nested objects and arrays. `values`: all values. `characters`: strings and member names together. */
export type Limits = { depth: number; values: number; characters: number }

/** Finds an exceeded limit. Returns a phrase that completes "it …". */
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
