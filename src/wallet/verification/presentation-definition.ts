/** The JSON of presentation definitions (DIF Presentation Exchange 2.1.1 §5). */
import * as z from 'zod'
import { isJsonObject, type JsonObject } from '../../foundation/json.ts'
import { findExcess } from '../../credentials/schemas/limits.ts'
import { optional } from '../model.ts'
import { compilePath } from './json-path.ts'

/** Absent and null are an empty list. */
const list = <Item extends z.ZodType>(item: Item, most: number) =>
  z
    .array(item)
    .max(most)
    .nullish()
    .transform((items) => items ?? [])

const Text = optional(z.string().max(2_000))
const Algorithms = z.looseObject({ alg: z.array(z.string()).max(50) })

/**
 * Algorithms of the issuer's signature and of the key binding (OpenID for Verifiable Presentations 1.0
 * §B.3.3).
 */
const SdJwtAlgorithms = z.looseObject({
  'sd-jwt_alg_values': optional(z.array(z.string()).max(50)),
  'kb-jwt_alg_values': optional(z.array(z.string()).max(50)),
})

/**
 * Accepted formats of credentials: names of the DIF registry, and the current and the older media type of
 * SD-JWT VC. Unknown formats are stored and match no credential.
 */
export const ClaimFormat = z
  .looseObject({
    jwt: optional(Algorithms),
    jwt_vc: optional(Algorithms),
    jwt_vp: optional(Algorithms),
    ldp: optional(z.looseObject({ proof_type: z.array(z.string()).max(50) })),
    'vc+sd-jwt': optional(SdJwtAlgorithms),
    'dc+sd-jwt': optional(SdJwtAlgorithms),
  })
  .meta({ id: 'ClaimFormat' })
export type ClaimFormat = z.output<typeof ClaimFormat>

const Path = z.string().superRefine((path, context) => {
  try {
    compilePath(path)
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    context.addIssue({ code: 'custom', message: error.message, input: path })
  }
})

/** A JSON Schema for the selected value. `checkFilter` checks it, because that takes time. */
const Filter = z
  .custom<JsonObject>(isJsonObject, 'is not a JSON Schema, which is an object')
  .meta({ type: 'object' })

export const Field = z
  .object({
    id: optional(z.string()),
    path: list(Path, 10).describe('JSONPaths (RFC 9535, without filters), in the order of preference.'),
    name: Text,
    purpose: Text,
    filter: optional(Filter).describe('A JSON Schema of draft 2020-12 or 7 that the value must satisfy.'),
    optional: optional(z.boolean()),
  })
  .meta({ id: 'Field' })
export type Field = z.output<typeof Field>

export const InputDescriptor = z
  .object({
    id: z.string().min(1),
    name: Text,
    purpose: Text,
    format: optional(ClaimFormat),
    constraints: z.object({ fields: list(Field, 30) }).meta({ id: 'Constraints' }),
  })
  .meta({ id: 'InputDescriptor' })
export type InputDescriptor = z.output<typeof InputDescriptor>

const content = {
  input_descriptors: list(InputDescriptor, 30).describe(
    'The requested credentials. A definition without descriptors is always satisfied.',
  ),
  name: Text,
  purpose: Text,
  format: optional(ClaimFormat),
}

/** Limits of a definition. Every filter is compiled, and every path is evaluated in every credential. */
const limits = { depth: 40, values: 3_000, characters: 200_000 }

export const CreatePresentationDefinition = z
  .object(content)
  .superRefine((definition, context) => {
    const excess = findExcess(definition, limits)
    if (excess !== undefined) context.addIssue({ code: 'custom', message: `the definition ${excess}` })
    const ids = definition.input_descriptors.map(({ id }) => id)
    const twice = ids.findIndex((id, index) => ids.indexOf(id) !== index)
    if (twice === -1) return
    context.addIssue({
      code: 'custom',
      path: ['input_descriptors', twice, 'id'],
      message: 'another input descriptor has this id',
    })
  })
  .meta({ id: 'CreatePresentationDefinition' })
export type CreatePresentationDefinition = z.output<typeof CreatePresentationDefinition>

export const PresentationDefinition = z
  .object({ id: z.string(), ...content })
  .meta({ id: 'PresentationDefinition' })
export type PresentationDefinition = z.output<typeof PresentationDefinition>
