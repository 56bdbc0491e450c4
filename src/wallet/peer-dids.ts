/** The wallet's did:peer DIDs: fresh keys for every connection, every record that has none, every ping to a DID, and to sign in with (wire.md 11.1, decisions.md §5). */
import type { Selectable } from 'kysely'
import { z } from 'zod'
import { generateKey, toPublic, type PrivateJwk } from '../crypto/keys.ts'
import { didOf } from '../did/document.ts'
import { createPeerDid, peerKeyIds, resolvePeerDid } from '../did/peer.ts'
import type { Db, Tx } from '../storage/database.ts'
import { prepared } from '../storage/prepared.ts'
import type { WalletTables } from '../storage/wallet-tables.ts'
import type { Wallet } from './wallet.ts'

const StoredJwk = z.object({
  kty: z.literal('OKP'),
  crv: z.enum(['X25519', 'Ed25519']),
  x: z.string(),
  d: z.string(),
})
/** Private keys by the ids they have in the DID's document. */
const StoredKeys = z.record(z.string(), StoredJwk)

export type NewPeerDid = { did: string; keys: Record<string, PrivateJwk> }

/** Makes a DID whose service is a new mailbox of the wallet, if no other `services` are given; it is the wallet's once `savePeerDid` has written it. */
export function newPeerDid(wallet: Wallet, { services }: { services?: readonly string[] } = {}): NewPeerDid {
  const [keyAgreement, authentication] = [generateKey('X25519'), generateKey('Ed25519')]
  const did = createPeerDid({
    keyAgreement: toPublic(keyAgreement),
    authentication: toPublic(authentication),
    serviceUri: services ?? `${wallet.env.urls.didcomm}/${wallet.env.tokens.create('mailbox', wallet.id)}`,
  })
  const ids = peerKeyIds(did)
  return { did, keys: { [ids.keyAgreement]: keyAgreement, [ids.authentication]: authentication } }
}

const insertPeerDid = prepared(
  (db: Db, { did, keys, record_id, created_at }: Selectable<WalletTables['peer_did']>) =>
    db.insertInto('peer_did').values({ did, keys, record_id, created_at }),
)

/** The address that a DID of ours was made with: what stands before the mailbox in its service. */
export function addressOf(did: string): string {
  const [service] = resolvePeerDid(did).service ?? []
  const { uri = '' } = (service?.serviceEndpoint ?? {}) as { uri?: string }
  return uri.replace(/\/[^/]*$/, '')
}

/** Writes a new DID down for the record whose other side will know us by it. */
export async function savePeerDid(
  tx: Tx,
  wallet: Wallet,
  { did, keys }: NewPeerDid,
  recordId: string,
): Promise<void> {
  const sealed = wallet.seal(`peer-did:${did}`, JSON.stringify(keys))
  await insertPeerDid(tx, { did, keys: sealed, record_id: recordId, created_at: new Date().toISOString() })
}

/** Forgets a DID and its keys. */
export async function deletePeerDid(tx: Tx, did: string): Promise<void> {
  await tx.deleteFrom('peer_did').where('did', '=', did).execute()
}

/** Whether a DID is one of ours. */
export async function hasPeerDid(db: Db, did: string): Promise<boolean> {
  return (await findRecordIdOfPeerDid(db, did)) !== undefined
}

const keysOf = prepared((db: Db, { did }: { did: string }) =>
  db.selectFrom('peer_did').select('keys').where('did', '=', did),
)

const recordsOf = prepared((db: Db, { did }: { did: string }) =>
  db.selectFrom('peer_did').select('record_id').where('did', '=', did),
)

function readKeys(text: string): Record<string, PrivateJwk> {
  return StoredKeys.parse(JSON.parse(text))
}

/** The private key that a key id (a DID URL) names, if the DID is ours. */
export async function findPeerKey(
  wallet: Wallet,
  kid: string,
): Promise<{ kid: string; privateJwk: PrivateJwk } | undefined> {
  const did = didOf(kid)
  const { rows } = await keysOf(wallet.db, { did })
  const row = rows[0]
  const privateJwk = row && wallet.unsealCached(`peer-did:${did}`, row.keys, readKeys)[kid]
  return privateJwk && { kid, privateJwk }
}

/** The first of several keys that is ours. */
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

/** The record that one of our DIDs was made for. */
export async function findRecordIdOfPeerDid(db: Db, did: string): Promise<string | undefined> {
  return (await recordsOf(db, { did })).rows[0]?.record_id
}
