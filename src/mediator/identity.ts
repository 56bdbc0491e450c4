/**
 * The mediator's own DIDs: did:peer:2 with an HTTP and a WebSocket service (wire.md 7.2), keys sealed on disk.
 *
 * A did:peer carries its address. When that changes, a new DID is made; wallets that know the mediator by an earlier one
 * are served under it as before.
 */
import { z } from 'zod'
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
  /** The DID whose services name the present address. */
  readonly did: string
  owns: (did: string) => boolean
  /** The private key of a key id, if it is one of ours. */
  findKey: (kid: string) => PrivateKey | undefined
  /** The key by which one of our DIDs encrypts. */
  sendingKey: (did: string) => PrivateKey
}

/**
 * Reads the identities from the mediator's file, and makes one for this address if there is none.
 *
 * @param url the public base URL of the DIDComm port, without a slash at the end.
 * @throws when the file was sealed with another key.
 */
export async function openIdentities(db: MediatorDb, sealKey: Uint8Array, url: string): Promise<Identities> {
  const isKnown = await db.selectFrom('identity').select('did').where('url', '=', url).executeTakeFirst()
  if (!isKnown) await insertIdentity(db, sealKey, url)
  const keys = new Map<string, PrivateJwk>()
  const sendingKeys = new Map<string, PrivateKey>()
  let current = ''
  for (const row of await db.selectFrom('identity').selectAll().execute()) {
    const stored = StoredKeys.parse(JSON.parse(fromUtf8(unseal(sealKey, contextOf(row.did), row.keys))))
    for (const [kid, jwk] of Object.entries(stored)) keys.set(kid, jwk)
    const kid = keysFor(resolvePeerDid(row.did), 'keyAgreement')[0]!.id
    sendingKeys.set(row.did, { kid, privateJwk: stored[kid]! })
    if (row.url === url) current = row.did
  }
  return {
    did: current,
    owns: (did) => sendingKeys.has(did),
    findKey(kid) {
      const privateJwk = keys.get(kid)
      return privateJwk && { kid, privateJwk }
    },
    sendingKey: (did) => sendingKeys.get(did)!,
  }
}

async function insertIdentity(db: MediatorDb, sealKey: Uint8Array, url: string): Promise<void> {
  const [keyAgreement, authentication] = [generateKey('X25519'), generateKey('Ed25519')]
  const did = createPeerDid({
    keyAgreement: toPublic(keyAgreement),
    authentication: toPublic(authentication),
    // The HTTP one goes first: wallets post to the first service they find.
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
