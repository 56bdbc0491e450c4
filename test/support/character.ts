/** A unit of texts for fast-check. */
import fc from 'fast-check'

/** The first surrogate, which is not a character, and the number of surrogates. */
const [surrogates, count] = [0xd800, 0x800]

const characterOf = (n: number) => String.fromCodePoint(n < surrogates ? n : n + count)

function numberOf(character: unknown): number {
  const n = typeof character === 'string' ? (character.codePointAt(0) ?? -1) : -1
  const number = n < surrogates ? n : n - count
  if (number < 0 || characterOf(number) !== character) throw new Error('It is not one character.')
  return number
}

/**
 * Any code point of Unicode except surrogates. fast-check's unit `binary` draws the same, and takes a second
 * to list them first.
 */
export const character = fc.nat({ max: 0x10_ffff - count }).map(characterOf, numberOf)
