/** Who is on the other side of a credential's or a presentation's record: over a connection, or by an invitation of its own (wire.md 2.3). */
import { z } from 'zod'
import type { Db } from '../storage/database.ts'
import { findByThread, findRecord, getRecord } from './engine/find.ts'
import type { Machine, RoleOf } from './engine/machine.ts'
import type { Received } from './engine/receive.ts'
import type { Protocol, Rec } from './engine/record.ts'
import { Problem } from '../base/problem.ts'
import { findRecordIdOfPeerDid } from '../wallet/peer-dids.ts'
import { connection } from './connection/model.ts'
import { connectedStates } from './connection/states.ts'

/** The members of `Sides`, as far as a record has them. */
type HasSides = {
  connectionId?: string | undefined
  myDid?: string | undefined
  theirDid?: string | undefined
}

/** The DIDs between which the messages of a record go. @throws {Problem} 400 when its connection is not complete, 404 when it is gone. */
export async function peersOf(
  db: Db,
  { connectionId, myDid, theirDid }: HasSides,
): Promise<{ myDid: string; theirDid: string }> {
  if (connectionId !== undefined) return getPeers(db, connectionId)
  if (myDid === undefined || theirDid === undefined)
    throw new Error('the record has nobody on its other side')
  return { myDid, theirDid }
}

/**
 * The record that a message belongs to: of its thread, between the two DIDs that the record's messages go.
 *
 * With `mayAnswer` an invitation that nobody has answered belongs to whoever answers it; every other message must come from the one
 * who did.
 */
export async function findRecordFor<M extends Machine, Data extends HasSides>(
  db: Db,
  protocol: Protocol<M, Data>,
  role: RoleOf<M>,
  { from, to, thid }: Pick<Received, 'from' | 'to' | 'thid'>,
  { mayAnswer = false } = {},
): Promise<Rec<M, Data> | undefined> {
  const record = await findByThread(db, protocol, role, thid)
  if (!record) return undefined
  const { connectionId, myDid, theirDid }: HasSides = record
  if (connectionId !== undefined)
    return (await findPeers(db, from, to))?.connectionId === connectionId ? record : undefined
  const isTheirs = theirDid === undefined ? mayAnswer : theirDid === from
  return myDid === to && isTheirs ? record : undefined
}

/** What the answer to an invitation changes: its sender is the other side from then on. Over a connection that is known already. */
export function bindSender(
  { from }: Pick<Received, 'from'>,
  { connectionId }: HasSides,
): { theirDid?: string } {
  return connectionId === undefined ? { theirDid: from } : {}
}

/** A connection both sides know, and their DIDs for it. */
export type Peers = { connectionId: string; myDid: string; theirDid: string }

/** The DIDs of a connection. @throws {Problem} 404 when there is none, 400 when it is not complete. */
export async function getPeers(db: Db, connectionId: string): Promise<Peers> {
  const { state, myDid, theirDid } = await getRecord(db, connection, connectionId)
  if (!connectedStates.includes(state) || myDid === undefined || theirDid === undefined) {
    throw new Problem(
      'error:ConnectionServiceError:InvalidStateForOperation',
      `The connection ${connectionId} is in state ${state}, and can be used in state ${connectedStates.join(' or ')}.`,
    )
  }
  return { connectionId, myDid, theirDid }
}

/** The connection whose other side sent a message from `from` to our `to`, if these two DIDs are one's. */
export async function findPeers(db: Db, from: string, to: string): Promise<Peers | undefined> {
  const connectionId = await findRecordIdOfPeerDid(db, to)
  const record = connectionId === undefined ? undefined : await findRecord(db, connection, connectionId)
  return record && record.myDid === to && record.theirDid === from
    ? { connectionId: record.id, myDid: to, theirDid: from }
    : undefined
}

/** What a record may say of its two sides, whichever protocol it is of. */
const Sides = z.looseObject({ myDid: z.string().optional(), theirDid: z.string().optional() })

/**
 * Makes sure that a message comes from the other side that one of our DIDs was made for, over a connection or after an
 * invitation of another kind. With `admitHolder` whoever holds an invitation that nobody has answered may come, too: they could as well
 * accept it. It is called for them, and may refuse.
 *
 * @throws {Problem} `SenderNotAllowed` for strangers, who are told nothing and cost no row.
 */
export async function requireKnownSender(
  db: Db,
  { from, to, type }: Received,
  { admitHolder }: { admitHolder?: () => Promise<void> } = {},
): Promise<void> {
  const id = await findRecordIdOfPeerDid(db, to)
  const row =
    id === undefined
      ? undefined
      : await db.selectFrom('record').select(['state', 'data']).where('id', '=', id).executeTakeFirst()
  if (admitHolder && row?.state === 'InvitationGenerated') return admitHolder()
  const sides = row && Sides.parse(JSON.parse(row.data))
  if (sides?.theirDid !== from || sides.myDid !== to) throw notAllowed(type)
}

/** The connection over which a message came. @throws {Problem} `SenderNotAllowed` when it came over none. */
export async function getSenderPeers(db: Db, { from, to, type }: Received): Promise<Peers> {
  const peers = await findPeers(db, from, to)
  if (!peers) throw notAllowed(type)
  return peers
}

function notAllowed(type: string): Problem {
  const detail = `The message of type ${type.slice(0, 200)} does not come from anybody this wallet has to do with.`
  return new Problem('error:DIDCommControllerError:SenderNotAllowed', detail)
}
