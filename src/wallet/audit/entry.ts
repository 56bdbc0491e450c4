/**
 * Entries of the audit log: actor, action, time and result, or a refusal.
 *
 * An entry contains names and ids, never a key, a seed, a body or free text.
 */
import type { Selectable } from 'kysely'
import * as z from 'zod'
import type { AuditTables } from '../../foundation/storage/audit-tables.ts'
import type { AuditDb } from '../../foundation/storage/database.ts'
import type { Paging } from '../../foundation/storage/list-query.ts'

/** `agent`: the daemon itself, at its start or by a timer. */
export const Actor = z.enum(['admin', 'tenant', 'anonymous', 'agent'])
export const Outcome = z.enum(['succeeded', 'failed', 'refused', 'unknown'])

const Subject = z.record(z.string(), z.string())

export const AuditEntry = z
  .object({
    sequence: z.int(),
    at: z.iso.datetime().describe('Begin of the act.'),
    actor: Actor,
    entityId: z.string().optional().describe('The tenant’s entity.'),
    keyId: z.string().optional().describe('The tenant’s key.'),
    issuer: z.string().optional().describe('Issuer of the bearer token.'),
    login: z.string().optional().describe('Subject (`sub`) of the bearer token.'),
    address: z.string().optional().describe('Address of the client; for IPv6 its /64 network.'),
    action: z.string().describe('The endpoint, or an action of the agent itself.'),
    walletId: z.string().optional(),
    subject: Subject.optional().describe(
      'Ids of the affected resources, by their names in the path; `made` is the created one.',
    ),
    outcome: Outcome.describe(
      '`unknown`: the daemon ended before the act did, or before its end was written.',
    ),
    status: z.int().optional().describe('HTTP status of the response.'),
    problemType: z.string().optional().describe('Type of the problem in the response.'),
    count: z.int().optional().describe('Number of requests, if the entry stands for several.'),
    requestId: z.string().optional().describe('`x-request-id` of the request.'),
    previous: z.string().describe('Digest of the previous entry.'),
    digest: z
      .string()
      .describe('HMAC-SHA-256, base64url, over the entry without it as canonical JSON (RFC 8785).'),
  })
  .meta({ id: 'AuditEntry' })
export type AuditEntry = z.infer<typeof AuditEntry>

/** The part of an entry that is known before the act is done. */
export type Act = Pick<AuditEntry, 'actor' | 'action'> &
  Partial<
    Pick<
      AuditEntry,
      'at' | 'entityId' | 'keyId' | 'issuer' | 'login' | 'address' | 'walletId' | 'subject' | 'requestId'
    >
  >

/** The part of an entry that is known afterwards. */
export type Result = Pick<AuditEntry, 'outcome'> &
  Partial<Pick<AuditEntry, 'status' | 'problemType' | 'count'>>

export function toActRow({ subject, ...act }: Act) {
  return {
    at: act.at ?? new Date().toISOString(),
    actor: act.actor,
    entity_id: act.entityId ?? null,
    key_id: act.keyId ?? null,
    issuer: act.issuer ?? null,
    login: act.login ?? null,
    address: act.address ?? null,
    action: act.action,
    wallet_id: act.walletId ?? null,
    subject: subject && Object.keys(subject).length > 0 ? JSON.stringify(subject) : null,
    request_id: act.requestId ?? null,
  }
}

export function toAct(row: Omit<Selectable<AuditTables['begun']>, 'id' | 'process' | 'mac'>): Act {
  return {
    at: row.at,
    actor: Actor.parse(row.actor),
    action: row.action,
    ...(row.entity_id !== null && { entityId: row.entity_id }),
    ...(row.key_id !== null && { keyId: row.key_id }),
    ...(row.issuer !== null && { issuer: row.issuer }),
    ...(row.login !== null && { login: row.login }),
    ...(row.address !== null && { address: row.address }),
    ...(row.wallet_id !== null && { walletId: row.wallet_id }),
    ...(row.subject !== null && { subject: Subject.parse(JSON.parse(row.subject)) }),
    ...(row.request_id !== null && { requestId: row.request_id }),
  }
}

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

/** An entry from its columns. @throws {ZodError} for a row that was tampered with */
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

const Id = z.guid().toLowerCase()
const Moment = z.iso.datetime({ offset: true }).transform((text) => new Date(text).toISOString())

export const Filter = z.object({
  actor: Actor.optional().describe('Only acts of this kind of actor.'),
  outcome: Outcome.optional().describe('Only acts with this outcome.'),
  action: z
    .string()
    .min(1)
    .max(200)
    .optional()
    .describe('Only this endpoint, such as `POST /wallets`, or this action of the agent itself.'),
  entityId: Id.optional().describe('Only acts of this entity.'),
  login: z.string().min(1).max(255).optional().describe('Only acts with a bearer token of this subject.'),
  walletId: Id.optional().describe('Only acts that affect this wallet.'),
  requestId: z.string().min(1).max(200).optional().describe('Only the request with this `x-request-id`.'),
  since: Moment.optional().describe('Only acts that began at or after this time.'),
  until: Moment.optional().describe('Only acts that began before this time.'),
})
export type Filter = z.output<typeof Filter>

/** A page of the entries that match, newest first. */
export async function listEntries(
  db: AuditDb,
  filter: Filter,
  { offset, limit }: Paging,
): Promise<AuditEntry[]> {
  const { actor, outcome, action, entityId, walletId, requestId, login, since, until } = filter
  const ids = { entity_id: entityId, wallet_id: walletId, request_id: requestId, login }
  const equal = { actor, outcome, action, ...ids }
  let query = db.selectFrom('entry').selectAll()
  for (const [column, value] of Object.entries(equal))
    if (value !== undefined) query = query.where(column as keyof typeof equal, '=', value)
  if (since !== undefined) query = query.where('at', '>=', since)
  if (until !== undefined) query = query.where('at', '<', until)
  const rows = await query.orderBy('sequence', 'desc').offset(offset).limit(limit).execute()
  return rows.map(toEntry)
}

export async function findOldest(db: AuditDb): Promise<number | undefined> {
  const oldest = await db
    .selectFrom('entry')
    .select('sequence')
    .orderBy('sequence')
    .limit(1)
    .executeTakeFirst()
  return oldest?.sequence
}
