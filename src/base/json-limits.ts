/**
 * How much structure a JSON text may have, told from the text alone: a megabyte of brackets and commas is read in no time, but costs seconds
 * where each value is looked at.
 */

/** Arrays and objects inside of each other; values in all; UTF-16 units of a name, as it is written. */
export const jsonLimits = { depth: 64, values: 20_000, name: 1_024 } as const

const [quote, backslash, comma, colon, openArray, closeArray, openObject, closeObject] = [...'"\\,:[]{}'].map((char) => char.charCodeAt(0))

/** What a text has too much of, as `is nested deeper than 64 levels`; nothing when it is within the limits. It need not be JSON. */
export function findExcess(json: string): string | undefined {
  let [depth, values, length] = [0, 1, 0]
  for (let at = 0; at < json.length; at++) {
    const char = json.charCodeAt(at)
    if (char === quote) {
      const start = at + 1
      while (++at < json.length && json.charCodeAt(at) !== quote) if (json.charCodeAt(at) === backslash) at++
      length = at - start
    } else if (char === comma) values++
    else if (char === colon) {
      if (length > jsonLimits.name) return `has a name of more than ${jsonLimits.name} characters`
    } else if (char === openObject || char === openArray) {
      values++
      if (++depth > jsonLimits.depth) return `is nested deeper than ${jsonLimits.depth} levels`
    } else if (char === closeObject || char === closeArray) depth--
    if (values > jsonLimits.values) return `has more than ${jsonLimits.values} values`
  }
  return undefined
}
