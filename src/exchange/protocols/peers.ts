/**
 * The two sides of records and messages: the DIDs of a connection, or of a record that began with an
 * invitation.
 */
import * as z from 'zod'
import type { Db } from '../../foundation/storage/database.ts'
import { findAny, findByThread, findRecord, getRecord } from '../engine/find.ts'
import type { Machine, RoleOf } from '../../definitions/machine.ts'
import type { Received } from '../engine/receive.ts'
import type { Protocol, Rec } from '../engine/protocol.ts'
import { Problem } from '../../foundation/problem.ts'
import { findRecordIdOfPeerDid } from '../../wallet/peer-dids.ts'
import { connection } from './connection/model.ts'
import { connectedStates } from '../../definitions/connection.ts'

/** Members of `Sides` in `model.ts`. */
type HasSides = {
  connectionId?: string | undefined
  myDid?: string | undefined
  theirDid?: string | undefined
}

/**
 * The DIDs of a record's two sides.
 *
 * @throws {Problem} 400 if its connection is not complete, 404 if it is deleted
 */
export async function peersOf(
  db: Db,
  { connectionId, myDid, theirDid }: HasSides,
): Promise<{ myDid: string; theirDid: string }> {
  if (connectionId !== undefined) return getPeers(db, connectionId)
  if (myDid === undefined || theirDid === undefined) throw new Error('the record has no other side')
  return { myDid, theirDid }
}

/**
 * The record that a message belongs to: it has the message's thread and the two DIDs.
 *
 * With `mayAnswer`, any sender may answer an unanswered invitation. Later messages must come from the same
 * sender.
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

/**
 * The change when a message answers an invitation: its sender becomes the other side. Empty for a record with
 * a connection.
 */
export function bindSender(
  { from }: Pick<Received, 'from'>,
  { connectionId }: HasSides,
): { theirDid?: string } {
  return connectionId === undefined ? { theirDid: from } : {}
}

/** An established connection and its DIDs. */
export type Peers = { connectionId: string; myDid: string; theirDid: string }

/** The DIDs of a connection. @throws {Problem} 404; 400 if it is not established */
export async function getPeers(db: Db, connectionId: string): Promise<Peers> {
  const { state, myDid, theirDid } = await getRecord(db, connection, connectionId)
  if (!connectedStates.includes(state) || myDid === undefined || theirDid === undefined) {
    throw new Problem(
      'error:ConnectionServiceError:InvalidStateForOperation',
      `The connection ${connectionId} is in state ${state} and cannot be used before ${connectedStates.join(' or ')}.`,
    )
  }
  return { connectionId, myDid, theirDid }
}

/** The connection with these two DIDs: `to` is the wallet's, `from` the other side's. */
export async function findPeers(db: Db, from: string, to: string): Promise<Peers | undefined> {
  const connectionId = await findRecordIdOfPeerDid(db, to)
  const record = connectionId === undefined ? undefined : await findRecord(db, connection, connectionId)
  return record && record.myDid === to && record.theirDid === from
    ? { connectionId: record.id, myDid: to, theirDid: from }
    : undefined
}

/** The DIDs of a record of any protocol. */
const Sides = z.looseObject({ myDid: z.string().optional(), theirDid: z.string().optional() })

/**
 * Checks that the sender is the other side of the record that the recipient DID was created for.
 * `admitHolder` admits the holder of an unanswered invitation as well, who could accept it anyway; it is
 * called for such a sender and may refuse.
 *
 * @throws {Problem} `SenderNotAllowed` for unknown senders, who get no report and cause no write
 */
export async function requireKnownSender(
  db: Db,
  { from, to, type }: Received,
  { admitHolder }: { admitHolder?: () => Promise<void> } = {},
): Promise<void> {
  const id = await findRecordIdOfPeerDid(db, to)
  const record = id === undefined ? undefined : await findAny(db, id)
  if (admitHolder && record?.state === 'InvitationGenerated') return admitHolder()
  const sides = record && Sides.parse(record)
  if (sides?.theirDid !== from || sides.myDid !== to) throw notAllowed(type)
}

/** The connection of a message. @throws {Problem} `SenderNotAllowed` without one */
export async function getSenderPeers(db: Db, { from, to, type }: Received): Promise<Peers> {
  const peers = await findPeers(db, from, to)
  if (!peers) throw notAllowed(type)
  return peers
}

function notAllowed(type: string): Problem {
  const detail = `The message of type ${type.slice(0, 200)} comes from a sender that this wallet does not know.`
  return new Problem('error:DIDCommControllerError:SenderNotAllowed', detail)
}
