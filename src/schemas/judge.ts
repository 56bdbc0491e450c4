/**
 * Who compiles and checks: the main thread what is small and plain, in microseconds once compiled; another thread, with a time
 * limit, everything else. A schema that nobody would write by accident can take seconds, and all tenants would wait with it.
 */
import { assess, type Task, type Verdict } from './assess.ts'
import { findExcess, isJsonObject, type JsonObject } from './limits.ts'
import { isPlain } from './plain.ts'
import { createThread } from './thread.ts'
import { schemaLimits } from './validator.ts'

/** Compiling what is within takes 20 ms at most: a property of an ordinary schema has four or five values. */
const light = { depth: 12, values: 100, characters: 4_000, patternCharacters: 200 }

/** Units of `fuel.ts`: 10 ms here, 100 ms there. */
const units = { here: 1_000_000, there: 10_000_000 }

const thread = createThread({ timeMs: 3_000, waiting: 200, memoryMb: 256 })

/** Does a task. @throws {Problem} `error:ServiceUnavailable` when too many wait. */
export async function judge(task: Task): Promise<Verdict> {
  const excess = findExcess(task.schema, schemaLimits)
  if (excess !== undefined) return { unusable: { path: [], reason: excess } }
  if (!isLight(task.schema)) return thread.assess(task, units.there)
  const verdict = assess(task, units.here)
  return 'spent' in verdict ? thread.assess(task, units.there) : verdict
}

/** True when the main thread can take a schema on. */
function isLight(schema: JsonObject): boolean {
  const { '@context': _context, ...rest } = schema
  if (findExcess(schema, light) !== undefined || !isPlain(rest)) return false
  const patterns = patternsIn(schema).join('')
  // A pattern that is repeated by the hundred is as large as a hundred.
  return patterns.length <= light.patternCharacters && !/\{\d*,?\d{3}/.test(patterns)
}

/** The patterns of a plain schema. */
function patternsIn(schema: unknown): string[] {
  if (!isJsonObject(schema)) return []
  const { pattern } = schema
  return [...(typeof pattern === 'string' ? [pattern] : []), ...Object.values(schema).flatMap(patternsIn)]
}
