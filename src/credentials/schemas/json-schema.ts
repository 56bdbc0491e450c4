/**
 * Plain JSON Schemas: the part of JSON Schema 2020-12 that can be registered. Every property states its type,
 * and there are no references and no combinations of schemas.
 */
import * as z from 'zod'
import type { JsonObject } from '../../foundation/json.ts'

/** The `$schema` of draft 2020-12, the only supported dialect. */
export const dialect = 'https://json-schema.org/draft/2020-12/schema'

const count = z.number().int().min(0)
/** Up to 125 different names of properties or attributes. */
export const Names = z
  .array(z.string().min(1))
  .max(125)
  .refine((names) => new Set(names).size === names.length, 'must not contain a name twice')

/** Annotations that every property may have. */
const annotations = { title: z.string().optional(), description: z.string().optional() }

const numberKeywords = {
  ...annotations,
  minimum: z.number().optional(),
  maximum: z.number().optional(),
  exclusiveMinimum: z.number().optional(),
  exclusiveMaximum: z.number().optional(),
}

const StringProperty = z.strictObject({
  ...annotations,
  type: z.literal('string'),
  minLength: count.optional(),
  maxLength: count.optional(),
  format: z
    .enum(['date-time', 'date', 'time', 'duration', 'ipv4', 'ipv6', 'email', 'uri', 'uuid'])
    .optional(),
  pattern: z.string().optional(),
  /** Bytes, such as those of a picture in an mdoc. */
  contentEncoding: z.enum(['base64', 'base64url']).optional(),
  enum: z.array(z.string()).min(1).optional(),
})

const IntegerProperty = z.strictObject({
  ...numberKeywords,
  type: z.literal('integer'),
  enum: z.array(z.number().int()).min(1).optional(),
})
const NumberProperty = z.strictObject({
  ...numberKeywords,
  type: z.literal('number'),
  enum: z.array(z.number()).min(1).optional(),
})
const BooleanProperty = z.strictObject({ ...annotations, type: z.literal('boolean') })

const ArrayProperty = z.strictObject({
  ...annotations,
  type: z.literal('array'),
  get items() {
    return Property
  },
  minItems: count.optional(),
  maxItems: count.optional(),
  uniqueItems: z.boolean().optional(),
})

const ObjectProperty = z.strictObject({
  ...annotations,
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
  z.discriminatedUnion('type', [
    StringProperty,
    IntegerProperty,
    NumberProperty,
    BooleanProperty,
    ArrayProperty,
    ObjectProperty,
  ]),
)
const Properties = z.record(z.string(), Property)

/** A plain JSON Schema. Its patterns are not checked here. */
export const PlainSchema = z.strictObject({
  $id: z.string().optional(),
  $schema: z.literal(dialect),
  title: z.string().optional(),
  description: z.string().min(1).max(2_000).optional(),
  type: z.literal('object'),
  properties: Properties,
  required: Names.optional(),
  additionalProperties: z.boolean().optional(),
})

const PlainFragment = PlainSchema.partial()

/**
 * True for a plain schema, for one with parts left out, and for the schema of one property (`filter` in DIF
 * Presentation Exchange).
 */
export function isPlain(schema: JsonObject): boolean {
  if (PlainFragment.safeParse(schema).success) return true
  const { $schema = dialect, const: constant = '', ...property } = schema
  return $schema === dialect && typeof constant !== 'object' && Property.safeParse(property).success
}
