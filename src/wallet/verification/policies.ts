/** Verification policies of a wallet: which schemas and issuers a verifier accepts. */
import { sql, type Selectable } from 'kysely'
import * as z from 'zod'
import { newId } from '../../foundation/id.ts'
import { Problem } from '../../foundation/problem.ts'
import { checkOneSatisfied, type SchemasAndIssuer } from '../../credentials/codecs/constraints.ts'
import { Did } from '../../did/document.ts'
import type { Db, Tx } from '../../foundation/storage/database.ts'
import { pageOf, type Paging } from '../../foundation/storage/list-query.ts'
import type { WalletTables } from '../../foundation/storage/wallet-tables.ts'
import { optional, Uuid } from '../model.ts'

/** A schema and the issuers trusted for it. An empty list trusts every issuer. */
export const PolicyConstraint = z
  .object({
    schemaId: z.string().min(1).describe('URL of a credential schema.'),
    trustedIssuers: z
      .array(Did)
      .max(1_000)
      .nullish()
      .transform((dids) => dids ?? [])
      .describe('DIDs of the trusted issuers; an empty list trusts every issuer.'),
  })
  .meta({ id: 'VerificationPolicyConstraint' })
export type PolicyConstraint = z.output<typeof PolicyConstraint>

export const VerificationPolicyInput = z
  .object({
    id: optional(Uuid).describe('Ignored; the agent generates the id.'),
    name: z.string().min(1),
    description: z.string(),
    constraints: z
      .array(PolicyConstraint)
      .max(100)
      .nullish()
      .transform((constraints) => constraints ?? [])
      .describe('Each credential must satisfy one of them; an empty list accepts all credentials.'),
  })
  .meta({ id: 'VerificationPolicyInput' })
export type VerificationPolicyInput = z.output<typeof VerificationPolicyInput>

export const VerificationPolicy = z
  .object({
    self: z.string(),
    kind: z.literal('VerificationPolicy'),
    id: z.guid(),
    nonce: z.int().describe('Number of updates. An update must name the current number.'),
    name: z.string(),
    description: z.string(),
    createdAt: z.iso.datetime(),
    updatedAt: z.iso.datetime(),
    constraints: z.array(PolicyConstraint),
  })
  .meta({ id: 'VerificationPolicyResponse' })
export type VerificationPolicy = z.output<typeof VerificationPolicy>

/**
 * Checks that every credential satisfies one constraint of a policy. Constraints are alternatives, so not all
 * need to be satisfied.
 *
 * @throws {VerificationError} `schema-not-accepted`, `issuer-not-trusted`
 */
export function checkPolicy(
  constraints: readonly PolicyConstraint[],
  credentials: readonly SchemasAndIssuer[],
): void {
  const alternatives = toConstraints(constraints)
  for (const credential of credentials) checkOneSatisfied(alternatives, credential, 'The policy')
}

/** Converts the constraints of a policy to lines of `proofs`. */
export function toConstraints(
  constraints: readonly PolicyConstraint[],
): { schemaId: string; trustIssuers?: string[] }[] {
  return constraints.map(({ schemaId, trustedIssuers }) => ({
    schemaId,
    ...(trustedIssuers.length > 0 && { trustIssuers: trustedIssuers }),
  }))
}

/** `name` matches exactly. */
export type PolicyQuery = Paging & { name?: string | undefined }

/** Creates a policy with a new id and the nonce 0. */
export async function createPolicy(
  tx: Tx,
  { name, description, constraints }: VerificationPolicyInput,
): Promise<VerificationPolicy> {
  const now = new Date().toISOString()
  const content = { name, description, constraints: JSON.stringify(constraints) }
  const row = { id: newId(), nonce: 0, ...content, created_at: now, updated_at: now }
  const sequence = sql<number>`(select coalesce(max(sequence), 0) + 1 from verification_policy)`
  await tx
    .insertInto('verification_policy')
    .values({ ...row, sequence })
    .execute()
  return toPolicy(row)
}

/**
 * Gets a policy.
 *
 * @throws {Problem} `NotFound`, which names `field` if a field of a request contained the id.
 */
export async function getPolicy(db: Db, id: string, field?: string): Promise<VerificationPolicy> {
  const row = await db.selectFrom('verification_policy').selectAll().where('id', '=', id).executeTakeFirst()
  if (!row) throw notFound(id, field)
  return toPolicy(row)
}

/** A page of the wallet's policies in order of creation, and the number of all that match. */
export async function listPolicies(
  db: Db,
  { name, ...paging }: PolicyQuery,
): Promise<{ policies: VerificationPolicy[]; total: number }> {
  let matching = db.selectFrom('verification_policy')
  if (name !== undefined) matching = matching.where('name', '=', name)
  const { rows, total } = await pageOf(matching.selectAll(), ['sequence'], paging)
  return { policies: rows.map(toPolicy), total }
}

/**
 * Replaces the content of a policy and increments its nonce.
 *
 * @throws {Problem} `NotFound`; `Conflict` when `nonce` is not the current one because of another update.
 */
export async function updatePolicy(
  tx: Tx,
  id: string,
  nonce: number,
  { name, description, constraints }: VerificationPolicyInput,
): Promise<VerificationPolicy> {
  const content = { name, description, constraints: JSON.stringify(constraints) }
  const { numUpdatedRows } = await tx
    .updateTable('verification_policy')
    .set({ ...content, nonce: nonce + 1, updated_at: new Date().toISOString() })
    .where('id', '=', id)
    .where('nonce', '=', nonce)
    .executeTakeFirst()
  const policy = await getPolicy(tx, id)
  if (numUpdatedRows === 1n) return policy
  throw new Problem(
    'Conflict',
    `nonce: the policy ${id} is at ${policy.nonce}, not at ${nonce}. Read the policy and repeat the update.`,
  )
}

/** Deletes a policy. Requests that used it keep its constraints. @throws {Problem} `NotFound` */
export async function deletePolicy(tx: Tx, id: string): Promise<void> {
  const { numDeletedRows } = await tx
    .deleteFrom('verification_policy')
    .where('id', '=', id)
    .executeTakeFirst()
  if (numDeletedRows === 0n) throw notFound(id)
}

function toPolicy(
  row: Omit<Selectable<WalletTables['verification_policy']>, 'sequence'>,
): VerificationPolicy {
  return VerificationPolicy.parse({
    ...row,
    self: `/verification/policies/${row.id}`,
    kind: 'VerificationPolicy',
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    constraints: JSON.parse(row.constraints),
  })
}

function notFound(id: string, field?: string): Problem {
  return new Problem(
    'NotFound',
    `${field === undefined ? 'There' : `${field}: there`} is no verification policy ${id}.`,
  )
}
