/** Connections as other protocols use them: over whom a message goes out, and whose message came in. */
import { Problem } from '../../base/problem.ts'
import type { Db } from '../../storage/database.ts'
import { findRecordIdOfPeerDid } from '../../wallet/peer-dids.ts'
import { findRecord, getRecord } from '../engine/find.ts'
import { connection } from './model.ts'
import { connectedStates } from './states.ts'

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
