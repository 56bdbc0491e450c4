/** The verification policies of a wallet (api.md 4.12): made, read, listed, changed by whoever has seen the latest, deleted. */
import { sql, type Selectable } from 'kysely'
import { newId } from '../base/id.ts'
import { Problem } from '../base/problem.ts'
import type { Db, Tx } from '../storage/database.ts'
import { pageOf, type Paging } from '../storage/page.ts'
import type { WalletTables } from '../storage/wallet-tables.ts'
import { VerificationPolicy, type VerificationPolicyInput } from './policy.ts'

/** `offset` is 0 or more, `limit` 1 to 1,000; `name` is compared as a whole. */
export type PolicyQuery = Paging & { name?: string | undefined }

/** Makes a policy under an id of the agent's own, with the nonce 0. */
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

/** The policy with an id. @throws {Problem} `NotFound`, with `field` before the reason where a field named the policy. */
export async function getPolicy(db: Db, id: string, field?: string): Promise<VerificationPolicy> {
  const row = await db.selectFrom('verification_policy').selectAll().where('id', '=', id).executeTakeFirst()
  if (!row) throw notFound(id, field)
  return toPolicy(row)
}

/** A page of the wallet's policies in the order of their making, and how many match in all. */
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
 * Replaces a policy's content; its nonce goes up by one.
 *
 * @throws {Problem} `NotFound`; `Conflict` when the nonce is not the latest, because somebody else has changed the policy.
 */
export async function updatePolicy(
  tx: Tx,
  id: string,
  nonce: number,
  { name, description, constraints }: VerificationPolicyInput,
): Promise<VerificationPolicy> {
  const change = {
    nonce: nonce + 1,
    name,
    description,
    constraints: JSON.stringify(constraints),
    updated_at: new Date().toISOString(),
  }
  const update = tx
    .updateTable('verification_policy')
    .set(change)
    .where('id', '=', id)
    .where('nonce', '=', nonce)
  const { numUpdatedRows } = await update.executeTakeFirst()
  const policy = await getPolicy(tx, id)
  if (numUpdatedRows === 1n) return policy
  throw new Problem(
    'Conflict',
    `nonce: the policy ${id} is at ${policy.nonce}, not at ${nonce}. Read it again, and update what you find then.`,
  )
}

/** Deletes a policy; requests that were made with it keep what it said. @throws {Problem} `NotFound` */
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
  const { id, nonce, name, description, created_at: createdAt, updated_at: updatedAt } = row
  const constraints: unknown = JSON.parse(row.constraints)
  const self = `/verification/policies/${id}`
  return VerificationPolicy.parse({
    self,
    kind: 'VerificationPolicy',
    id,
    nonce,
    name,
    description,
    createdAt,
    updatedAt,
    constraints,
  })
}

function notFound(id: string, field?: string): Problem {
  return new Problem(
    'NotFound',
    `${field === undefined ? 'There' : `${field}: there`} is no verification policy ${id}.`,
  )
}
