/** The form of a template of credentials. */
import * as z from 'zod'

/** A property of a template's schema, in the plain part of JSON Schema that can be registered. */
export const TemplateProperty = z.looseObject({
  type: z.enum(['string', 'integer', 'number', 'boolean', 'array', 'object']),
  title: z.string().min(1),
})

export const TemplateFile = z.strictObject({
  title: z.string().min(1).describe('What people call the credential; also the name of its type.'),
  summary: z.string().min(1).describe('One line for people.'),
  display: z.strictObject({ backgroundColor: z.string(), textColor: z.string() }),
  schema: z.strictObject({
    $schema: z.literal('https://json-schema.org/draft/2020-12/schema'),
    title: z.string(),
    type: z.literal('object'),
    properties: z.record(z.string(), TemplateProperty).readonly(),
    required: z.array(z.string()).readonly(),
    additionalProperties: z.literal(false),
  }),
  example: z.record(z.string(), z.unknown()).describe('Claims that satisfy the schema.'),
})
export type TemplateFile = z.infer<typeof TemplateFile>
