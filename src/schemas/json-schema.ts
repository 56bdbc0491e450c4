/**
 * What may be registered as a credential schema (api.md 4.10, wire.md 8.4): a small part of JSON Schema 2020-12, in which every
 * property says its type, or the names of an AnonCreds schema.
 */
import { z } from 'zod'
import { Problem } from '../base/problem.ts'
import { reasonOf } from '../base/reason.ts'
import { findExcess, type JsonObject } from './limits.ts'
import { compilePattern } from './pattern.ts'
import { compileSchema, dialect, schemaLimits } from './validator.ts'

export const jsonSchemaType = 'https://w3c-ccg.github.io/vc-json-schemas/schema/2.0/schema.json'
export const anonCredsSchemaType = 'AnoncredSchemaV1'

const count = z.number().int().min(0)
const unique = (items: unknown[]) => new Set(items).size === items.length
const Names = z.array(z.string().min(1)).max(125).refine(unique, 'must not name anything twice')

/** Annotations that every property may have; the real agent knows none. */
const notes = { title: z.string().optional(), description: z.string().optional() }

const numberKeywords = {
  ...notes,
  minimum: z.number().optional(),
  maximum: z.number().optional(),
  exclusiveMinimum: z.number().optional(),
  exclusiveMaximum: z.number().optional(),
}

const Pattern = z.string().superRefine((pattern, context) => {
  try {
    compilePattern(pattern)
  } catch (error) {
    context.addIssue({ code: 'custom', message: reasonOf(error) })
  }
})

const StringProperty = z.strictObject({
  ...notes,
  type: z.literal('string'),
  minLength: count.optional(),
  maxLength: count.optional(),
  format: z.enum(['date-time', 'date', 'time', 'duration', 'ipv4', 'ipv6', 'email', 'uri', 'uuid']).optional(),
  pattern: Pattern.optional(),
  enum: z.array(z.string()).min(1).optional(),
})

const IntegerProperty = z.strictObject({ ...numberKeywords, type: z.literal('integer'), enum: z.array(z.number().int()).min(1).optional() })
const NumberProperty = z.strictObject({ ...numberKeywords, type: z.literal('number'), enum: z.array(z.number()).min(1).optional() })
const BooleanProperty = z.strictObject({ ...notes, type: z.literal('boolean') })

const ArrayProperty = z.strictObject({
  ...notes,
  type: z.literal('array'),
  get items() {
    return Property
  },
  minItems: count.optional(),
  maxItems: count.optional(),
  uniqueItems: z.boolean().optional(),
})

const ObjectProperty = z.strictObject({
  ...notes,
  type: z.literal('object'),
  get properties() {
    return Properties
  },
  required: Names.optional(),
  additionalProperties: z.boolean().optional(),
  minProperties: count.optional(),
  maxProperties: count.optional(),
})

const Property: z.ZodType = z.lazy(() =>
  z.discriminatedUnion('type', [StringProperty, IntegerProperty, NumberProperty, BooleanProperty, ArrayProperty, ObjectProperty]),
)
const Properties = z.record(z.string(), Property)

const JsonSchema = z.strictObject({
  $id: z.string().optional(),
  $schema: z.literal(dialect),
  title: z.string().optional(),
  description: z.string().min(1).max(2_000).optional(),
  type: z.literal('object'),
  properties: Properties,
  required: Names.optional(),
  additionalProperties: z.boolean().optional(),
})

const AnonCredsSchema = z.strictObject({
  name: z.string().min(1),
  version: z.string().min(1),
  attrNames: Names.min(1),
  issuerId: z.string().min(1),
})

/**
 * Checks a schema before it is registered.
 *
 * @throws {Problem} `error:CredentialSchemaError:UnsupportedCredentialSchemaType`, or `error:CredentialSchemaError:InvalidSchema` with
 * the path of every keyword that is wrong, beginning at `schema`.
 */
export function checkSchema(type: string, schema: JsonObject): void {
  if (type !== jsonSchemaType && type !== anonCredsSchemaType) {
    throw new Problem(
      'error:CredentialSchemaError:UnsupportedCredentialSchemaType',
      `type: must be ${jsonSchemaType} or ${anonCredsSchemaType}.`,
    )
  }
  const excess = findExcess(schema, schemaLimits)
  if (excess !== undefined) throw invalid([`schema: ${excess}`])
  const { error } = (type === jsonSchemaType ? JsonSchema : AnonCredsSchema).safeParse(schema)
  if (error) throw invalid(error.issues.flatMap(toSentences))
  if (type === jsonSchemaType) checkUsable(schema)
}

/** What only the compiler knows, such as how much there is of it. */
function checkUsable(schema: JsonObject): void {
  try {
    compileSchema(schema)
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    throw invalid([`schema: ${error.message}`])
  }
}

function toSentences(issue: z.core.$ZodIssue): string[] {
  const path = ['schema', ...issue.path].join('.')
  if (issue.code === 'unrecognized_keys') return issue.keys.map((key) => `${path}.${key}: is not a keyword that is accepted here`)
  if (issue.code === 'invalid_union') return [`${path}: must be string, integer, number, boolean, array or object`]
  return [`${path}: ${issue.message}`]
}

function invalid(reasons: string[]): Problem {
  return new Problem('error:CredentialSchemaError:InvalidSchema', `The credential schema is not valid. ${reasons.slice(0, 20).join('; ')}`)
}
