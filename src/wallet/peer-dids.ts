/**
 * The did:peer DIDs of a wallet: one with new keys for every connection, connectionless record, ping to a
 * DID, and sign-in.
 */
import type { Selectable } from 'kysely'
import type { PrivateJwk } from '../foundation/crypto/keys.ts'
import { didOf } from '../did/document.ts'
import { generatePeerDid, PeerKeys, resolvePeerDid } from '../did/peer.ts'
import type { Db, Tx } from '../foundation/storage/database.ts'
import { rememberRows } from '../foundation/storage/memory.ts'
import { prepared } from '../foundation/storage/prepared.ts'
import type { WalletTables } from '../foundation/storage/wallet-tables.ts'
import type { Wallet } from './wallet.ts'

export type NewPeerDid = { did: string; keys: Record<string, PrivateJwk> }

/**
 * Makes a DID that `savePeerDid` then stores. Its service is a new mailbox of the wallet, unless `services`
 * are given.
 */
export function newPeerDid(wallet: Wallet, { services }: { services?: readonly string[] } = {}): NewPeerDid {
  const { urls, tokens } = wallet.env
  return generatePeerDid(services ?? `${urls.didcomm}/${tokens.create('mailbox', wallet.id)}`)
}

type PeerDidRow = Selectable<WalletTables['peer_did']>

const columns = ['did', 'keys', 'record_id', 'created_at'] as const

/** The DIDs that are in use, with their sealed keys. A row never changes. */
const peerDids = rememberRows('peer DIDs', async (db: Db, did) => (await rowsOf(db, { did })).rows[0])

const insertPeerDid = prepared((db: Db, { did, keys, record_id, created_at }: PeerDidRow) =>
  db.insertInto('peer_did').values({ did, keys, record_id, created_at }),
)

/** The DIDComm address of the agent in a DID of this wallet: the service URI without the mailbox. */
export function addressOf(did: string): string {
  const [service] = resolvePeerDid(did).service ?? []
  const { uri = '' } = (service?.serviceEndpoint ?? {}) as { uri?: string }
  return uri.replace(/\/[^/]*$/, '')
}

/** Stores a new DID and its sealed keys for the record that uses it. */
export async function savePeerDid(
  tx: Tx,
  wallet: Wallet,
  { did, keys }: NewPeerDid,
  recordId: string,
): Promise<void> {
  const sealed = wallet.seal(`peer-did:${did}`, JSON.stringify(keys))
  const row = { did, keys: sealed, record_id: recordId, created_at: new Date().toISOString() }
  await insertPeerDid(tx, row)
  peerDids.note(tx, did, row)
}

export async function deletePeerDid(tx: Tx, did: string): Promise<void> {
  await tx.deleteFrom('peer_did').where('did', '=', did).execute()
  peerDids.note(tx, did)
}

/** Deletes the DIDs of records. Returns how many. */
export async function deletePeerDidsOf(tx: Tx, recordIds: readonly string[]): Promise<number> {
  const rows = await tx.deleteFrom('peer_did').where('record_id', 'in', recordIds).returning('did').execute()
  for (const { did } of rows) peerDids.note(tx, did)
  return rows.length
}

export async function hasPeerDid(db: Db, did: string): Promise<boolean> {
  return (await findRecordIdOfPeerDid(db, did)) !== undefined
}

const rowsOf = prepared((db: Db, { did }: { did: string }) =>
  db.selectFrom('peer_did').select(columns).where('did', '=', did),
)

function readKeys(text: string): Record<string, PrivateJwk> {
  return PeerKeys.parse(JSON.parse(text))
}

/** The private key of a key id (a DID URL); undefined when the DID is not the wallet's. */
export async function findPeerKey(
  wallet: Wallet,
  kid: string,
): Promise<{ kid: string; privateJwk: PrivateJwk } | undefined> {
  const did = didOf(kid)
  const row = await peerDids.find(wallet.db, did)
  const privateJwk = row && wallet.unsealCached(`peer-did:${did}`, row.keys, readKeys)[kid]
  return privateJwk && { kid, privateJwk }
}

export async function findFirstPeerKey(
  wallet: Wallet,
  kids: readonly string[],
): ReturnType<typeof findPeerKey> {
  for (const kid of kids) {
    const key = await findPeerKey(wallet, kid)
    if (key) return key
  }
  return undefined
}

export async function findRecordIdOfPeerDid(db: Db, did: string): Promise<string | undefined> {
  return (await peerDids.find(db, did))?.record_id
}
