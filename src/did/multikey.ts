/**
 * Multikey (W3C Controlled Identifiers 1.0 §2.2.2): `z` and base58btc of a multicodec prefix and the raw or
 * compressed public key.
 */
import { concat, fromMultibase, toMultibase, toHex } from '../foundation/bytes.ts'
import { okpBytes, okpFromBytes, type PublicJwk } from '../foundation/crypto/keys.ts'
import { fromCompressed } from '../foundation/crypto/p256.ts'
import { compressed, fromPublicBytes } from '../foundation/crypto/secp256k1.ts'

/** Multicodec prefixes as varint bytes. */
const prefixes = {
  X25519: [0xec, 0x01],
  Ed25519: [0xed, 0x01],
  secp256k1: [0xe7, 0x01],
  'P-256': [0x80, 0x24],
} as const

/** Encodes a public key on one of these curves. @throws {TypeError} for another curve or length */
export function toMultikey(jwk: PublicJwk): string {
  if (jwk.crv === 'secp256k1' || jwk.crv === 'P-256')
    return toMultibase(concat(Uint8Array.from(prefixes[jwk.crv]), compressed(jwk)))
  if (jwk.crv !== 'X25519' && jwk.crv !== 'Ed25519')
    throw new TypeError(`a key on ${jwk.crv} is not written as Multikey here`)
  const key = okpBytes(jwk)
  if (key.length !== 32) throw new TypeError(`an ${jwk.crv} public key has 32 bytes, not ${key.length}`)
  return toMultibase(concat(Uint8Array.from(prefixes[jwk.crv]), key))
}

/** Decodes a public key on X25519, Ed25519, secp256k1 or P-256. @throws for malformed text or points */
export function fromMultikey(text: string): PublicJwk {
  // The longest key takes 50 characters. Decoding base58 takes quadratic time.
  if (text.length > 60) throw new TypeError(`it has ${text.length} characters, more than any key`)
  const bytes = fromMultibase(text)
  const [first, second] = bytes
  const key = bytes.subarray(2)
  const crv = (Object.keys(prefixes) as (keyof typeof prefixes)[]).find(
    (name) => prefixes[name][0] === first && prefixes[name][1] === second,
  )
  if (crv === undefined)
    throw new TypeError(
      `its prefix 0x${toHex(bytes.subarray(0, 2))} is none of ${Object.keys(prefixes).join(', ')}`,
    )
  if (crv === 'X25519' || crv === 'Ed25519') return okpFromBytes(crv, key)
  if (key.length !== 33) throw new TypeError(`a compressed ${crv} public key has 33 bytes, not ${key.length}`)
  return crv === 'secp256k1' ? fromPublicBytes(key) : fromCompressed(key)
}
