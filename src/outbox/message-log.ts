/**
 * The log of DIDComm messages (ours): which came and which went, never what they say, as long as `EVENT_RETENTION`.
 *
 * A row is written in the transaction that strikes the debt of a message out, or that takes a message in: what was rolled back was not logged.
 */
import { sql, type Selectable } from 'kysely'
import type { Db, Tx } from '../storage/database.ts'
import { prepared } from '../storage/prepared.ts'
import type { WalletTables } from '../storage/wallet-tables.ts'
import { noteLogRow, prunedAtOnce } from '../storage/tx-context.ts'
import type { Job } from './job.ts'

/** Who wrote what to whom, and which thread it is about. */
type About = { id: string; thread: string; type: string; from: string; to: string }

/** What became of an attempt: when it began, how long the other side took to answer, if it did, and why the message goes no further. */
export type Attempt = {
  at: Date
  durationMs?: number | undefined
  failure?: { outcome: 'refused' | 'given up'; reason: string }
}

/** How much is kept of texts that a peer chooses: of a DID enough to tell it from others. */
const longestDid = 80
const longestType = 300
const longestFailure = 1_000

/** Writes down that a message was taken by the other side, refused by it or given up. */
export async function logSent(
  tx: Tx,
  about: About,
  { attempts, reason, eventSequence }: Job,
  { at, durationMs, failure }: Attempt,
): Promise<void> {
  await log(tx, about, {
    direction: 'sent',
    outcome: failure?.outcome ?? 'taken',
    at: at.toISOString(),
    attempts: attempts + 1,
    duration_ms: durationMs === undefined ? null : Math.round(durationMs),
    failure: failure?.reason ?? reason ?? null,
    event_sequence: eventSequence,
  })
}

/** Writes down that a message was taken in, or refused and why. */
export async function logReceived(
  tx: Tx,
  about: About,
  { at, refusal }: { at: Date; refusal?: string | undefined },
): Promise<void> {
  await log(tx, about, {
    direction: 'received',
    outcome: refusal === undefined ? 'taken' : 'refused',
    at: at.toISOString(),
    attempts: null,
    duration_ms: null,
    failure: refusal ?? null,
    event_sequence: null,
  })
}

export type LoggedMessage = Selectable<WalletTables['message_log']>

/** The first messages about a thread, in the order in which they were written down. */
export function messagesOf(db: Db, thread: string, limit: number): Promise<LoggedMessage[]> {
  return db
    .selectFrom('message_log')
    .selectAll()
    .where('thread', '=', thread)
    .orderBy('sequence')
    .limit(limit)
    .execute()
}

/** Whether a message that came is in the log. */
export async function isLogged(db: Db, { thread, id }: Pick<About, 'thread' | 'id'>): Promise<boolean> {
  const known = db
    .selectFrom('message_log')
    .select('sequence')
    .where('thread', '=', thread)
    .where('id', '=', id)
  return (await known.where('direction', '=', 'received').executeTakeFirst()) !== undefined
}

const deleteOldest = prepared((db: Db, { before }: { before: string }) =>
  db
    .deleteFrom('message_log')
    .where('sequence', '<', sql<number>`(select min(sequence) from message_log) + ${sql.lit(prunedAtOnce)}`)
    .where('at', '<', before),
)

/** Removes some of the oldest rows, as far as they are older than `retention` seconds. */
export async function pruneMessageLog(tx: Tx, retention: number, now = new Date()): Promise<void> {
  await deleteOldest(tx, { before: new Date(now.getTime() - retention * 1_000).toISOString() })
}

/** Without the place of an event it comes after the newest. */
type Rest = Pick<LoggedMessage, 'direction' | 'outcome' | 'at' | 'attempts' | 'duration_ms' | 'failure'> & {
  event_sequence: number | null
}

const insertMessage = prepared((db: Db, row: Omit<LoggedMessage, 'sequence' | keyof Rest> & Rest) => {
  const {
    id,
    thread,
    type,
    from_did,
    to_did,
    direction,
    outcome,
    at,
    attempts,
    duration_ms,
    failure,
    event_sequence,
  } = row
  const sequence = sql<number>`(select coalesce(max(sequence), 0) + 1 from message_log)`
  const written = {
    id,
    thread,
    type,
    from_did,
    to_did,
    direction,
    outcome,
    at,
    attempts,
    duration_ms,
    failure,
  }
  const afterEvent = sql<number>`coalesce(${event_sequence}, (select max(sequence) from event), 0)`
  return db
    .insertInto('message_log')
    .values({ sequence, ...written, event_sequence: afterEvent })
    .returning('sequence')
})

async function log(tx: Tx, { id, thread, type, from, to }: About, rest: Rest): Promise<void> {
  const { rows } = await insertMessage(tx, {
    id,
    thread,
    type: type.slice(0, longestType),
    from_did: from.slice(0, longestDid),
    to_did: to.slice(0, longestDid),
    ...rest,
    failure: rest.failure?.slice(0, longestFailure) ?? null,
  })
  noteLogRow(tx, rows[0]!.sequence, pruneMessageLog)
}
