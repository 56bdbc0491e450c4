/**
 * Expiry of flows (extension, `FLOW_EXPIRY`): finds expired flows, ends them and reports it to the other
 * side.
 */
import { isOver } from '../../foundation/clock.ts'
import { cancelQueue } from '../../wallet/outbox/job.ts'
import type { Db, Tx } from '../../foundation/storage/database.ts'
import type { Wallet } from '../../wallet/wallet.ts'
import type { Composition } from './composition.ts'
import { findRecord } from './find.ts'
import { findExpiry, findRow } from '../../definitions/machine.ts'
import { lastMs, type Outgoing, type Protocol, type Rec } from './protocol.ts'
import { advance, queueOf } from './record.ts'

/** The record of an expired flow. */
export type Expired = { recordId: string; protocol: string }

/**
 * Flows that have waited for `lifetimeSeconds`, longest first, and when the next one expires by the system
 * clock.
 */
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

/** When a flow expires that waits since an instant. */
export function endOf(waitsSince: string, lifetimeSeconds: number): Date {
  return new Date(Math.min(lastMs, Date.parse(waitsSince) + lifetimeSeconds * 1_000))
}

const flowExpired = { status: 408, type: 'FlowExpired', title: 'Flow Expired' }

/**
 * The code of the report. `req.time` is Report Problem 2.0's descriptor for a timing requirement that was not
 * met.
 */
const code = 'e.p.req.time.flow-expired'

/**
 * Ends a flow by the expiry row of its table, if it still is expired, and cancels its jobs. The caller
 * ensures that no job of its queue is running.
 */
export async function expire(
  wallet: Wallet,
  { recordId, protocol: name }: Expired,
  { protocols, reportTo }: Pick<Composition, 'protocols' | 'reportTo'>,
): Promise<void> {
  const lifetimeSeconds = wallet.env.config.FLOW_EXPIRY
  const protocol = protocols[name]!
  await wallet.transaction(async (tx) => {
    const since = await findSince(tx, recordId)
    if (since === null || !isOver(endOf(since, lifetimeSeconds).getTime())) return
    const record = await findRecord(tx, protocol, recordId)
    if (!record) return
    await cancelQueue(tx, queueOf(recordId))
    const lifetime = toWords(lifetimeSeconds)
    const detail = `The flow was in state ${record.state} since ${since} and has expired after ${lifetime} (FLOW_EXPIRY).`
    const comment = `The flow has expired: nothing has happened for ${lifetime}.`
    const report = await reportTo(tx, record, { code, comment })
    await end(tx, protocol, record, { ...flowExpired, detail }, report)
  })
}

/**
 * Makes the transition that ends the flow: `expired` without another side. Without one in the table, the
 * record no longer waits.
 */
async function end(
  tx: Tx,
  protocol: Protocol<any>,
  record: Rec,
  metaLastFailure: object,
  report?: Outgoing,
): Promise<void> {
  const { role, state } = record
  // Without another side, the row of an end that is not reported applies if there is one.
  const row = (!report && findRow(protocol, role, state, 'expired')) || findExpiry(protocol, role, state)
  if (row) await advance(tx, protocol, record, row[2], { metaLastFailure }, report!)
  else await tx.updateTable('record').set({ waits_since: null }).where('id', '=', record.id).execute()
}

async function findSince(tx: Tx, recordId: string): Promise<string | null> {
  const row = await tx
    .selectFrom('record')
    .select('waits_since')
    .where('id', '=', recordId)
    .executeTakeFirst()
  return row?.waits_since ?? null
}

function toWords(seconds: number): string {
  const [length, unit] = seconds % 86_400 === 0 ? [seconds / 86_400, 'day'] : [seconds, 'second']
  return `${length} ${unit}${length === 1 ? '' : 's'}`
}
