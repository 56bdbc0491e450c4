/** did:key (W3C CCG, did:key Method): a DID that is one public key on Ed25519, X25519, secp256k1 or P-256. */
import { ed25519 } from '@noble/curves/ed25519.js'
import { reasonOf } from '../foundation/reason.ts'
import { okpBytes, okpFromBytes, type PublicJwk } from '../foundation/crypto/keys.ts'
import { didContext, type DidDocument, jsonWebKey, jws2020Context, relationshipsOf } from './document.ts'
import { invalidDid } from './resolution.ts'
import { fromMultikey, toMultikey } from './multikey.ts'

/** The did:key of a public key. @throws {TypeError} for a curve that Multikey is not written for here */
export function createKeyDid(jwk: PublicJwk): string {
  return `did:key:${toMultikey(jwk)}`
}

/** Resolves a did:key. The key's id is `<did>#<multibase value>`. @throws {Problem} `invalidDid` */
export function resolveKeyDid(did: string): DidDocument {
  try {
    const text = /^did:key:(z[1-9A-HJ-NP-Za-km-z]+)$/.exec(did)?.[1]
    if (!text) throw new TypeError('its id is not base58btc multibase')
    return resolveMultikey(did, text)
  } catch (error) {
    throw invalidDid('key')(did, reasonOf(error))
  }
}

/**
 * The document of a DID that is one key, given as Multikey. The key serves every purpose that its curve
 * allows. An Ed25519 key comes with the X25519 key derived from it for key agreement (did:key §3.1.3).
 *
 * @throws {Error} when the key is malformed.
 */
export function resolveMultikey(did: string, text: string): DidDocument {
  const jwk = fromMultikey(text)
  const key = jsonWebKey(did, text, jwk)
  const methods = [key]
  let agreement = jwk.crv === 'X25519' || jwk.crv === 'P-256' ? key.id : undefined
  if (jwk.crv === 'Ed25519') {
    const derived = okpFromBytes('X25519', ed25519.utils.toMontgomery(okpBytes(jwk)))
    const method = jsonWebKey(did, toMultikey(derived), derived)
    methods.push(method)
    agreement = method.id
  }
  const signing = jwk.crv === 'X25519' ? undefined : key.id
  return {
    '@context': [didContext, jws2020Context],
    id: did,
    verificationMethod: methods,
    ...relationshipsOf({ signing, agreement }),
  }
}
