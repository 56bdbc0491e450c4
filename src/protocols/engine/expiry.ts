/** Flows that wait for too long (`FLOW_EXPIRY`): since when a record waits, and which records have waited for long enough. */
import { isOver } from '../../base/clock.ts'
import type { Db } from '../../storage/database.ts'
import { findExpiry, type Machine } from './machine.ts'

/** The last instant whose ISO text has its place among others in the order of texts. */
const lastMs = Date.parse('9999-12-31T23:59:59.999Z')

type Step = {
  role: string
  state: string
  createdAt: string
  updatedAt?: string
  invitation?: { expiresTime?: number } | undefined
}

/**
 * From when on a record's waiting counts, as ISO text: from its last step, or, while it is an invitation that nobody has answered, from the
 * end of that if it is later. Null where the table has no end to go to.
 */
export function waitsSince(
  states: Machine,
  { role, state, createdAt, updatedAt = createdAt, invitation }: Step,
): string | null {
  if (!findExpiry(states, role, state)) return null
  const endsMs =
    state === 'InvitationGenerated' ? Math.min(lastMs, (invitation?.expiresTime ?? 0) * 1_000) : 0
  return endsMs > Date.parse(updatedAt) ? new Date(endsMs).toISOString() : updatedAt
}

/** A record whose flow has waited for too long. */
export type Expired = { recordId: string; protocol: string }

/** Records that have waited for `lifetimeSeconds`, those that wait for longest first; and when the next one will have, by the system's clock. */
export async function findExpired(
  db: Db,
  lifetimeSeconds: number,
  { limit }: { limit: number },
  isOverAt = isOver,
): Promise<{ expired: Expired[]; nextAt?: Date }> {
  const rows = await db
    .selectFrom('record')
    .select(['id', 'protocol', 'waits_since'])
    .where('waits_since', 'is not', null)
    .orderBy('waits_since')
    .limit(limit)
    .execute()
  const timed = rows.map(({ id, protocol, waits_since }) => ({
    id,
    protocol,
    endsAt: endOf(waits_since!, lifetimeSeconds),
  }))
  const next = timed.find(({ endsAt }) => !isOverAt(endsAt.getTime()))
  const expired = timed
    .filter(({ endsAt }) => isOverAt(endsAt.getTime()))
    .map(({ id, protocol }) => ({ recordId: id, protocol }))
  return { expired, ...(next && { nextAt: next.endsAt }) }
}

/** When a record that waits since an instant has waited for too long. */
export function endOf(waitsSince: string, lifetimeSeconds: number): Date {
  return new Date(Math.min(lastMs, Date.parse(waitsSince) + lifetimeSeconds * 1_000))
}
