/**
 * The outbox: what a wallet has promised and not yet done, written in the transaction that promised it.
 *
 * The courier pays the oldest debt of every lane, again and again until it is paid; then the row goes.
 */
import { sql, type Selectable } from 'kysely'
import { steadyNow } from '../base/clock.ts'
import { newId } from '../base/id.ts'
import type { Db, Tx } from '../storage/database.ts'
import { prepared } from '../storage/prepared.ts'
import type { WalletTables } from '../storage/wallet-tables.ts'
import { Debt, type Owing } from './debt.ts'
import { noteDebt, noteLook } from './news.ts'
import { noteThread } from './threads.ts'

type DebtRow = Selectable<WalletTables['outbox']>

const insertDebt = prepared((db: Db, { id, lane, kind, body, created_at }: Pick<DebtRow, 'id' | 'lane' | 'kind' | 'body' | 'created_at'>) =>
  db
    .insertInto('outbox')
    .values({
      sequence: sql<number>`(select coalesce(max(sequence), 0) + 1 from outbox)`,
      id,
      lane,
      kind,
      body,
      attempts: 0,
      // At once, whatever time it is after the next start.
      due_at: new Date(0).toISOString(),
      put_off_at: null,
      reason: null,
      created_at,
      event_sequence: sql<number>`(select coalesce(max(sequence), 0) from event)`,
    })
    .returning(['sequence', 'event_sequence', sql<number>`(select min(sequence) from outbox where lane = ${lane})`.as('first')]),
)

const deleteDebt = prepared((db: Db, { id }: Pick<DebtRow, 'id'>) => db.deleteFrom('outbox').where('id', '=', id))

/** Promises a debt; those of one lane are paid in the order of their promising. Returns its id. */
export async function put(tx: Tx, lane: string, debt: Debt): Promise<string> {
  const id = newId()
  if (debt.kind === 'message') noteThread(tx, debt.message.thid ?? id)
  const createdAt = new Date(steadyNow()).toISOString()
  const { rows } = await insertDebt(tx, { id, lane, kind: debt.kind, body: JSON.stringify(debt), created_at: createdAt })
  const { sequence, first, event_sequence: eventSequence } = rows[0]!
  noteDebt(tx, { id, lane, attempts: 0, createdAt, debt, eventSequence, isFirst: first === sequence })
  return id
}

/** A debt whose turn it is; `isLast` when nothing is behind it in its lane. */
export type Due = Owing & { isLast: boolean }

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
): Promise<{ owing: Due[]; nextAt?: Date }> {
  const { rows: heads } = await findHeads(db, { at: now.toISOString(), limit: limit + 1, busy: JSON.stringify(busy) })
  const ready = heads.filter(({ waits }) => !waits).slice(0, limit)
  const next = heads.find(({ waits }) => waits)
  const owing = ready.map((row) => ({ ...toOwing(row), isLast: row.behind === null }))
  return { owing, ...(next && { nextAt: new Date(next.due_at) }) }
}

/** The first of every lane but the busy ones: those that are due come first, and of the others the one that will be next. */
const findHeads = prepared((db: Db, { at, limit, busy }: { at: string; limit: number; busy: string }) => {
  const waits = sql<number>`(due_at > ${at} and (put_off_at is null or put_off_at <= ${at}))`
  const behind = sql<
    number | null
  >`(select min(later.sequence) from outbox as later where later.lane = outbox.lane and later.sequence > outbox.sequence)`
  return db
    .selectFrom('outbox')
    .selectAll()
    .select([waits.as('waits'), behind.as('behind')])
    .where('sequence', 'in', (eb) =>
      eb
        .selectFrom('outbox')
        .select((e) => e.fn.min('sequence').as('sequence'))
        .groupBy('lane'),
    )
    .where('lane', 'not in', sql<string>`(select value from json_each(${busy}))`)
    .orderBy('waits')
    .orderBy(sql`case when waits then due_at end`)
    .orderBy('attempts')
    .orderBy('sequence')
    .limit(limit)
})

/** Strikes a debt out that was paid. */
export async function done(tx: Tx, id: string): Promise<void> {
  await deleteDebt(tx, { id })
}

/** Takes debts back; what is behind them in their lanes has their turn. */
export async function takeBack(tx: Tx, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return
  await tx.deleteFrom('outbox').where('id', 'in', ids).execute()
  noteLook(tx, 'debts')
}

/** Takes all debts of a lane back. */
export async function strikeOut(tx: Tx, lane: string): Promise<void> {
  await tx.deleteFrom('outbox').where('lane', '=', lane).execute()
  noteLook(tx, 'debts')
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
