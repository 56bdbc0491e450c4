/** A unit of texts for fast-check. */
import fc from 'fast-check'

/** The surrogates, which are no characters, begin here, and are so many. */
const [surrogates, count] = [0xd800, 0x800]

const characterOf = (n: number) => String.fromCodePoint(n < surrogates ? n : n + count)

function numberOf(character: unknown): number {
  const n = typeof character === 'string' ? (character.codePointAt(0) ?? -1) : -1
  const number = n < surrogates ? n : n - count
  if (number < 0 || characterOf(number) !== character) throw new Error('It is not one character.')
  return number
}

/** Any character of Unicode, assigned or not. The unit `binary` of fast-check draws the same, and takes a second to list all of them first. */
export const character = fc.nat({ max: 0x10_ffff - count }).map(characterOf, numberOf)
