/**
 * did:peer, the method of pairwise DIDs (Peer DID Method Specification; wire.md 11.1, 11.2): numalgo 2 made and
 * resolved, 0 and 4 resolved. A peer DID carries its whole document, so resolving one reads nothing but the DID.
 */
import { toBase64url } from '../base/bytes.ts'
import { Problem } from '../base/problem.ts'
import type { PublicJwk } from '../crypto/keys.ts'
import type { DidDocument } from './document.ts'
import { resolveKeyText } from './key.ts'
import { toMultikey } from './multikey.ts'
import { resolvePeer2 } from './peer-2.ts'
import { resolvePeer4 } from './peer-4.ts'
import { reasonOf } from '../base/reason.ts'

/** Longer DIDs are refused: base58 costs the square of its length, and no real document needs more. */
const maximumLength = 4_000

/**
 * Makes a did:peer:2 in the real agent's byte form: agreement key `#key-1`, authentication key `#key-2`, a DIDComm v2 service
 * for each URI, in that order: peers take the first one.
 *
 * @throws {TypeError} when a key is on another curve than X25519 and Ed25519, or when the service URI cannot be written without `-` or `_`
 * in the service's base64url, which real agents refuse to resolve (wire.md pitfall 30).
 * @throws {Problem} `error:DIDResolution:invalidDid` when the URIs make the DID too long to be resolved.
 */
export function createPeerDid(made: {
  keyAgreement: PublicJwk
  authentication: PublicJwk
  serviceUri: string | readonly string[]
}): string {
  const { keyAgreement, authentication, serviceUri } = made
  if (keyAgreement.crv !== 'X25519')
    throw new TypeError(`the agreement key of a peer DID is on X25519, not ${keyAgreement.crv}`)
  if (authentication.crv !== 'Ed25519')
    throw new TypeError(`the authentication key of a peer DID is on Ed25519, not ${authentication.crv}`)
  const services = [serviceUri].flat().map((uri) => `.S${toServiceText(uri)}`)
  const did = `did:peer:2.E${toMultikey(keyAgreement)}.V${toMultikey(authentication)}${services.join('')}`
  if (did.length > maximumLength) throw invalid(did, `it is longer than ${maximumLength} characters`)
  return did
}

/** The ids of the keys of a DID that `createPeerDid` has made, as its document has them. */
export function peerKeyIds(did: string): { keyAgreement: string; authentication: string } {
  return { keyAgreement: `${did}#key-1`, authentication: `${did}#key-2` }
}

function toServiceText(uri: string): string {
  const service = toBase64url(JSON.stringify({ t: 'dm', s: { uri, r: [], a: ['didcomm/v2'] } }))
  if (!/[-_]/.test(service)) return service
  throw new TypeError(
    `the service URI ${uri} cannot stand in a peer DID: remove characters outside ASCII, and \`~\`, \`?\` and \`>\``,
  )
}

/**
 * Resolves a did:peer of numalgo 0, 2 or 4 to its document: keys as `JsonWebKey2020`, ids absolute.
 *
 * @throws {Problem} `error:DIDResolution:invalidDid` for a malformed DID, `…:methodNotSupported` for numalgo 1 and 3, `…:notFound` for
 * the short form of numalgo 4, which says nothing by itself.
 */
export function resolvePeerDid(did: string): DidDocument {
  if (did.length > maximumLength) throw invalid(did, `it is longer than ${maximumLength} characters`)
  const numalgo = /^did:peer:([0-9])/.exec(did)?.[1]
  if (numalgo === '1' || numalgo === '3') {
    // Both are hashes of something that only an earlier message could have shown.
    if (!/^did:peer:[13]z[1-9A-HJ-NP-Za-km-z]{46,47}$/.test(did))
      throw invalid(did, `numalgo ${numalgo} is followed by a hash in base58btc`)
    throw new Problem(
      'error:DIDResolution:methodNotSupported',
      `did:peer numalgo ${numalgo} is not supported; use numalgo 2`,
    )
  }
  try {
    if (numalgo === '0') return resolveKeyText(did, did.slice('did:peer:0'.length))
    if (numalgo === '2') return resolvePeer2(did)
    if (numalgo === '4') return resolvePeer4(did)
  } catch (error) {
    if (error instanceof Problem) throw error
    throw invalid(did, reasonOf(error))
  }
  throw invalid(did, 'its numalgo is none of 0 to 4')
}

function invalid(did: string, reason: string): Problem {
  return new Problem(
    'error:DIDResolution:invalidDid',
    `${did.slice(0, 100)} is not a valid did:peer: ${reason}`,
  )
}
