/** Entries of the audit log, found by what they are about. */
import { z } from 'zod'
import type { AuditDb } from '../storage/database.ts'
import type { Paging } from '../storage/list-query.ts'
import { Actor, Outcome, toEntry, type AuditEntry } from './entry.ts'

const Id = z.guid().toLowerCase()
const Moment = z.iso.datetime({ offset: true }).transform((text) => new Date(text).toISOString())

export const Filter = z.object({
  actor: Actor.optional().describe('Only what was done by one of this kind.'),
  outcome: Outcome.optional().describe('Only what ended so.'),
  action: z
    .string()
    .min(1)
    .max(200)
    .optional()
    .describe('Only this endpoint, such as `POST /wallets`, or this deed of the agent’s own.'),
  entityId: Id.optional().describe('Only what this tenant’s entity did.'),
  walletId: Id.optional().describe('Only what is about this wallet.'),
  requestId: z.string().min(1).max(200).optional().describe('Only the request with this `x-request-id`.'),
  since: Moment.optional().describe('Only what was begun then or later.'),
  until: Moment.optional().describe('Only what was begun before.'),
})
export type Filter = z.output<typeof Filter>

/** A part of the entries that fit, newest first. */
export async function list(db: AuditDb, filter: Filter, { offset, limit }: Paging): Promise<AuditEntry[]> {
  const { actor, outcome, action, entityId, walletId, requestId, since, until } = filter
  const equal = { actor, outcome, action, entity_id: entityId, wallet_id: walletId, request_id: requestId }
  let query = db.selectFrom('entry').selectAll()
  for (const [column, value] of Object.entries(equal))
    if (value !== undefined) query = query.where(column as keyof typeof equal, '=', value)
  if (since !== undefined) query = query.where('at', '>=', since)
  if (until !== undefined) query = query.where('at', '<', until)
  const rows = await query.orderBy('sequence', 'desc').offset(offset).limit(limit).execute()
  return rows.map(toEntry)
}
