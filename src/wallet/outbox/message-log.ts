/**
 * The log of DIDComm messages (extension): types, senders and recipients of received and sent messages,
 * without their content, for `EVENT_RETENTION`.
 *
 * A row is written in the transaction that deletes the message's job or stores the received message.
 */
import { sql, type Selectable } from 'kysely'
import { randomId } from '../../foundation/id.ts'
import type { Db, Tx } from '../../foundation/storage/database.ts'
import { prepared } from '../../foundation/storage/prepared.ts'
import { nextSequence } from '../../foundation/storage/sql.ts'
import type { WalletTables } from '../../foundation/storage/wallet-tables.ts'
import { noteCount, noteLogRow, prunedAtOnce } from '../../foundation/storage/tx-context.ts'
import type { Job } from './job.ts'

/** A message's id, thread, type and the two DIDs. */
type About = { id: string; thread: string; type: string; from: string; to: string }

/**
 * An attempt to send: its start, the time until the answer if there is one, and the reason if it is the last
 * one. Outcomes are stored values.
 */
export type Attempt = {
  at: Date
  durationMs?: number | undefined
  failure?: { outcome: 'refused' | 'given up'; reason: string }
}

/**
 * The longest stored texts, in characters. A peer may have chosen them; 80 characters distinguish a DID from
 * others.
 */
const longestDid = 80
const longestType = 300
const longestFailure = 1_000

const sentOutcomes = { refused: 'refused', 'given up': 'abandoned' } as const

/** Protocol and message of a type URI, without the version: a peer chooses the minor version. */
export function classOf(type: string): string {
  const [, protocol, message] = /([^/]+)\/[\d.]+\/([^/]+)$/.exec(type) ?? []
  return protocol === undefined ? 'other' : `${protocol}/${message}`
}

/** Logs that a message was accepted or refused by the other side, or abandoned. */
export async function logSent(
  tx: Tx,
  about: About,
  { attempts, reason, eventSequence }: Job,
  { at, durationMs, failure }: Attempt,
): Promise<void> {
  const outcome = failure === undefined ? 'delivered' : sentOutcomes[failure.outcome]
  noteCount(tx, 'agent_messages_sent_total', { type: classOf(about.type), outcome })
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

/** Logs that a received message was accepted, or why it was refused. */
export async function logReceived(
  tx: Tx,
  about: About,
  { at, refusal }: { at: Date; refusal?: string | undefined },
): Promise<void> {
  if (refusal === undefined) noteCount(tx, 'agent_messages_received_total', { type: classOf(about.type) })
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

/** The most refusals that a thread keeps, because whoever has its link can send wrong requests for ever. */
const maxRefusals = 20

const deleteOlderRefusals = prepared((db: Db, { thread }: { thread: string }) =>
  db
    .deleteFrom('message_log')
    .where('thread', '=', thread)
    .where('direction', '=', 'received')
    .where('outcome', '=', 'refused')
    .where('sequence', 'not in', (inner) =>
      inner
        .selectFrom('message_log')
        .select('sequence')
        .where('thread', '=', thread)
        .where('direction', '=', 'received')
        .where('outcome', '=', 'refused')
        .orderBy('sequence', 'desc')
        .limit(sql.lit(maxRefusals)),
    ),
)

/**
 * Logs why a request of somebody without credentials was refused. It replaces the oldest refusal of a thread
 * that has many.
 */
export async function logRefused(tx: Tx, about: Omit<About, 'id' | 'from'>, refusal: string): Promise<void> {
  await logReceived(tx, { id: randomId(), from: 'wallet', ...about }, { at: new Date(), refusal })
  await deleteOlderRefusals(tx, about)
}

export type LoggedMessage = Selectable<WalletTables['message_log']>

export function messagesOf(db: Db, thread: string, limit: number): Promise<LoggedMessage[]> {
  return db
    .selectFrom('message_log')
    .selectAll()
    .where('thread', '=', thread)
    .orderBy('sequence')
    .limit(limit)
    .execute()
}

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

/** Deletes some of the oldest rows that are older than `retention` seconds. Returns how many. */
export async function pruneMessageLog(tx: Tx, retention: number, now = new Date()): Promise<number> {
  const before = new Date(now.getTime() - retention * 1_000).toISOString()
  return Number((await deleteOldest(tx, { before })).numAffectedRows)
}

export async function findOldestLogged(db: Db): Promise<string | undefined> {
  const oldest = db.selectFrom('message_log').select('at').orderBy('sequence').limit(1)
  return (await oldest.executeTakeFirst())?.at
}

/** `event_sequence` null stands for the newest event. */
type Rest = Pick<LoggedMessage, 'direction' | 'outcome' | 'at' | 'attempts' | 'duration_ms' | 'failure'> & {
  event_sequence: number | null
}

const insertMessage = prepared((db: Db, row: Omit<LoggedMessage, 'sequence' | keyof Rest> & Rest) =>
  db
    .insertInto('message_log')
    .values({
      sequence: nextSequence('message_log'),
      id: row.id,
      thread: row.thread,
      type: row.type,
      from_did: row.from_did,
      to_did: row.to_did,
      direction: row.direction,
      outcome: row.outcome,
      at: row.at,
      attempts: row.attempts,
      duration_ms: row.duration_ms,
      failure: row.failure,
      event_sequence: sql<number>`coalesce(${row.event_sequence}, (select max(sequence) from event), 0)`,
    })
    .returning('sequence'),
)

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
