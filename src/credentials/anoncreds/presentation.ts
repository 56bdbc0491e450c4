/** The JSON of AnonCreds proof requests and presentations. */
import * as z from 'zod'
import { ByAttribute, Decimal, Id, notRevocable, Reference } from './model.ts'
import { isKnownTag, tagNames } from './restrictions.ts'

/** A credential must satisfy all members of one restriction in the list. */
const Restrictions = z
  .array(z.record(Reference, z.string().max(70_000)))
  .max(100)
  .nullish()
  .transform((list) => list ?? [])

const Interval = z
  .object({ from: z.number().int().min(0).optional(), to: z.number().int().min(0).optional() })
  .nullish()

const RequestedAttribute = z.object({
  name: z.string().min(1).max(256),
  names: z.undefined('groups of attributes are not supported; request each by its name').optional(),
  restrictions: Restrictions,
  non_revoked: Interval,
})

export const predicateTypes = ['>=', '>', '<=', '<'] as const

const RequestedPredicate = z.object({
  name: z.string().min(1).max(256),
  p_type: z.enum(predicateTypes),
  p_value: z.number().int().min(-2_147_483_648).max(2_147_483_647),
  restrictions: Restrictions,
  non_revoked: Interval,
})

const maxRequested = (all: object) => Object.keys(all).length <= 125

export const PresentationRequest = z
  .object({
    name: z.string().max(1_000),
    version: z.string().max(100),
    nonce: z.string().max(100).regex(/^\d+$/, 'is not a decimal number'),
    requested_attributes: z
      .record(Reference, RequestedAttribute)
      .refine(maxRequested, 'has more than 125 members'),
    requested_predicates: z
      .record(Reference, RequestedPredicate)
      .refine(maxRequested, 'has more than 125 members'),
    non_revoked: Interval,
  })
  .meta({ id: 'AnoncredPresentationRequestV1' })
export type PresentationRequest = z.output<typeof PresentationRequest>

type RequestType = z.ZodType<Omit<PresentationRequest, 'nonce'>>

const revocationUnsupported = 'is not supported: AnonCreds credentials cannot be revoked. Leave it out.'

/**
 * Adds the rules of requests that this agent sends and answers: no revocation, no unknown restriction, at
 * least one item.
 */
export function supportedRequest<Type extends RequestType>(type: Type) {
  return type.superRefine((request, context) => {
    const refuse = (path: string[], message: string) => context.addIssue({ code: 'custom', path, message })
    if (request.non_revoked) refuse(['non_revoked'], revocationUnsupported)
    const items = (['requested_attributes', 'requested_predicates'] as const).flatMap((member) =>
      Object.entries(request[member]).map(([reference, each]) => ({ path: [member, reference], ...each })),
    )
    if (items.length === 0)
      refuse(['requested_attributes'], 'must not be empty together with requested_predicates')
    for (const { path, non_revoked, restrictions } of items) {
      if (non_revoked) refuse([...path, 'non_revoked'], revocationUnsupported)
      for (const [index, restriction] of restrictions.entries()) {
        const restrictionPath = [...path, 'restrictions', String(index)]
        if (Object.keys(restriction).length === 0) refuse(restrictionPath, 'must not be empty')
        const unknown = Object.keys(restriction).find((tag) => !isKnownTag(tag))
        if (unknown !== undefined) refuse([...restrictionPath, unknown], `is none of ${tagNames}`)
      }
    }
  })
}

export const SupportedRequest = supportedRequest(PresentationRequest)

const Indexed = z.object({ sub_proof_index: z.number().int().min(0) })

const GreaterOrEqualProof = z.object({
  u: z.record(Reference, Decimal),
  r: z.record(Reference, Decimal),
  mj: Decimal,
  alpha: Decimal,
  t: z.record(Reference, Decimal),
  predicate: z.object({
    attr_name: z.string(),
    p_type: z.enum(['GE', 'LE', 'LT', 'GT']),
    value: z.number().int(),
  }),
})

const SubProof = z.object({
  primary_proof: z.object({
    eq_proof: z.object({
      revealed_attrs: ByAttribute,
      a_prime: Decimal,
      e: Decimal,
      v: Decimal,
      m: ByAttribute,
      m2: Decimal,
    }),
    ge_proofs: z.array(GreaterOrEqualProof).max(125),
  }),
  non_revoc_proof: notRevocable,
})

export const Presentation = z.object({
  proof: z.object({
    proofs: z.array(SubProof).max(20),
    aggregated_proof: z.object({
      c_hash: Decimal,
      c_list: z.array(z.array(z.number().int().min(0).max(255)).max(1_000)).max(5_000),
    }),
  }),
  requested_proof: z.object({
    revealed_attrs: z.record(
      Reference,
      z.object({ sub_proof_index: z.number().int().min(0), raw: z.string().max(200_000), encoded: Decimal }),
    ),
    self_attested_attrs: z.record(Reference, z.string().max(200_000)),
    unrevealed_attrs: z.record(Reference, Indexed),
    predicates: z.record(Reference, Indexed),
  }),
  identifiers: z
    .array(z.object({ schema_id: Id, cred_def_id: Id, rev_reg_id: notRevocable, timestamp: notRevocable }))
    .max(20),
})
export type Presentation = z.output<typeof Presentation>
