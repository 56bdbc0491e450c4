/**
 * The mediator's DIDs: did:peer:2 with an HTTP and a WebSocket service. Their keys are sealed on disk.
 *
 * A did:peer contains its address, so a changed address needs a new DID. The mediator keeps serving wallets
 * under its earlier DIDs.
 */
import { fromUtf8 } from '../../foundation/bytes.ts'
import { seal, unseal } from '../../foundation/seal.ts'
import type { PrivateJwk } from '../../foundation/crypto/keys.ts'
import { generatePeerDid, PeerKeys, peerKeyIds } from '../../did/peer.ts'
import type { PrivateKey } from '../didcomm/jwe.ts'
import type { MediatorContents } from './writes.ts'

export type Identities = {
  /** The DID with the current address. */
  readonly did: string
  /** True for every DID that this mediator has or had. */
  owns: (did: string) => boolean
  /** The private key of a key id of the mediator's DIDs. */
  findKey: (kid: string) => PrivateKey | undefined
  /** The key that encrypts messages from one of the mediator's DIDs. */
  getSenderKey: (did: string) => PrivateKey
}

/**
 * Reads the identities from the mediator's database, and creates one for `url` if there is none.
 *
 * @param url the public base URL of the DIDComm port, without trailing slash.
 * @throws when the database was sealed with another key.
 */
export async function openIdentities(
  { db, flush }: Pick<MediatorContents, 'db' | 'flush'>,
  sealKey: Uint8Array,
  url: string,
): Promise<Identities> {
  const isKnown = await db.selectFrom('identity').select('did').where('url', '=', url).executeTakeFirst()
  if (!isKnown) {
    await insertIdentity(db, sealKey, url)
    await flush()
  }
  const keys = new Map<string, PrivateJwk>()
  const senderKeys = new Map<string, PrivateKey>()
  let current = ''
  for (const row of await db.selectFrom('identity').selectAll().execute()) {
    const stored = PeerKeys.parse(JSON.parse(fromUtf8(unseal(sealKey, contextOf(row.did), row.keys))))
    for (const [kid, jwk] of Object.entries(stored)) keys.set(kid, jwk)
    const kid = peerKeyIds(row.did).keyAgreement
    senderKeys.set(row.did, { kid, privateJwk: stored[kid]! })
    if (row.url === url) current = row.did
  }
  return {
    did: current,
    owns: (did) => senderKeys.has(did),
    findKey(kid) {
      const privateJwk = keys.get(kid)
      return privateJwk && { kid, privateJwk }
    },
    getSenderKey: (did) => senderKeys.get(did)!,
  }
}

async function insertIdentity(db: MediatorContents['db'], sealKey: Uint8Array, url: string): Promise<void> {
  // HTTP comes first: wallets post to the first service.
  const { did, keys } = generatePeerDid([url, `${url.replace(/^http/, 'ws')}/ws`])
  await db
    .insertInto('identity')
    .values({
      did,
      url,
      keys: seal(sealKey, contextOf(did), JSON.stringify(keys)),
      created_at: new Date().toISOString(),
    })
    // Another node may have made one in the meantime.
    .onConflict((conflict) => conflict.column('url').doNothing())
    .execute()
}

function contextOf(did: string): string {
  return `mediator:${did}`
}
