/**
 * did:peer (Peer DID Method Specification): creates numalgo 2, resolves numalgo 0, 2 and 4. A peer DID
 * carries its whole document, so resolution needs no I/O.
 */
import * as z from 'zod'
import { toBase64url } from '../foundation/bytes.ts'
import { Problem } from '../foundation/problem.ts'
import { reasonOf } from '../foundation/reason.ts'
import { generateKey, toPublic, type PrivateJwk, type PublicJwk } from '../foundation/crypto/keys.ts'
import type { DidDocument, Resolve } from './document.ts'
import { resolveMultikey } from './key.ts'
import { toMultikey } from './multikey.ts'
import { isPeerDid } from '../definitions/did-names.ts'
import { invalidDid } from './resolution.ts'
import { resolvePeer2 } from './peer-2.ts'
import { resolvePeer4 } from './peer-4.ts'

const invalid = invalidDid('peer')

/** Limit on the length of a DID, because decoding base58 takes quadratic time. */
const maxLength = 4_000

/**
 * Creates a did:peer:2 with the members and order of the Cloud Agent's: the agreement key is `#key-1`, the
 * authentication key `#key-2`. Each URI becomes a DIDComm v2 service. Peers use the first one.
 *
 * @throws {TypeError} when a key is on another curve than X25519 and Ed25519, or when the base64url of a
 * service contains `-` or `_`, which the Cloud Agent cannot resolve.
 * @throws {Problem} `error:DIDResolution:invalidDid` when the DID is longer than `maxLength`.
 */
export function createPeerDid(content: {
  keyAgreement: PublicJwk
  authentication: PublicJwk
  serviceUri: string | readonly string[]
}): string {
  const { keyAgreement, authentication, serviceUri } = content
  if (keyAgreement.crv !== 'X25519')
    throw new TypeError(`the agreement key of a peer DID is on X25519, not ${keyAgreement.crv}`)
  if (authentication.crv !== 'Ed25519')
    throw new TypeError(`the authentication key of a peer DID is on Ed25519, not ${authentication.crv}`)
  const services = [serviceUri].flat().map((uri) => `.S${encodeService(uri)}`)
  const did = `did:peer:2.E${toMultikey(keyAgreement)}.V${toMultikey(authentication)}${services.join('')}`
  if (did.length > maxLength) throw invalid(did, `it is longer than ${maxLength} characters`)
  return did
}

/** Generates a did:peer:2 and its private keys, by key id. */
export function generatePeerDid(serviceUri: string | readonly string[]): {
  did: string
  keys: Record<string, PrivateJwk>
} {
  const [keyAgreement, authentication] = [generateKey('X25519'), generateKey('Ed25519')]
  const did = createPeerDid({
    keyAgreement: toPublic(keyAgreement),
    authentication: toPublic(authentication),
    serviceUri,
  })
  const ids = peerKeyIds(did)
  return { did, keys: { [ids.keyAgreement]: keyAgreement, [ids.authentication]: authentication } }
}

/** A random private key, as it is stored. */
export const StoredOkp = z.object({
  kty: z.literal('OKP'),
  crv: z.enum(['X25519', 'Ed25519']),
  x: z.string(),
  d: z.string(),
})

/** The private keys of a did:peer, as they are stored. */
export const PeerKeys = z.record(z.string(), StoredOkp)

/** The key ids in the document of a DID that `createPeerDid` created. */
export function peerKeyIds(did: string): { keyAgreement: string; authentication: string } {
  return { keyAgreement: `${did}#key-1`, authentication: `${did}#key-2` }
}

function encodeService(uri: string): string {
  const service = toBase64url(JSON.stringify({ t: 'dm', s: { uri, r: [], a: ['didcomm/v2'] } }))
  if (!/[-_]/.test(service)) return service
  throw new TypeError(
    `the service URI ${uri} is not possible in a peer DID: remove characters outside ASCII, and \`~\`, \`?\` and \`>\``,
  )
}

/**
 * Resolves a did:peer of numalgo 0, 2 or 4. Keys are `JsonWebKey2020`, ids are absolute.
 *
 * @throws {Problem} `error:DIDResolution:invalidDid` for a malformed DID, `…:methodNotSupported` for numalgo
 * 1 and 3, `…:notFound` for the short form of numalgo 4, which holds no document.
 */
export function resolvePeerDid(did: string): DidDocument {
  if (did.length > maxLength) throw invalid(did, `it is longer than ${maxLength} characters`)
  const numalgo = /^did:peer:([0-9])/.exec(did)?.[1]
  if (numalgo === '1' || numalgo === '3') {
    // Both are hashes of a document that the DID does not contain.
    if (!/^did:peer:[13]z[1-9A-HJ-NP-Za-km-z]{46,47}$/.test(did))
      throw invalid(did, `numalgo ${numalgo} is followed by a hash in base58btc`)
    throw new Problem(
      'error:DIDResolution:methodNotSupported',
      `did:peer numalgo ${numalgo} is not supported; use numalgo 2`,
    )
  }
  try {
    if (numalgo === '0') return resolveMultikey(did, did.slice('did:peer:0'.length))
    if (numalgo === '2') return resolvePeer2(did)
    if (numalgo === '4') return resolvePeer4(did)
  } catch (error) {
    if (error instanceof Problem) throw error
    throw invalid(did, reasonOf(error))
  }
  throw invalid(did, `its numalgo ${numalgo ?? ''} is none of 0 to 4`)
}

/** Limits a resolver to did:peer, so that a peer cannot cause requests to a ledger or web server. */
export function peerDidsOnly(resolve: Resolve): Resolve {
  return async (did) => {
    if (isPeerDid(did)) return resolve(did)
    throw new Problem(
      'error:DIDResolution:methodNotSupported',
      `${did.slice(0, 100)} cannot be used for DIDComm messages, a did:peer can`,
    )
  }
}
