/** Basic Message 2.0: text messages over a connection. Both sides store them. */
import { sql, type Insertable, type Selectable } from 'kysely'
import * as z from 'zod'
import { newId } from '../../../foundation/id.ts'
import type { Db, Tx } from '../../../foundation/storage/database.ts'
import { pageOf, type Paging } from '../../../foundation/storage/list-query.ts'
import type { WalletTables } from '../../../foundation/storage/wallet-tables.ts'
import type { Wallet } from '../../../wallet/wallet.ts'
import { readBody, type Handler } from '../../engine/receive.ts'
import { getPeers, getSenderPeers } from '../peers.ts'
import { enqueueMessage } from '../stateless-message.ts'
import { basicMessage, type SendMessage } from './model.ts'

type Row = Selectable<WalletTables['message']>

const Body = z.looseObject({ content: z.string(), lang: z.string().max(100).nullish() })

/** Stores a message and enqueues it. @throws {Problem} if the connection cannot be used */
export async function sendMessage(wallet: Wallet, { connectionId, content }: SendMessage): Promise<Row> {
  const { myDid: from, theirDid: to } = await getPeers(wallet.db, connectionId)
  const message = { type: basicMessage.messages.message, body: { content } }
  return wallet.transaction(async (tx) => {
    const row = await insert(tx, { connection_id: connectionId, direction: 'sent', content })
    await enqueueMessage(tx, { protocol: basicMessage.name, recordId: row.id, from, to, message })
    return row
  })
}

/** Stores that a message was delivered, or why it was abandoned. */
export async function storeOutcome(tx: Tx, id: string, failure?: string): Promise<void> {
  const outcome = failure === undefined ? { sent_at: new Date().toISOString() } : { failure }
  await tx.updateTable('message').set(outcome).where('id', '=', id).execute()
}

/** Handles a message and stores it. */
export const onMessage: Handler = async (wallet, message) => {
  const { connectionId } = await getSenderPeers(wallet.db, message)
  const { content, lang } = readBody(message, Body, 'basic message')
  const sent_at = toInstant(message.createdTime)
  return (tx) =>
    insert(tx, { connection_id: connectionId, direction: 'received', content, lang: lang ?? null, sent_at })
}

export type MessageQuery = Paging & { connectionId?: string | undefined }

/** A page of messages, oldest first, and the number of all messages. */
export async function listMessages(
  db: Db,
  { connectionId, ...paging }: MessageQuery,
): Promise<{ rows: Row[]; total: number }> {
  let matching = db.selectFrom('message')
  if (connectionId !== undefined) matching = matching.where('connection_id', '=', connectionId)
  return pageOf(matching.selectAll(), ['sequence'], paging)
}

/** A peer's epoch seconds as ISO 8601. Null before 1970 and after 2999. */
function toInstant(seconds: number | undefined): string | null {
  return seconds !== undefined && seconds > 0 && seconds < 32_503_680_000
    ? new Date(seconds * 1_000).toISOString()
    : null
}

type NewMessage = Pick<Row, 'connection_id' | 'direction' | 'content'> &
  Partial<Pick<Insertable<WalletTables['message']>, 'lang' | 'sent_at'>>

function insert(tx: Tx, { lang = null, sent_at = null, ...message }: NewMessage): Promise<Row> {
  return tx
    .insertInto('message')
    .values({
      ...message,
      lang,
      sent_at,
      sequence: sql<number>`(select coalesce(max(sequence), 0) + 1 from message)`,
      id: newId(),
      failure: null,
      created_at: new Date().toISOString(),
    })
    .returningAll()
    .executeTakeFirstOrThrow()
}
