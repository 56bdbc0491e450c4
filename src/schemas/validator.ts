/**
 * JSON Schema 2020-12 (https://json-schema.org/draft/2020-12) as a function, by ajv, made safe for schemas of strangers.
 *
 * Nothing is fetched: a `$ref` leads within the schema or nowhere. Members are looked for on the object itself, so that
 * `required: ["constructor"]` means something. Every schema has an ajv of its own, because two schemas may claim
 * one `$id`. Checking is metered: each subschema carries a keyword of ours that takes off its cost whenever it is applied.
 */
import { createHash } from 'node:crypto'
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js'
import { reasonOf } from '../base/reason.ts'
import { costKeyword, withCosts } from './cost.ts'
import { burn, type Fuel } from './fuel.ts'
import { formats } from './formats.ts'
import { findExcess, type JsonObject } from './limits.ts'
import { patternCompiler } from './pattern.ts'

/** Checks a value. @throws {OutOfFuel} when that takes too much work. @throws {RangeError} when references go round in circles. */
export type Validator = (value: unknown) => readonly ErrorObject[]

/** The `$schema` of the only dialect known here. */
export const dialect = 'https://json-schema.org/draft/2020-12/schema'

const fuelForOneCheck = 10_000_000
const unitsPerStep = 200

const meta = new Ajv2020({ strict: false, logger: false })

const cacheSize = 200
/** By digest of the schema's text; the one used longest ago is dropped first. */
const cache = new Map<string, Validator>()

/** How much a schema may be, whoever wrote it. */
export const schemaLimits = { depth: 64, values: 5_000, characters: 100_000 }

/** Makes a validator of a schema, or finds the one made before. @throws {SyntaxError} saying what about the schema cannot be used. */
export function compileSchema(schema: JsonObject): Validator {
  const excess = findExcess(schema, schemaLimits)
  if (excess !== undefined) throw new SyntaxError(`it ${excess}`)
  const key = createHash('sha256').update(JSON.stringify(schema)).digest('base64')
  const validator = cache.get(key) ?? compile(schema)
  cache.delete(key)
  cache.set(key, validator)
  if (cache.size > cacheSize) cache.delete(cache.keys().next().value!)
  return validator
}

function compile(schema: JsonObject): Validator {
  const { $schema = dialect } = schema
  if ($schema !== dialect) throw new SyntaxError(`$schema: must be ${dialect}`)
  if (!meta.validateSchema({ ...schema, $schema })) {
    const { instancePath, message } = meta.errors![0]!
    throw new SyntaxError(`${instancePath.slice(1).replaceAll('/', '.') || 'it'}: ${message}`)
  }
  const fuel: Fuel = { left: 0 }
  const validate = compileMetered(withCosts(schema), fuel)
  return (value) => {
    fuel.left = fuelForOneCheck
    return validate(value) ? [] : (validate.errors ?? [])
  }
}

function compileMetered(schema: JsonObject, fuel: Fuel): ValidateFunction {
  const compiler = patternCompiler(fuel)
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
    validate: (wanted: boolean, items: unknown[]) => !wanted || new Set(items.map(canonical)).size === items.length,
  })
  try {
    return ajv.compile(schema)
  } catch (error) {
    throw new SyntaxError(reasonOf(error), { cause: error })
  }
}

/** A text that equal JSON values share. */
function canonical(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`
  const members = Object.entries(value).map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`)
  return `{${members.toSorted().join()}}`
}
