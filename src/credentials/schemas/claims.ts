/**
 * Checks claims against JSON Schemas, and checks that a schema can be used at all.
 *
 * Schemas come from strangers. The main thread evaluates small plain schemas without patterns, whose work is
 * bounded by their size. A worker thread with limits of time and memory evaluates all others, so that a
 * hostile schema blocks neither the event loop nor the tenants that use ordinary schemas.
 */
import { Problem } from '../../foundation/problem.ts'
import { programOf } from '../../foundation/program.ts'
import { createThread, ThreadSpent } from '../../foundation/thread.ts'
import { evaluate, type Evaluation, type Task } from './evaluation.ts'
import { isPlain } from './json-schema.ts'
import { isJsonObject } from '../../foundation/json.ts'
import { findExcess } from './limits.ts'
import { schemaLimits } from './validator.ts'

const claimsLimits = { depth: 32, values: 10_000, characters: 2_000_000 }

/** Limits of the main thread: 20 ms to compile, 10 ms to evaluate. */
const smallSchema = { depth: 12, values: 100, characters: 4_000 }
const smallClaims = { ...claimsLimits, values: 1_000 }

const thread = createThread<Task, Evaluation>({
  name: 'schemas',
  program: programOf(import.meta.url, 'schema-worker'),
  timeMs: 3_000,
  waiting: 200,
  memoryMb: 256,
  tooMany: 'Too many schemas are being checked. Try again in a few seconds.',
})

const tooExpensive = 'takes too much time or memory'

/**
 * Checks claims against a JSON Schema of draft 2020-12.
 *
 * @throws {Problem} `error:CredentialSchemaError:CredentialSchemaValidationError` with the JSONPath and
 *   reason of every violation (the first hundred), `error:CredentialSchemaError:InvalidSchema` when the
 *   schema itself cannot be used, `error:ServiceUnavailable` when too many checks wait.
 */
export async function checkClaims(claims: unknown, schema: unknown): Promise<void> {
  const violations = await findViolations(claims, schema)
  if (violations.length === 0) return
  throw new Problem(
    'error:CredentialSchemaError:CredentialSchemaValidationError',
    `The credential schema validation failed: ${violations.join('; ')}`,
  )
}

/**
 * Whether claims satisfy a schema. False also if the check is aborted.
 *
 * @throws {Problem} as `checkClaims` does for a schema.
 */
export async function satisfies(claims: unknown, schema: unknown): Promise<boolean> {
  return (await findViolations(claims, schema)).length === 0
}

async function findViolations(claims: unknown, schema: unknown): Promise<string[]> {
  const excess = findExcess(claims, claimsLimits)
  if (excess !== undefined) return [`the set of claims ${excess}`]
  const evaluation = await evaluateSafely(schema, { claims })
  return 'aborted' in evaluation
    ? [`checking these claims against it ${tooExpensive}; shorten the claims or simplify the schema`]
    : evaluation.violations
}

/** Checks that a JSON Schema can be used. @throws {Problem} as `checkClaims` does for a schema. */
export async function checkUsable(schema: unknown): Promise<void> {
  if ('aborted' in (await evaluateSafely(schema)))
    throw invalidSchema(`it ${tooExpensive} to compile; simplify it`)
}

async function evaluateSafely(
  document: unknown,
  claims: { claims?: unknown } = {},
): Promise<Exclude<Evaluation, { unusable: string }>> {
  if (!isJsonObject(document)) throw invalidSchema('it is not a JSON object')
  // The JSON-LD context of a schema is not part of the JSON Schema.
  const { '@context': _, ...schema } = document
  const excess = findExcess(schema, schemaLimits)
  if (excess !== undefined) throw invalidSchema(`it ${excess}`)
  const task = { schema, ...claims }
  const evaluation = isSmall(task) ? evaluate(task) : await evaluateInThread(task)
  if ('unusable' in evaluation) throw invalidSchema(evaluation.unusable)
  return evaluation
}

function isSmall({ schema, claims }: Task): boolean {
  return (
    findExcess(schema, smallSchema) === undefined &&
    findExcess(claims, smallClaims) === undefined &&
    isPlain(schema) &&
    !JSON.stringify(schema).includes('"pattern"')
  )
}

async function evaluateInThread(task: Task): Promise<Evaluation> {
  try {
    return await thread.ask(task)
  } catch (error) {
    if (error instanceof ThreadSpent) return { aborted: true }
    throw error
  }
}

function invalidSchema(reason: string): Problem {
  return new Problem(
    'error:CredentialSchemaError:InvalidSchema',
    `The credential schema cannot be used: ${reason}`,
  )
}
