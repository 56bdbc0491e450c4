/**
 * The outbox: what a wallet has promised and not yet done, written in the transaction that promised it.
 *
 * The courier pays the oldest debt of every lane, again and again until it is paid; then the row goes.
 */
import { sql, type Selectable } from 'kysely'
import { z } from 'zod'
import { steadyNow } from '../base/clock.ts'
import { newId } from '../base/id.ts'
import type { Db, Tx } from '../storage/database.ts'
import type { WalletTables } from '../storage/wallet-tables.ts'
import { noteNews } from './news.ts'
import { noteThread } from './threads.ts'

/** What a message says; its id, sender, recipient and time are added when it is sent. */
const Content = z.object({
  type: z.string(),
  /** Absent: the message begins a thread of its own. */
  thid: z.string().optional(),
  pthid: z.string().optional(),
  body: z.looseObject({}),
  attachments: z.array(z.looseObject({ data: z.looseObject({}) })).optional(),
})

/** A message to send for a record, or for a protocol that has no records but something that its id names; or work to do for a record or a DID. */
export const Debt = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('message'), protocol: z.string(), recordId: z.string(), from: z.string(), to: z.string(), message: Content }),
  z.object({ kind: z.literal('work'), protocol: z.string(), recordId: z.string(), work: z.string() }),
])
export type Debt = z.infer<typeof Debt>

/**
 * A debt as it stands in its lane; the id is the DIDComm message's id as well, the same on every attempt. `eventSequence` is the place of the
 * last event before it, `reason` why it was put off the last time.
 */
export type Owing = { id: string; lane: string; attempts: number; createdAt: string; debt: Debt; eventSequence: number; reason?: string }

/** Promises a debt; those of one lane are paid in the order of their promising. Returns its id. */
export async function put(tx: Tx, lane: string, debt: Debt): Promise<string> {
  const id = newId()
  if (debt.kind === 'message') noteThread(tx, debt.message.thid ?? id)
  await tx
    .insertInto('outbox')
    .values({
      sequence: sql<number>`(select coalesce(max(sequence), 0) + 1 from outbox)`,
      id,
      lane,
      kind: debt.kind,
      body: JSON.stringify(debt),
      attempts: 0,
      // At once, whatever time it is after the next start.
      due_at: new Date(0).toISOString(),
      put_off_at: null,
      reason: null,
      created_at: new Date(steadyNow()).toISOString(),
      event_sequence: sql<number>`(select coalesce(max(sequence), 0) from event)`,
    })
    .execute()
  noteNews(tx, 'debts')
  return id
}

/** Lanes to leave out, and how many debts to read at most. */
export type DueOptions = { busy?: readonly string[]; limit?: number }

/**
 * The oldest debt of every lane that is due, those with fewest attempts first, and when the next one will be, both by `steadyNow`; that is not
 * said when more are due than were asked for.
 */
export async function due(
  db: Db,
  now = new Date(steadyNow()),
  { busy = [], limit = 1_000 }: DueOptions = {},
): Promise<{ owing: Owing[]; nextAt?: Date }> {
  const at = now.toISOString()
  const waits = sql<number>`(due_at > ${at} and (put_off_at is null or put_off_at <= ${at}))`
  // Those that are due come first, and of the others the one that will be next.
  const heads = await db
    .selectFrom('outbox')
    .selectAll()
    .select(waits.as('waits'))
    .where('sequence', 'in', (eb) =>
      eb
        .selectFrom('outbox')
        .select((e) => e.fn.min('sequence').as('sequence'))
        .groupBy('lane'),
    )
    .$if(busy.length > 0, (query) => query.where('lane', 'not in', busy))
    .orderBy('waits')
    .orderBy(sql`case when waits then due_at end`)
    .orderBy('attempts')
    .orderBy('sequence')
    .limit(limit + 1)
    .execute()
  const ready = heads.filter(({ waits }) => !waits).slice(0, limit)
  const next = heads.find(({ waits }) => waits)
  return { owing: ready.map(toOwing), ...(next && { nextAt: new Date(next.due_at) }) }
}

/** Strikes a debt out that was paid. */
export async function done(tx: Tx, id: string): Promise<void> {
  await tx.deleteFrom('outbox').where('id', '=', id).execute()
}

/** Takes debts back; what is behind them in their lanes has their turn. */
export async function takeBack(tx: Tx, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return
  await tx.deleteFrom('outbox').where('id', 'in', ids).execute()
  noteNews(tx, 'debts')
}

/** Puts a debt off until `dueAt`, by `steadyNow`. */
export async function putOff(tx: Tx, { id, attempts }: Owing, dueAt: Date, now = new Date(steadyNow()), reason?: string): Promise<void> {
  await tx
    .updateTable('outbox')
    .set({ attempts: attempts + 1, due_at: dueAt.toISOString(), put_off_at: now.toISOString(), reason: reason ?? null })
    .where('id', '=', id)
    .execute()
}

/** A debt's row as the debt that it is. */
export function toOwing(row: Selectable<WalletTables['outbox']>): Owing {
  const { id, lane, attempts, created_at: createdAt, body, event_sequence: eventSequence, reason } = row
  return { id, lane, attempts, createdAt, debt: Debt.parse(JSON.parse(body)), eventSequence, ...(reason !== null && { reason }) }
}
