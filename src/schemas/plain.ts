/**
 * Plain schemas: the small part of JSON Schema 2020-12 that may be registered (api.md 4.10, wire.md 8.4), in which every property
 * says its type and nothing refers to anything.
 */
import { z } from 'zod'
import type { JsonObject } from './limits.ts'

/** The `$schema` of the only dialect known here. */
export const dialect = 'https://json-schema.org/draft/2020-12/schema'

const count = z.number().int().min(0)
const unique = (items: unknown[]) => new Set(items).size === items.length
/** Up to 125 different names. */
export const Names = z.array(z.string().min(1)).max(125).refine(unique, 'must not name anything twice')

/** Annotations that every property may have; the real agent knows none. */
const notes = { title: z.string().optional(), description: z.string().optional() }

const numberKeywords = {
  ...notes,
  minimum: z.number().optional(),
  maximum: z.number().optional(),
  exclusiveMinimum: z.number().optional(),
  exclusiveMaximum: z.number().optional(),
}

const StringProperty = z.strictObject({
  ...notes,
  type: z.literal('string'),
  minLength: count.optional(),
  maxLength: count.optional(),
  format: z
    .enum(['date-time', 'date', 'time', 'duration', 'ipv4', 'ipv6', 'email', 'uri', 'uuid'])
    .optional(),
  pattern: z.string().optional(),
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

/** A plain JSON schema. Whether its patterns can be used is not looked at. */
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

/** True for what is plain but for parts that are left out, as they may be in schemas that were not registered here, and for one plain property. */
export function isPlain(schema: JsonObject): boolean {
  if (PlainFragment.safeParse(schema).success) return true
  const { $schema = dialect, const: constant = '', ...property } = schema
  return $schema === dialect && typeof constant !== 'object' && Property.safeParse(property).success
}
