/**
 * Compiles JSON Schema 2020-12 (https://json-schema.org/draft/2020-12) with ajv.
 *
 * Nothing is fetched: a `$ref` to another document is an error. Only own members count, so that `required:
 * ["constructor"]` works. Every schema gets its own ajv, because two schemas may have the same `$id`.
 * Patterns run in RE2JS, in linear time. Other work is not bounded here: `claims.ts` decides which thread may
 * do it.
 */
import { createHash } from 'node:crypto'
import { Ajv2020, type ErrorObject, type Format } from 'ajv/dist/2020.js'
import addFormats, { type FormatName } from 'ajv-formats'
import { LRUCache } from 'lru-cache'
import { RE2JS } from 're2js'
import { quote } from '../../foundation/faults.ts'
import { reasonOf } from '../../foundation/reason.ts'
import { dialect, isPlain } from './json-schema.ts'
import type { JsonObject } from '../../foundation/json.ts'

/** Returns the violations. @throws {RangeError} when a reference leads back to itself. */
export type Validator = (value: unknown) => readonly ErrorObject[]

/** A schema that cannot be compiled. The message names the member, or completes "it …". */
export class UnusableSchema extends Error {
  override name = 'UnusableSchema'
}

/** The largest schema that is compiled. */
export const schemaLimits = { depth: 64, values: 5_000, characters: 100_000 }

/** Compiled schemas by the digest of their text. */
const cache = new LRUCache<string, Validator>({ max: 200 })

/** Validates schemas. Created on first use, because compiling the meta-schema takes 50 ms. */
let meta: Ajv2020 | undefined

/** Compiles a schema within `schemaLimits`. @throws {UnusableSchema} */
export function compileSchema(schema: JsonObject): Validator {
  const key = createHash('sha256').update(JSON.stringify(schema)).digest('base64')
  const cached = cache.get(key)
  if (cached) return cached
  const validator = compile(schema)
  cache.set(key, validator)
  return validator
}

function compile(schema: JsonObject): Validator {
  const { $schema = dialect } = schema
  if ($schema !== dialect) throw new UnusableSchema(`$schema: must be ${dialect}, and is ${quote($schema)}`)
  if (!isPlain(schema)) validateSchema({ ...schema, $schema })
  const ajv = new Ajv2020({
    allErrors: true,
    ownProperties: true,
    strict: false,
    logger: false,
    meta: false,
    validateSchema: false,
    // Inlining would copy a subschema to every reference.
    inlineRefs: false,
    formats,
    code: { regExp: Object.assign(compilePattern, { code: 'compilePattern' }) },
  })
  try {
    const validate = ajv.compile(schema)
    return (value) => (validate(value) ? [] : (validate.errors ?? []))
  } catch (error) {
    throw new UnusableSchema(reasonOf(error), { cause: error })
  }
}

/** Validates a schema against the meta-schema. Plain schemas satisfy it by definition. */
function validateSchema(schema: JsonObject): void {
  meta ??= new Ajv2020({ strict: false, logger: false })
  if (meta.validateSchema(schema)) return
  const { instancePath, message } = meta.errors![0]!
  const path = instancePath.split('/').slice(1).join('.')
  throw new UnusableSchema(`${path === '' ? 'it' : `${path}:`} ${message ?? 'is not valid'}`)
}

/** ECMA-262 patterns without look-around and back-references, which linear-time engines do not support. */
function compilePattern(pattern: string): { test(text: string): boolean; toString(): string } {
  if (pattern.length > 1_000) throw new SyntaxError('a pattern has more than 1000 characters')
  try {
    const compiled = RE2JS.compile(RE2JS.translateRegExp(pattern))
    // Ajv identifies a schema's patterns by their text.
    return { test: (text) => compiled.test(text), toString: () => pattern }
  } catch (error) {
    throw new SyntaxError(`the pattern ${pattern} cannot be used: ${reasonOf(error)}`, { cause: error })
  }
}

const formatNames: FormatName[] = [
  'date-time',
  'date',
  'time',
  'duration',
  'email',
  'hostname',
  'ipv4',
  'ipv6',
  'uri',
  'uri-reference',
  'uuid',
  'json-pointer',
]

/** No format matches a longer text. Some checks split the text into many parts. */
const maxFormatLength = 2_000

/** Values of `format` that are checked. Others are annotations (JSON Schema Validation 2020-12 §7.2.1). */
const formats: Record<string, (text: string) => boolean> = Object.fromEntries(
  formatNames.map((name) => {
    const matches = toPredicate(addFormats.default.get(name))
    return [name, (text: string) => text.length <= maxFormatLength && matches(text)]
  }),
)

function toPredicate(format: Format): (text: string) => boolean {
  if (format instanceof RegExp) return (text) => format.test(text)
  if (typeof format === 'object') return toPredicate(format.validate as Format)
  return format as (text: string) => boolean
}
