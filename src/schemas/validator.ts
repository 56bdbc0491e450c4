/**
 * JSON Schema 2020-12 (https://json-schema.org/draft/2020-12) as a function, by ajv, made safe for schemas of strangers.
 *
 * Nothing is fetched: a `$ref` leads within the schema or nowhere. Members are looked for on the object itself, so that
 * `required: ["constructor"]` means something. Every schema has an ajv of its own, because two schemas may claim
 * one `$id`. Checking is metered: each subschema carries a keyword of ours that takes off its cost whenever it is applied.
 */
import { createHash } from 'node:crypto'
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js'
import { LRUCache } from 'lru-cache'
import { reasonOf } from '../base/reason.ts'
import { costKeyword, withCosts } from './cost.ts'
import { burn, type Fuel } from './fuel.ts'
import { formats } from './formats.ts'
import type { JsonObject } from './limits.ts'
import { patternCompiler } from './pattern.ts'
import { dialect, isPlain } from './plain.ts'
import { UnusableSchema } from './unusable.ts'

/**
 * Checks a value with so much fuel.
 *
 * @throws {OutOfFuel} when that is not enough. @throws {RangeError} when references go round in circles.
 */
export type Validator = (value: unknown, units: number) => readonly ErrorObject[]

const unitsPerStep = 200

/** Made when the first schema needs it: its own schema takes 50 ms to compile. */
let meta: Ajv2020 | undefined

/** By digest of the schema's text; the one used longest ago is dropped first. */
const cache = new LRUCache<string, Validator>({ max: 200 })

/** How much a schema may be, whoever wrote it. */
export const schemaLimits = { depth: 64, values: 5_000, characters: 100_000 }

/**
 * Makes a validator of a schema within `schemaLimits`, or finds the one made before.
 *
 * @throws {UnusableSchema}
 */
export function compileSchema(schema: JsonObject): Validator {
  const key = createHash('sha256').update(JSON.stringify(schema)).digest('base64')
  const known = cache.get(key)
  if (known) return known
  const made = compile(schema)
  cache.set(key, made)
  return made
}

function compile(schema: JsonObject): Validator {
  const { $schema = dialect } = schema
  if ($schema !== dialect) throw new UnusableSchema(['$schema'], `must be ${dialect}`)
  if (!isPlain(schema)) checkMeta({ ...schema, $schema })
  const fuel: Fuel = { left: 0 }
  const validate = compileMetered(schema, fuel)
  return (value, units) => {
    fuel.left = units
    return validate(value) ? [] : (validate.errors ?? [])
  }
}

/** Compares a schema with the schema of schemas, which plain ones are known to fit. */
function checkMeta(schema: JsonObject): void {
  meta ??= new Ajv2020({ strict: false, logger: false })
  if (meta.validateSchema(schema)) return
  const { instancePath, message } = meta.errors![0]!
  throw new UnusableSchema(instancePath.split('/').slice(1), message ?? 'is not what it may be')
}

function compileMetered(schema: JsonObject, fuel: Fuel): ValidateFunction {
  const compiler = patternCompiler(fuel)
  const metered = withCosts(schema, compiler)
  const ajv = new Ajv2020({
    allErrors: true,
    ownProperties: true,
    strict: false,
    logger: false,
    meta: false,
    validateSchema: false,
    // Copied to every place that refers to it, a large subschema would multiply the code.
    inlineRefs: false,
    formats,
    code: { regExp: Object.assign(compiler, { code: 'patternCompiler' }) },
  })
  ajv.addKeyword({
    keyword: costKeyword,
    schemaType: 'number',
    errors: false,
    validate: (units: number, data: unknown) => {
      const members = typeof data === 'object' && data !== null ? Object.keys(data).length : 0
      burn(fuel, (units + members) * unitsPerStep)
      return true
    },
  })
  ajv.removeKeyword('uniqueItems')
  ajv.addKeyword({
    keyword: 'uniqueItems',
    type: 'array',
    schemaType: 'boolean',
    error: { message: 'must not have equal items' },
    // Ajv compares all pairs.
    validate: (wanted: boolean, items: unknown[]) =>
      !wanted || new Set(items.map(canonical)).size === items.length,
  })
  try {
    return ajv.compile(metered)
  } catch (error) {
    throw new UnusableSchema([], reasonOf(error), { cause: error })
  }
}

/** A text that equal JSON values share. */
function canonical(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`
  const members = Object.entries(value).map(
    ([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`,
  )
  return `{${members.toSorted().join()}}`
}
