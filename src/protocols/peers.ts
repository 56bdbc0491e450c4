/** Who is on the other side of a credential's or a presentation's record: over a connection, or by an invitation of its own (wire.md 2.3). */
import type { Db } from '../storage/database.ts'
import { findPeers, getPeers } from './connection/peers.ts'
import { findByThread } from './engine/find.ts'
import type { Machine, RoleOf } from './engine/machine.ts'
import type { Received } from './engine/receive.ts'
import type { Protocol, Rec } from './engine/record.ts'

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
export function boundBy({ from }: Pick<Received, 'from'>, { connectionId }: HasSides): { theirDid?: string } {
  return connectionId === undefined ? { theirDid: from } : {}
}
