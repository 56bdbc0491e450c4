/** The keywords `pattern` and `patternProperties`, by an engine that needs linear time: the built-in one can be made to need exponential time. */
import { RE2JS } from 're2js'
import { reasonOf } from '../base/reason.ts'
import { burn, type Fuel } from './fuel.ts'

/** What ajv needs of a regular expression. */
export type Pattern = { test(text: string): boolean; toString(): string }

/** Makes a pattern, or finds the one made before. @throws {SyntaxError} for one that cannot be used, and when there is too much of them all. */
export type PatternCompiler = (pattern: string) => Pattern

const maxLength = 1_000
/** For all patterns of one schema: characters are what parsing costs, instructions what matching does. */
const maxCharacters = 10_000
/** `{0,1000}` alone makes a thousand, and a pattern that people write some dozens. */
const maxInstructions = 20_000
/** Measured at the worst: 40 ns for an instruction and a character. */
const unitsPerStep = 4

/**
 * Makes the compiler for the patterns of one schema (ECMA-262 without look-around and back-references, which no linear engine knows). A
 * pattern matches anywhere in a text unless it is anchored, and burns fuel by its size and the length of the text.
 */
export function patternCompiler(fuel: Fuel): PatternCompiler {
  const known = new Map<string, Pattern>()
  let charactersLeft = maxCharacters
  let instructionsLeft = maxInstructions

  function compile(pattern: string): Pattern {
    charactersLeft -= pattern.length
    if (pattern.length > maxLength) throw new SyntaxError(`a pattern has more than ${maxLength} characters`)
    if (charactersLeft < 0)
      throw new SyntaxError(`the patterns have more than ${maxCharacters} characters together`)
    const compiled = parse(pattern)
    const instructions = compiled.programSize()
    instructionsLeft -= instructions
    if (instructionsLeft < 0)
      throw new SyntaxError('the patterns repeat too much; lower the numbers in braces')
    return {
      test(text) {
        burn(fuel, 100 + instructions * text.length * unitsPerStep)
        return compiled.test(text)
      },
      // Ajv keeps the patterns of a schema apart by their text.
      toString: () => pattern,
    }
  }

  return (pattern) => {
    const compiled = known.get(pattern) ?? compile(pattern)
    known.set(pattern, compiled)
    return compiled
  }
}

function parse(pattern: string): RE2JS {
  try {
    return RE2JS.compile(RE2JS.translateRegExp(pattern))
  } catch (error) {
    throw new SyntaxError(`the pattern ${pattern} cannot be used: ${reasonOf(error)}`, { cause: error })
  }
}
