/** The JSON of AnonCreds proofs (wire.md 10): what a verifier asks for, and what a holder answers. */
import { z } from 'zod'
import { ByAttribute, Decimal, Id, Reference } from './model.ts'
import { mustNotRevoke } from './revocation.ts'

/** `schema_id`, `cred_def_id`, `issuer_id`, …, `attr::<name>::value`: all members of one restriction must hold, and one restriction of a list. */
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
  names: z.undefined('groups of attributes are not supported here: ask for each by its name').optional(),
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

const few = (all: object) => Object.keys(all).length <= 125

export const PresentationRequest = z
  .object({
    name: z.string().max(1_000),
    version: z.string().max(100),
    nonce: z.string().max(100).regex(/^\d+$/, 'is not a decimal number'),
    requested_attributes: z.record(Reference, RequestedAttribute).refine(few, 'has more than 125 members'),
    requested_predicates: z.record(Reference, RequestedPredicate).refine(few, 'has more than 125 members'),
    non_revoked: Interval,
  })
  .meta({ id: 'AnoncredPresentationRequestV1' })
export type PresentationRequest = z.output<typeof PresentationRequest>

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
  non_revoc_proof: mustNotRevoke,
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
    .array(z.object({ schema_id: Id, cred_def_id: Id, rev_reg_id: mustNotRevoke, timestamp: mustNotRevoke }))
    .max(20),
})
export type Presentation = z.output<typeof Presentation>
