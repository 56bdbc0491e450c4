/** Finds a thread by its id, by the id of a record, an event or a ping, or by the beginning or the end of one. */
import { sql, type AliasedSelectQueryBuilder } from 'kysely'
import { Problem } from '../../foundation/problem.ts'
import { protocols } from '../../exchange/all-protocols.ts'
import type { Db } from '../../foundation/storage/database.ts'
import { likeOf } from '../../foundation/storage/sql.ts'

/** The shortest part of an id to search for, in characters. */
export const shortestPart = 6

/** The number of newest records, events and messages to search for the end of an id, which no index supports. */
const searched = 20_000

/** The number of matching threads that an error names. */
const named = 4

const protocolNames = Object.keys(protocols)

/**
 * The id of the thread, or the DID, of events and messages.
 *
 * @throws {Problem} `NotFound`; `BadRequest` if several match
 */
export async function findThread(db: Db, id: string): Promise<string> {
  if (await isThread(db, id)) return id
  const exact = await findByPart(db, id)
  if (exact !== undefined) return exact
  const part = id.replace(/^…/, '')
  const threads =
    part.length < shortestPart
      ? []
      : [...new Set([...(await findByBeginning(db, part)), ...(await findByEnd(db, part))])]
  if (threads.length > 1) {
    const list = threads.slice(0, named).join(', ')
    throw new Problem(
      'BadRequest',
      `id: several threads or records begin or end with ${id}, of the threads ${list}. Give more characters of it.`,
    )
  }
  if (threads[0] !== undefined) return threads[0]
  throw new Problem(
    'NotFound',
    `There is no thread, record or event ${id}, and none that begins or ends so (${shortestPart} characters at least), or none any more: what happened is kept for EVENT_RETENTION.`,
  )
}

async function isThread(db: Db, id: string): Promise<boolean> {
  const reads = [
    () =>
      db
        .selectFrom('record')
        .select('id')
        .where('protocol', 'in', protocolNames)
        .where('thid', '=', id)
        .limit(1)
        .executeTakeFirst(),
    () => db.selectFrom('event').select('id').where('subject', '=', id).limit(1).executeTakeFirst(),
    () => db.selectFrom('message_log').select('id').where('thread', '=', id).limit(1).executeTakeFirst(),
    // The id of a thread's first message is the thread id.
    () =>
      db.selectFrom('job').select('id').where('id', '=', id).where('kind', '=', 'message').executeTakeFirst(),
  ]
  for (const read of reads) if (await read()) return true
  return false
}

/** The thread of the record, the event or the ping with an id. */
async function findByPart(db: Db, id: string): Promise<string | undefined> {
  const record = await db.selectFrom('record').select('thid').where('id', '=', id).executeTakeFirst()
  if (record) return record.thid
  const event = await db.selectFrom('event').select('subject').where('id', '=', id).executeTakeFirst()
  if (event) return event.subject
  return (await db.selectFrom('ping').select('thid').where('id', '=', id).executeTakeFirst())?.thid
}

/** The threads whose id or record id begins with a text. Event ids are not searched: they begin with a time. */
async function findByBeginning(db: Db, beginning: string): Promise<string[]> {
  // Greater than any text with this beginning, in byte order.
  const end = `${beginning}\u{10ffff}`
  const records = db.selectFrom('record').select('thid as thread').distinct().limit(named)
  const reads: Promise<{ thread: string }[]>[] = [
    records.where('id', '>=', beginning).where('id', '<', end).execute(),
    ...protocolNames.map((name) =>
      records.where('protocol', '=', name).where('thid', '>=', beginning).where('thid', '<', end).execute(),
    ),
    ...[
      db.selectFrom('event').select('subject as thread').as('log'),
      db.selectFrom('message_log').select('thread').as('log'),
    ].map((log) => threadsOf(db, log).where('thread', '>=', beginning).where('thread', '<', end).execute()),
  ]
  return [...new Set((await Promise.all(reads)).flat().map(({ thread }) => thread))]
}

/** The newest threads whose id or record id ends with a text. */
async function findByEnd(db: Db, end: string): Promise<string[]> {
  const pattern = `%${end.replaceAll(/[\\%_]/g, String.raw`\$&`)}`
  const endsWith = (column: string) =>
    sql<boolean>`${sql.ref(column)} ${sql.raw(likeOf(db))} ${pattern} escape '\\'`
  const records = db
    .selectFrom('record')
    .select(['id', 'thid as thread'])
    .where('protocol', 'in', protocolNames)
  const events = db.selectFrom('event').select('subject as thread')
  const messages = db.selectFrom('message_log').select('thread')
  const reads: Promise<{ thread: string }[]>[] = [
    threadsOf(db, records.orderBy('id', 'desc').limit(searched).as('log'))
      .where((eb) => eb.or([endsWith('id'), endsWith('thread')]))
      .execute(),
    ...[
      events.orderBy('sequence', 'desc').limit(searched).as('log'),
      messages.orderBy('sequence', 'desc').limit(searched).as('log'),
    ].map((log) => threadsOf(db, log).where(endsWith('thread')).execute()),
  ]
  return (await Promise.all(reads)).flat().map(({ thread }) => thread)
}

type Log = AliasedSelectQueryBuilder<{ thread: string }, 'log'>

/** The distinct threads of a log, as many as an error names. */
function threadsOf(db: Db, log: Log) {
  return db.selectFrom(log).select('thread').distinct().limit(named)
}
