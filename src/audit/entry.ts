/**
 * Entries of the audit log (ours): who did what, when, and what became of it, or who was refused.
 *
 * An entry holds names and ids. There is no room in it for a key, a seed, a body or a text that somebody chose.
 */
import type { Selectable } from 'kysely'
import { z } from 'zod'
import type { AuditTables } from '../storage/audit-tables.ts'

/** Whose deed it was: `agent` is the daemon's own, at its start or by the clock. */
export const Actor = z.enum(['admin', 'tenant', 'anonymous', 'agent'])
export const Outcome = z.enum(['succeeded', 'failed', 'refused', 'unknown'])

const Subject = z.record(z.string(), z.string())

export const AuditEntry = z
  .object({
    sequence: z.int(),
    at: z.iso.datetime().describe('When it was begun.'),
    actor: Actor,
    entityId: z.string().optional().describe('The tenant’s entity.'),
    keyId: z.string().optional().describe('The tenant’s key.'),
    address: z.string().optional().describe('Where it came from; of IPv6 the network.'),
    action: z.string().describe('The endpoint, or what the agent does by itself.'),
    walletId: z.string().optional(),
    subject: Subject.optional().describe(
      'Ids of what it is about, by their names in the path; `made` is what it made.',
    ),
    outcome: Outcome.describe('`unknown`: the daemon ended before it was done, or before that was written.'),
    status: z.int().optional().describe('The HTTP status of the answer.'),
    problemType: z.string().optional().describe('The type of the problem that was answered.'),
    count: z
      .int()
      .optional()
      .describe('For how many requests the entry stands, where it does for more than one.'),
    requestId: z.string().optional().describe('`x-request-id` of the request.'),
    previous: z.string().describe('The digest of the entry before.'),
    digest: z
      .string()
      .describe('HMAC-SHA-256, base64url, over the entry without it as canonical JSON (RFC 8785).'),
  })
  .meta({ id: 'AuditEntry' })
export type AuditEntry = z.infer<typeof AuditEntry>

/** What is known of an act before it is done. */
export type Act = Pick<AuditEntry, 'actor' | 'action'> &
  Partial<Pick<AuditEntry, 'at' | 'entityId' | 'keyId' | 'address' | 'walletId' | 'subject' | 'requestId'>>

/** What became of it. */
export type Result = Pick<AuditEntry, 'outcome'> &
  Partial<Pick<AuditEntry, 'status' | 'problemType' | 'count'>>

/** The columns of an act. */
export function toActRow({ at, actor, entityId, keyId, address, action, walletId, subject, requestId }: Act) {
  return {
    at: at ?? new Date().toISOString(),
    actor,
    entity_id: entityId ?? null,
    key_id: keyId ?? null,
    address: address ?? null,
    action,
    wallet_id: walletId ?? null,
    subject: subject && Object.keys(subject).length > 0 ? JSON.stringify(subject) : null,
    request_id: requestId ?? null,
  }
}

/** An act from its columns. */
export function toAct(row: Omit<Selectable<AuditTables['begun']>, 'id' | 'mac'>): Act {
  return {
    at: row.at,
    actor: Actor.parse(row.actor),
    action: row.action,
    ...(row.entity_id !== null && { entityId: row.entity_id }),
    ...(row.key_id !== null && { keyId: row.key_id }),
    ...(row.address !== null && { address: row.address }),
    ...(row.wallet_id !== null && { walletId: row.wallet_id }),
    ...(row.subject !== null && { subject: Subject.parse(JSON.parse(row.subject)) }),
    ...(row.request_id !== null && { requestId: row.request_id }),
  }
}

/** The columns of an entry. */
export function toRow({
  sequence,
  outcome,
  status,
  problemType,
  count,
  previous,
  digest,
  ...act
}: AuditEntry): Selectable<AuditTables['entry']> {
  const result = { outcome, status: status ?? null, problem_type: problemType ?? null, count: count ?? null }
  return { sequence, ...toActRow(act), ...result, previous, digest }
}

/** An entry from its columns. @throws when it is none, as one that was tampered with may be */
export function toEntry(row: Selectable<AuditTables['entry']>): AuditEntry {
  const { sequence, outcome, status, problem_type, count, previous, digest, ...act } = row
  return AuditEntry.parse({
    sequence,
    ...toAct(act),
    outcome,
    ...(status !== null && { status }),
    ...(problem_type !== null && { problemType: problem_type }),
    ...(count !== null && { count }),
    previous,
    digest,
  })
}
