/** Verification policies (api.md 4.12): what they say, and what they ask of the credentials in a presentation. */
import { z } from 'zod'
import { checkOneSatisfied, type Judged } from '../credentials/constraints.ts'
import { Did } from '../did/document.ts'
import { optional, Uuid } from '../wallet/model.ts'

/** A schema, and the issuers whose credentials of that schema are accepted; with no issuers, anybody's are. */
export const PolicyConstraint = z
  .object({
    schemaId: z.string().min(1).describe('URL of a credential schema.'),
    trustedIssuers: z
      .array(Did)
      .max(1_000)
      .nullish()
      .transform((dids) => dids ?? [])
      .describe('DIDs whose credentials of the schema are accepted; an empty list accepts everybody’s.'),
  })
  .meta({ id: 'VerificationPolicyConstraint' })
export type PolicyConstraint = z.output<typeof PolicyConstraint>

export const VerificationPolicyInput = z
  .object({
    id: optional(Uuid).describe('Not used; the agent makes the id.'),
    name: z.string().min(1),
    description: z.string(),
    constraints: z
      .array(PolicyConstraint)
      .max(100)
      .nullish()
      .transform((constraints) => constraints ?? [])
      .describe('Each credential must satisfy one of them; an empty list accepts all.'),
  })
  .meta({ id: 'VerificationPolicyInput' })
export type VerificationPolicyInput = z.output<typeof VerificationPolicyInput>

export const VerificationPolicy = z
  .object({
    self: z.string(),
    kind: z.literal('VerificationPolicy'),
    id: z.guid(),
    nonce: z.int().describe('Counts the updates; an update names the one that it has seen.'),
    name: z.string(),
    description: z.string(),
    createdAt: z.iso.datetime(),
    updatedAt: z.iso.datetime(),
    constraints: z.array(PolicyConstraint),
  })
  .meta({ id: 'VerificationPolicyResponse' })
export type VerificationPolicy = z.output<typeof VerificationPolicy>

/**
 * Checks that every credential satisfies a constraint of a policy. A constraint that no credential satisfies is an alternative that was not used.
 *
 * @throws {VerificationError} `schema-not-accepted`, `issuer-not-trusted`
 */
export function checkPolicy(constraints: readonly PolicyConstraint[], credentials: readonly Judged[]): void {
  const accepted = toConstraints(constraints)
  for (const credential of credentials) checkOneSatisfied(accepted, credential, 'The policy')
}

/** The constraints of a policy as lines of `proofs`. */
export function toConstraints(
  constraints: readonly PolicyConstraint[],
): { schemaId: string; trustIssuers?: string[] }[] {
  return constraints.map(({ schemaId, trustedIssuers }) => ({
    schemaId,
    ...(trustedIssuers.length > 0 && { trustIssuers: trustedIssuers }),
  }))
}
