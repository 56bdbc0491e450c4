/**
 * The public key of a verification method, from any registered property (DID Specification Registries; W3C
 * Controlled Identifiers 1.0 §2.2; the signature suites of 2018 to 2020): `publicKeyJwk`,
 * `publicKeyMultibase`, `publicKeyBase58`, `publicKeyHex`.
 */
import { fromHex, fromMultibase } from '../foundation/bytes.ts'
import { type Curve, okpFromBytes, type PublicJwk } from '../foundation/crypto/keys.ts'
import { fromPublicBytes } from '../foundation/crypto/secp256k1.ts'
import { hasSmallOrder } from '../foundation/crypto/small-order.ts'
import type { VerificationMethod } from './document.ts'
import { fromMultikey } from './multikey.ts'

const curves: Readonly<Record<Curve, PublicJwk['kty']>> = {
  Ed25519: 'OKP',
  X25519: 'OKP',
  secp256k1: 'EC',
  'P-256': 'EC',
  'P-384': 'EC',
  'P-521': 'EC',
}

/** The curve of each type of verification method. Keys of other types name their curve. */
const curveOfType: Readonly<Record<string, Curve>> = {
  Ed25519VerificationKey2018: 'Ed25519',
  Ed25519VerificationKey2020: 'Ed25519',
  X25519KeyAgreementKey2019: 'X25519',
  X25519KeyAgreementKey2020: 'X25519',
  EcdsaSecp256k1VerificationKey2019: 'secp256k1',
  EcdsaSecp256r1VerificationKey2019: 'P-256',
}

/** The longest key in base58 or hexadecimal: an uncompressed point on secp256k1. */
const maxLength = 130

/**
 * The key as JWK, unless it is unsupported, malformed, of small order, or on another curve than its type
 * requires.
 */
export function readKey(method: VerificationMethod): PublicJwk | undefined {
  const expected = Object.hasOwn(curveOfType, method.type) ? curveOfType[method.type] : undefined
  try {
    const key = toJwk(method, expected)
    return key && (expected === undefined || key.crv === expected) ? key : undefined
  } catch {
    return undefined
  }
}

function toJwk(method: VerificationMethod, expected: Curve | undefined): PublicJwk | undefined {
  const { publicKeyJwk, publicKeyMultibase, publicKeyBase58, publicKeyHex } = method
  if (publicKeyJwk !== undefined) return isUsable(publicKeyJwk) ? publicKeyJwk : undefined
  if (typeof publicKeyMultibase === 'string') return fromMultikey(publicKeyMultibase)
  if (typeof publicKeyBase58 === 'string' && publicKeyBase58.length <= maxLength)
    return fromRawKey(fromMultibase(`z${publicKeyBase58}`), expected)
  if (typeof publicKeyHex === 'string' && publicKeyHex.length <= maxLength)
    return fromRawKey(fromHex(publicKeyHex), expected)
  return undefined
}

/** A raw key. Its curve follows from the type of the verification method. */
function fromRawKey(bytes: Uint8Array, curve: Curve | undefined): PublicJwk | undefined {
  if (curve === 'Ed25519' || curve === 'X25519') return okpFromBytes(curve, bytes)
  return curve === 'secp256k1' ? fromPublicBytes(bytes) : undefined
}

function isUsable(jwk: NonNullable<VerificationMethod['publicKeyJwk']>): jwk is typeof jwk & PublicJwk {
  const { kty, crv, x, y } = jwk
  if (crv === undefined || x === undefined || !Object.hasOwn(curves, crv)) return false
  return kty === curves[crv as Curve] && (kty === 'OKP' || y !== undefined) && !hasSmallOrder(jwk)
}
