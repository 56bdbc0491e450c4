/** Compiling a schema and checking claims against it, in whichever thread: data in, data out. */
import { OutOfFuel } from './fuel.ts'
import type { JsonObject } from './limits.ts'
import { UnusableSchema, type Unusable } from './unusable.ts'
import { compileSchema, type Validator } from './validator.ts'
import { toSentences } from './violations.ts'

/** A schema within `schemaLimits`, by itself or with the claims to check against it. */
export type Task = { schema: JsonObject; claims?: unknown }

/** What is wrong: with the schema, or with the claims, a sentence each; or that it took too much work to say. */
export type Verdict = { unusable: Unusable } | { violations: string[] } | { spent: true }

/** Does a task with so much fuel. */
export function assess({ schema, ...rest }: Task, units: number): Verdict {
  try {
    const validate = compileSchema(schema)
    return { violations: 'claims' in rest ? check(validate, rest.claims, units) : [] }
  } catch (error) {
    if (error instanceof UnusableSchema) return { unusable: { path: error.path, reason: error.reason } }
    // A reference that leads back to itself ends in a stack overflow.
    if (error instanceof OutOfFuel || error instanceof RangeError) return { spent: true }
    throw error
  }
}

function check(validate: Validator, claims: unknown, units: number): string[] {
  return toSentences(validate(claims, units))
}
