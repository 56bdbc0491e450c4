/** Flows that wait for too long (`FLOW_EXPIRY`): since when a record waits, and which records have waited for long enough. */
import { isOver } from '../../base/clock.ts'
import type { Db, Tx } from '../../storage/database.ts'
import { lastMs } from './machine.ts'
import { cancelQueue } from '../../outbox/job.ts'
import type { Wallet } from '../../wallet/wallet.ts'
import { connection } from '../connection/model.ts'
import { findRecord, getRecord } from './find.ts'
import { protocols } from '../index.ts'
import { flowExpired } from '../model.ts'
import { expireRecord, queueOf, type Outgoing, type Rec } from './record.ts'

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

/** What the other side is told; `time` is Report Problem 2.0's word for a requirement of time that was not met. */
const code = 'e.p.req.time.flow-expired'

/**
 * Moves a record to the end that its table has for it, if it still waits for as long. Its queue is emptied; the caller makes sure that no job of
 * the queue is running.
 */
export async function expire(wallet: Wallet, { recordId, protocol: name }: Expired): Promise<void> {
  const lifetimeSeconds = wallet.env.config.FLOW_EXPIRY
  const protocol = protocols[name]!
  await wallet.transaction(async (tx) => {
    const since = await findSince(tx, recordId)
    if (since === null || !isOver(endOf(since, lifetimeSeconds).getTime())) return
    const record = await findRecord(tx, protocol, recordId)
    if (!record) return
    await cancelQueue(tx, queueOf(recordId))
    const lifetime = toWords(lifetimeSeconds)
    const detail = `The flow was in state ${record.state} since ${since} and has ended by itself: that is longer than ${lifetime} (FLOW_EXPIRY).`
    const report = await reportTo(tx, record, `The flow has ended: nothing has happened for ${lifetime}.`)
    await expireRecord(tx, protocol, record, { metaLastFailure: { ...flowExpired, detail } }, report)
  })
}

async function findSince(tx: Tx, recordId: string): Promise<string | null> {
  const row = await tx
    .selectFrom('record')
    .select('waits_since')
    .where('id', '=', recordId)
    .executeTakeFirst()
  return row?.waits_since ?? null
}

/** The report for the other side, whatever has become of the connection; an invitation that nobody has answered has no other side. */
async function reportTo(tx: Tx, record: Rec, comment: string): Promise<Outgoing | undefined> {
  const sides: Rec =
    record.connectionId === undefined ? record : await getRecord(tx, connection, record.connectionId)
  if (sides.myDid === undefined || sides.theirDid === undefined) return undefined
  return {
    type: 'problem-report',
    from: sides.myDid,
    to: sides.theirDid,
    pthid: record.thid,
    body: { code, comment },
  }
}

function toWords(seconds: number): string {
  const [length, unit] = seconds % 86_400 === 0 ? [seconds / 86_400, 'day'] : [seconds, 'second']
  return `${length} ${unit}${length === 1 ? '' : 's'}`
}
