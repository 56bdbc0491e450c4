/** did:jwk (did:jwk Method Specification): a DID that is one public key as a JWK. The key's id is `<did>#0`. */
import * as z from 'zod'
import { fromBase64, fromUtf8, toBase64url } from '../foundation/bytes.ts'
import { reasonOf } from '../foundation/reason.ts'
import { passingObject } from '../foundation/crypto/key-objects.ts'
import type { PublicJwk } from '../foundation/crypto/keys.ts'
import {
  canonicalDid,
  didContext,
  type DidDocument,
  jsonWebKey,
  jws2020Context,
  keysFor,
  relationshipsOf,
} from './document.ts'
import { invalidDid } from './resolution.ts'

/** A key on a supported curve. A private member makes the whole DID invalid. */
const DidJwk = z.looseObject({
  kty: z.enum(['OKP', 'EC']),
  crv: z.enum(['Ed25519', 'X25519', 'secp256k1', 'P-256', 'P-384', 'P-521']),
  x: z.string().max(100),
  y: z.string().max(100).optional(),
  d: z.never('is private and must not be there').optional(),
  use: z.string().optional(),
})

export function createJwkDid({ kty, crv, x, y }: PublicJwk): string {
  return `did:jwk:${toBase64url(JSON.stringify({ kty, crv, x, y }))}`
}

/**
 * Resolves a did:jwk. With `use: "sig"` the document has no key agreement, with `use: "enc"` it has only
 * that.
 *
 * @throws {Problem} `error:DIDResolution:invalidDid` for a malformed key or an unsupported key type.
 */
export function resolveJwkDid(did: string): DidDocument {
  try {
    const text = /^did:jwk:([A-Za-z0-9_-]{1,2000})$/.exec(did)?.[1]
    if (!text) throw new TypeError('its id is not base64url')
    const { use, ...jwk } = DidJwk.parse(JSON.parse(fromUtf8(fromBase64(text))))
    passingObject(jwk as PublicJwk)
    const method = jsonWebKey(did, '0', jwk as PublicJwk)
    const canSign = use !== 'enc' && jwk.crv !== 'X25519'
    const canAgree = use !== 'sig' && jwk.crv !== 'Ed25519' && jwk.crv !== 'secp256k1'
    return {
      '@context': [didContext, jws2020Context],
      id: did,
      verificationMethod: [method],
      ...relationshipsOf({
        signing: canSign ? method.id : undefined,
        agreement: canAgree ? method.id : undefined,
      }),
    }
  } catch (error) {
    throw invalidDid('jwk')(did, reasonOf(error))
  }
}

/**
 * The long and the short form of a did:prism are the same DID, and so is each did:jwk of a key. Both are
 * valid.
 */
export function isSameDid(one: string, other: string): boolean {
  return one === other || normal(one) === normal(other)
}

function normal(did: string): string {
  const [key] = did.startsWith('did:jwk:') ? keysFor(resolveJwkDid(did), 'authentication') : []
  return key ? createJwkDid(key.publicKeyJwk) : canonicalDid(did)
}
