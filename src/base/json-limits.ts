/**
 * How much structure a JSON text may have, told from the text alone: a megabyte of brackets and commas is read in no time, but costs seconds
 * where each value is looked at.
 */

/** Arrays and objects inside of each other; values in all; UTF-16 units of a name, as it is written. */
export const jsonLimits = { depth: 64, values: 20_000, name: 1_024 } as const

const [quote, backslash, comma, colon, openArray, closeArray, openObject, closeObject] = [...'"\\,:[]{}'].map(
  (char) => char.charCodeAt(0),
)

/** What a text has too much of, as `is nested deeper than 64 levels`; nothing when it is within the limits. It need not be JSON. */
export function findExcess(json: string): string | undefined {
  return inspectJson(json).excess
}

/** Looks through a text once: what it has too much of, and how many members the objects in it have, where it is JSON within the limits. */
export function inspectJson(json: string): { excess?: string; members: number } {
  let [depth, values, length, members] = [0, 1, 0, 0]
  for (let at = 0; at < json.length; at++) {
    const char = json.charCodeAt(at)
    if (char === quote) {
      const end = endOfText(json, at + 1)
      length = end - at - 1
      at = end
    } else if (char === comma) values++
    else if (char === colon) {
      members++
      if (length > jsonLimits.name)
        return { excess: `has a name of more than ${jsonLimits.name} characters`, members }
    } else if (char === openObject || char === openArray) {
      values++
      if (++depth > jsonLimits.depth)
        return { excess: `is nested deeper than ${jsonLimits.depth} levels`, members }
    } else if (char === closeObject || char === closeArray) depth--
    if (values > jsonLimits.values) return { excess: `has more than ${jsonLimits.values} values`, members }
  }
  return { members }
}

/** How many members the objects in a value have: fewer than its text has where that names one twice. The depth must be bounded before. */
export function countMembers(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  const children: unknown[] = Array.isArray(value) ? value : Object.values(value)
  let members = Array.isArray(value) ? 0 : children.length
  for (const child of children) members += countMembers(child)
  return members
}

/** Where the quote is that ends a text which begins at a place: the next one without an odd number of backslashes before it. */
function endOfText(json: string, start: number): number {
  for (let at = json.indexOf('"', start); at >= 0; at = json.indexOf('"', at + 1)) {
    let slash = at
    while (slash > start && json.charCodeAt(slash - 1) === backslash) slash--
    if ((at - slash) % 2 === 0) return at
  }
  return json.length
}
