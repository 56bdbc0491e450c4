/**
 * The mediator's DIDs: did:peer:2 with an HTTP and a WebSocket service. Their keys are sealed on disk.
 *
 * A did:peer contains its address, so a changed address needs a new DID. The mediator keeps serving wallets
 * under its earlier DIDs.
 */
import * as z from 'zod'
import { fromUtf8 } from '../base/bytes.ts'
import { seal, unseal } from '../base/seal.ts'
import { generateKey, toPublic, type PrivateJwk } from '../crypto/keys.ts'
import { keysFor } from '../did/document.ts'
import { createPeerDid, resolvePeerDid } from '../did/peer.ts'
import type { PrivateKey } from '../didcomm/jwe.ts'
import type { MediatorDb } from '../storage/database.ts'

const StoredJwk = z.object({
  kty: z.literal('OKP'),
  crv: z.enum(['X25519', 'Ed25519']),
  x: z.string(),
  d: z.string(),
})
const StoredKeys = z.record(z.string(), StoredJwk)

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
export async function openIdentities(db: MediatorDb, sealKey: Uint8Array, url: string): Promise<Identities> {
  const isKnown = await db.selectFrom('identity').select('did').where('url', '=', url).executeTakeFirst()
  if (!isKnown) await insertIdentity(db, sealKey, url)
  const keys = new Map<string, PrivateJwk>()
  const senderKeys = new Map<string, PrivateKey>()
  let current = ''
  for (const row of await db.selectFrom('identity').selectAll().execute()) {
    const stored = StoredKeys.parse(JSON.parse(fromUtf8(unseal(sealKey, contextOf(row.did), row.keys))))
    for (const [kid, jwk] of Object.entries(stored)) keys.set(kid, jwk)
    const kid = keysFor(resolvePeerDid(row.did), 'keyAgreement')[0]!.id
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

async function insertIdentity(db: MediatorDb, sealKey: Uint8Array, url: string): Promise<void> {
  const [keyAgreement, authentication] = [generateKey('X25519'), generateKey('Ed25519')]
  const did = createPeerDid({
    keyAgreement: toPublic(keyAgreement),
    authentication: toPublic(authentication),
    // HTTP comes first: wallets post to the first service.
    serviceUri: [url, `${url.replace(/^http/, 'ws')}/ws`],
  })
  const document = resolvePeerDid(did)
  const keys = {
    [keysFor(document, 'keyAgreement')[0]!.id]: keyAgreement,
    [keysFor(document, 'authentication')[0]!.id]: authentication,
  }
  await db
    .insertInto('identity')
    .values({
      did,
      url,
      keys: seal(sealKey, contextOf(did), JSON.stringify(keys)),
      created_at: new Date().toISOString(),
    })
    .execute()
}

function contextOf(did: string): string {
  return `mediator:${did}`
}
