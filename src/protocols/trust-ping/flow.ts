/** Trust ping 2.0 (wire.md 7): is the other side of a connection, or whoever has a DID, there? */
import { sql } from 'kysely'
import { z } from 'zod'
import { newId } from '../../base/id.ts'
import { Problem } from '../../base/problem.ts'
import type { Db, Tx } from '../../storage/database.ts'
import { cancelJobs } from '../../outbox/job.ts'
import { savePeerDid, newPeerDid, type NewPeerDid } from '../../wallet/peer-dids.ts'
import type { Wallet } from '../../wallet/wallet.ts'
import { getPeers, requireKnownSender } from '../peers.ts'
import { enqueueReply, enqueueMessage } from '../notice.ts'
import type { Handler } from '../engine/receive.ts'
import { findWay, NotDelivered } from '../engine/send.ts'
import { trustPing, type PingRow, type SendPing } from './model.ts'

/** Pings that are kept, with the DIDs made for them and the messages that nobody has taken. */
export const pingLimit = 100

const PingBody = z.looseObject({ response_requested: z.boolean().nullish() })

/** Who asks whom; `peer` is a DID made for it. */
type Asking = { connectionId?: string; from: string; to: string; peer?: NewPeerDid }

/**
 * Pings the other side of a connection, or a DID; the answer shows in `getPing`. Of older pings the last `pingLimit` are kept.
 *
 * @throws {Problem} when the connection cannot be used; 422 when no message gets to the DID, and why.
 */
export async function sendPing(wallet: Wallet, { connectionId, did }: SendPing): Promise<PingRow> {
  const asking =
    did === undefined ? await overConnection(wallet.db, connectionId!) : await askDid(wallet, did)
  const { from, to, peer } = asking
  const message = { type: trustPing.messages.ping, body: { response_requested: true } }
  return wallet.transaction(async (tx) => {
    const id = newId()
    if (peer) await savePeerDid(tx, wallet, peer, id)
    const thid = await enqueueMessage(tx, { protocol: trustPing.name, recordId: id, from, to, message })
    const row = await insert(tx, {
      id,
      thid,
      connection_id: asking.connectionId ?? null,
      my_did: from,
      their_did: to,
    })
    await prune(tx)
    return row
  })
}

async function overConnection(db: Db, connectionId: string): Promise<Asking> {
  const { myDid: from, theirDid: to } = await getPeers(db, connectionId)
  return { connectionId, from, to }
}

/** Makes a DID to ask from, which nothing links to any other of ours. */
async function askDid(wallet: Wallet, to: string): Promise<Asking> {
  try {
    await findWay(wallet, to, wallet.env.resolver.document, 'X25519')
  } catch (error) {
    if (!(error instanceof NotDelivered)) throw error
    throw new Problem('UnprocessableEntity', `The DID cannot be pinged: ${error.message}`, { cause: error })
  }
  const peer = newPeerDid(wallet)
  return { from: peer.did, to, peer }
}

/** A ping. @throws {Problem} 404 when there is none, or it is too old to be kept. */
export async function getPing(db: Db, id: string): Promise<PingRow> {
  const row = await db.selectFrom('ping').selectAll().where('id', '=', id).executeTakeFirst()
  if (!row) throw new Problem('NotFound', `There is no ping ${id}; the last ${pingLimit} are kept.`)
  return row
}

/** Notes that the other side's endpoint did not take a ping. Taking it is no answer. */
export async function storeOutcome(tx: Tx, id: string, failure?: string): Promise<void> {
  if (failure !== undefined)
    await tx
      .updateTable('ping')
      .set({ failure })
      .where('id', '=', id)
      .where('answered_at', 'is', null)
      .execute()
}

/** Answers, unless that is not wanted. A body that cannot be read says nothing of the kind. @throws {Problem} 429 when strangers ask too often. */
export const onPing: Handler = async (wallet, message) => {
  await requireKnownSender(wallet.db, message, { admitHolder: () => wallet.env.limitReplies(message) })
  const isWanted = PingBody.safeParse(message.body).data?.response_requested !== false
  const answer = { type: trustPing.messages['ping-response'], thid: message.thid, body: {} }
  return async (tx) => isWanted && enqueueReply(tx, message, trustPing.name, answer)
}

/** Notes that a ping was answered by whoever was asked, the first time. Anything else changes nothing. */
export const onPingResponse: Handler = async (wallet, message) => {
  const { from, to, thid } = message
  const answered = await wallet.db
    .selectFrom('ping')
    .select('id')
    .where('thid', '=', thid)
    .where('my_did', '=', to)
    .where('their_did', '=', from)
    .executeTakeFirst()
  if (!answered) await requireKnownSender(wallet.db, message)
  return async (tx) => {
    if (!answered) return
    const outcome = { answered_at: new Date().toISOString(), failure: null }
    await tx
      .updateTable('ping')
      .set(outcome)
      .where('id', '=', answered.id)
      .where('answered_at', 'is', null)
      .execute()
  }
}

function insert(
  tx: Tx,
  ping: Pick<PingRow, 'id' | 'thid' | 'connection_id' | 'my_did' | 'their_did'>,
): Promise<PingRow> {
  return tx
    .insertInto('ping')
    .values({
      ...ping,
      sequence: sql<number>`(select coalesce(max(sequence), 0) + 1 from ping)`,
      sent_at: new Date().toISOString(),
      answered_at: null,
      failure: null,
    })
    .returningAll()
    .executeTakeFirstOrThrow()
}

/** Forgets all but the last pings: with them go the DIDs that nobody else knows us by, and the messages that still wait. */
async function prune(tx: Tx): Promise<void> {
  const old = await tx
    .selectFrom('ping')
    .select(['id', 'thid'])
    .orderBy('sequence', 'desc')
    .limit(1_000)
    .offset(pingLimit)
    .execute()
  if (old.length === 0) return
  const ids = old.map(({ id }) => id)
  const threads = old.map(({ thid }) => thid)
  await cancelJobs(tx, threads)
  await tx.deleteFrom('peer_did').where('record_id', 'in', ids).execute()
  await tx.deleteFrom('ping').where('id', 'in', ids).execute()
}
