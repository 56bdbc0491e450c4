/** Trust Ping 2.0: asks the other side of a connection, or a DID, for a reply. */
import { sql } from 'kysely'
import * as z from 'zod'
import { newId } from '../../../foundation/id.ts'
import { Problem } from '../../../foundation/problem.ts'
import type { Resolve } from '../../../did/document.ts'
import { isPeerDid } from '../../../definitions/did-names.ts'
import { peerDidsOnly } from '../../../did/peer.ts'
import type { Db, Tx } from '../../../foundation/storage/database.ts'
import { cancelJobs } from '../../../wallet/outbox/job.ts'
import { deletePeerDidsOf, savePeerDid, newPeerDid, type NewPeerDid } from '../../../wallet/peer-dids.ts'
import type { Wallet } from '../../../wallet/wallet.ts'
import { getPeers, requireKnownSender } from '../peers.ts'
import { enqueueReply, enqueueMessage } from '../stateless-message.ts'
import type { Handler } from '../../engine/receive.ts'
import { findRecipientRoute, NotDelivered } from '../../engine/send.ts'
import { trustPing, type PingRow, type SendPing } from './model.ts'

/** The number of stored pings, with their DIDs and their undelivered messages. */
export const pingLimit = 100

const PingBody = z.looseObject({ response_requested: z.boolean().nullish() })

/** The two DIDs of a ping. `peer` is a new DID for this ping. */
type Parties = { connectionId?: string; from: string; to: string; peer?: NewPeerDid }

/**
 * Pings the other side of a connection, or a DID. `getPing` returns the reply. Only the last `pingLimit`
 * pings are stored.
 *
 * @throws {Problem} if the connection cannot be used; 422 if the DID has no route
 */
export async function sendPing(wallet: Wallet, { connectionId, did }: SendPing): Promise<PingRow> {
  const parties =
    did === undefined ? await overConnection(wallet.db, connectionId!) : await toDid(wallet, did)
  const { from, to, peer } = parties
  const message = { type: trustPing.messages.ping, body: { response_requested: true } }
  return wallet.transaction(async (tx) => {
    const id = newId()
    if (peer) await savePeerDid(tx, wallet, peer, id)
    const thid = await enqueueMessage(tx, { protocol: trustPing.name, recordId: id, from, to, message })
    const row = await insert(tx, {
      id,
      thid,
      connection_id: parties.connectionId ?? null,
      my_did: from,
      their_did: to,
    })
    await prune(tx)
    return row
  })
}

async function overConnection(db: Db, connectionId: string): Promise<Parties> {
  const { myDid: from, theirDid: to } = await getPeers(db, connectionId)
  return { connectionId, from, to }
}

/** Creates a DID for this ping, so that it cannot be linked to other DIDs of the wallet. */
async function toDid(wallet: Wallet, to: string): Promise<Parties> {
  try {
    await findRecipientRoute(wallet, to, wallet.env.resolver.document, 'X25519')
  } catch (error) {
    if (!(error instanceof NotDelivered)) throw error
    throw new Problem('UnprocessableEntity', `The DID cannot be pinged: ${error.message}`, { cause: error })
  }
  const peer = newPeerDid(wallet)
  return { from: peer.did, to, peer }
}

/** A ping. @throws {Problem} 404 */
export async function getPing(db: Db, id: string): Promise<PingRow> {
  const row = await db.selectFrom('ping').selectAll().where('id', '=', id).executeTakeFirst()
  if (!row) throw new Problem('NotFound', `There is no ping ${id}; only the last ${pingLimit} are stored.`)
  return row
}

/** Stores why a ping was abandoned. A delivered ping is not answered yet. */
export async function storeOutcome(tx: Tx, id: string, failure?: string): Promise<void> {
  if (failure !== undefined)
    await tx
      .updateTable('ping')
      .set({ failure })
      .where('id', '=', id)
      .where('answered_at', 'is', null)
      .execute()
}

/**
 * Handles a ping: replies unless the body says `response_requested: false`.
 *
 * @throws {Problem} 429 if unknown senders ask too often
 */
export const onPing: Handler = async (wallet, message) => {
  await requireKnownSender(wallet.db, message, { admitHolder: () => wallet.env.limitReplies(message) })
  const isWanted = PingBody.safeParse(message.body).data?.response_requested !== false
  const answer = { type: trustPing.messages['ping-response'], thid: message.thid, body: {} }
  return async (tx) => isWanted && enqueueReply(tx, message, trustPing.name, answer)
}

/** Handles a reply: stores the first one from the pinged DID. Any other changes nothing. */
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

/** Deletes all but the last pings, with their DIDs and their undelivered messages. */
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
  await deletePeerDidsOf(tx, ids)
  await tx.deleteFrom('ping').where('id', 'in', ids).execute()
}

/**
 * Builds a resolver for messages from and to `myDid`: of did:peer, and of the one DID that `myDid` was
 * created to ping. The tenant named that DID, so received messages cannot choose what is resolved.
 */
export function resolverOf({ db, env }: Wallet, myDid: string): Resolve {
  const { document } = env.resolver
  const resolvePeer = peerDidsOnly(document)
  return async (did) => {
    if (isPeerDid(did)) return resolvePeer(did)
    const ping = await db
      .selectFrom('ping')
      .select('id')
      .where('my_did', '=', myDid)
      .where('their_did', '=', did)
      .executeTakeFirst()
    return ping ? document(did) : resolvePeer(did)
  }
}
