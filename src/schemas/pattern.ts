/** The keywords `pattern` and `patternProperties`, by an engine that needs linear time: the built-in one can be made to need exponential time. */
import { RE2JS } from 're2js'
import { reasonOf } from '../base/reason.ts'
import { burn, type Fuel } from './fuel.ts'

/** What ajv needs of a regular expression. */
export type Pattern = { test(text: string): boolean; toString(): string }

const maxLength = 5_000
/** For all patterns of one schema; `{0,1000}` alone makes a thousand, and a pattern that people write some dozens. */
const maxInstructions = 20_000
/** Measured at the worst: 40 ns for an instruction and a character. */
const unitsPerStep = 4

/**
 * Makes the compiler for the patterns of one schema. A pattern matches anywhere in a text unless it is anchored, and burns
 * fuel by its size and the length of the text. The compiler throws a `SyntaxError` for what `compilePattern` refuses, and when there is too much.
 */
export function patternCompiler(fuel: Fuel): (pattern: string) => Pattern {
  let instructionsLeft = maxInstructions
  return (pattern) => {
    const compiled = compilePattern(pattern)
    const instructions = compiled.programSize()
    instructionsLeft -= instructions
    if (instructionsLeft < 0) throw new SyntaxError('its patterns are too large')
    return {
      test(text) {
        burn(fuel, 100 + instructions * text.length * unitsPerStep)
        return compiled.test(text)
      },
      // Ajv keeps the patterns of a schema apart by their text.
      toString: () => pattern,
    }
  }
}

/** Compiles an ECMA-262 pattern. @throws {SyntaxError} for what is none, and for look-around and back-references, which no linear engine knows. */
export function compilePattern(pattern: string): RE2JS {
  if (pattern.length > maxLength) throw new SyntaxError(`a pattern has more than ${maxLength} characters`)
  try {
    return RE2JS.compile(RE2JS.translateRegExp(pattern))
  } catch (error) {
    throw new SyntaxError(`the pattern ${pattern} cannot be used: ${reasonOf(error)}`, { cause: error })
  }
}
