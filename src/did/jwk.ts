/** did:jwk (its own specification): a DID that is one public key as JWK; the key's id is `<did>#0`. */
import { createPublicKey } from 'node:crypto'
import { z } from 'zod'
import { fromBase64, fromUtf8, toBase64url } from '../base/bytes.ts'
import { Problem } from '../base/problem.ts'
import type { PublicJwk } from '../crypto/keys.ts'
import type { DidDocument } from './document.ts'
import { didContext, everyPurpose, jsonWebKey, jws2020Context } from './json-web-key.ts'
import { reasonOf } from '../base/reason.ts'

/** A key on a curve this agent uses; a private member makes the whole DID invalid. */
const KeyOfDid = z.looseObject({
  kty: z.enum(['OKP', 'EC']),
  crv: z.enum(['Ed25519', 'X25519', 'secp256k1', 'P-256', 'P-384', 'P-521']),
  x: z.string().max(100),
  y: z.string().max(100).optional(),
  d: z.never('is private and must not be there').optional(),
  use: z.string().optional(),
})

/** The did:jwk of a public key. */
export function createJwkDid({ kty, crv, x, y }: PublicJwk): string {
  return `did:jwk:${toBase64url(JSON.stringify({ kty, crv, x, y }))}`
}

/**
 * Resolves a did:jwk: `use: "sig"` leaves out agreement, `use: "enc"` leaves nothing else.
 *
 * @throws {Problem} `error:DIDResolution:invalidDid` for a malformed key or one of a type that is not known here.
 */
export function resolveJwkDid(did: string): DidDocument {
  try {
    const text = /^did:jwk:([A-Za-z0-9_-]{1,2000})$/.exec(did)?.[1]
    if (!text) throw new TypeError('its id is no base64url')
    const { use, ...jwk } = KeyOfDid.parse(JSON.parse(fromUtf8(fromBase64(text))))
    createPublicKey({
      key: { kty: jwk.kty, crv: jwk.crv, x: jwk.x, ...(jwk.y !== undefined && { y: jwk.y }) },
      format: 'jwk',
    })
    const method = jsonWebKey(did, '0', jwk as PublicJwk)
    const signing = use === 'enc' || jwk.crv === 'X25519' ? undefined : method.id
    const agreement =
      use === 'sig' || jwk.crv === 'Ed25519' || jwk.crv === 'secp256k1' ? undefined : method.id
    return {
      '@context': [didContext, jws2020Context],
      id: did,
      verificationMethod: [method],
      ...everyPurpose({ signing, agreement }),
    }
  } catch (error) {
    throw new Problem(
      'error:DIDResolution:invalidDid',
      `${did.slice(0, 100)} is not a valid did:jwk: ${reasonOf(error)}`,
    )
  }
}
