/**
 * JSON-LD credential schemas: a plain JSON Schema of the claims whose `@context` (JSON-LD 1.1 §4.1) maps the
 * claims to terms of a vocabulary. Validators and JSON-LD processors read the same document, and each ignores
 * the other's keywords.
 */
import * as z from 'zod'
import { PlainSchema } from './json-schema.ts'

/** The `type` of a registry record that holds one: the link relation of a context document (JSON-LD 1.1 §C). */
export const jsonLdType = 'http://www.w3.org/ns/json-ld#context'

const Iri = z.string().min(1)
const Remote = z.url({ protocol: /^https?$/, message: 'must be a URL' })

/** JSON-LD 1.1 §9.15.1. */
const TermDefinition = z.union([
  Iri,
  z.null(),
  z.strictObject({
    '@id': Iri.nullable().optional(),
    '@reverse': Iri.optional(),
    '@type': Iri.nullable().optional(),
    '@container': z.union([z.string(), z.array(z.string())]).optional(),
    '@language': z.string().nullable().optional(),
    '@direction': z.enum(['ltr', 'rtl']).nullable().optional(),
    '@index': Iri.optional(),
    '@nest': z.string().optional(),
    '@prefix': z.boolean().optional(),
    '@protected': z.boolean().optional(),
    get '@context'() {
      return Context.optional()
    },
  }),
])

const keywords = {
  '@version': z.literal(1.1).optional(),
  '@base': Iri.nullable().optional(),
  '@vocab': z.string().nullable().optional(),
  '@import': Remote.optional(),
  '@language': z.string().nullable().optional(),
  '@direction': z.enum(['ltr', 'rtl']).nullable().optional(),
  '@propagate': z.boolean().optional(),
  '@protected': z.boolean().optional(),
  '@type': z
    .strictObject({ '@container': z.literal('@set').optional(), '@protected': z.boolean().optional() })
    .optional(),
}

/** JSON-LD 1.1 §9.15. */
const Definitions = z.object(keywords).catchall(TermDefinition)
const Context: z.ZodType = z.lazy(() =>
  z.union([Remote, Definitions, z.null(), z.array(z.union([Remote, Definitions, z.null()]))]),
)

/** A JSON-LD credential schema. A context that is written out in full must define every property. */
export const JsonLdSchema = PlainSchema.extend({
  '@context': z.union([Remote, Definitions, z.array(z.union([Remote, Definitions])).min(1)]),
}).superRefine(({ '@context': context, properties }, issues) => {
  const parts = Array.isArray(context) ? context : [context]
  const inline = parts.filter((part) => typeof part !== 'string')
  const isComplete = inline.every((part) => part['@import'] === undefined && part['@vocab'] == null)
  if (inline.length < parts.length || !isComplete) return
  for (const name of Object.keys(properties)) {
    if (inline.some((part) => Object.hasOwn(part, name))) continue
    issues.addIssue({ code: 'custom', path: ['properties', name], message: 'is not a term of @context' })
  }
})
