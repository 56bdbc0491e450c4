/**
 * The public key of a verification method, in whichever of the registered properties its document has it (DID Specification Registries;
 * Controlled Identifiers 1.0 §2.2; the suites of 2018 to 2020): `publicKeyJwk`, `publicKeyMultibase`, `publicKeyBase58`, `publicKeyHex`.
 */
import { fromHex, fromMultibase } from '../base/bytes.ts'
import { type Curve, okpFromBytes, type PublicJwk } from '../crypto/keys.ts'
import { fromPublicBytes } from '../crypto/secp256k1.ts'
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

/** What a suite's keys are on; of a type that is not here (`Multikey`, `JsonWebKey2020`), the key itself says it. */
const curveOfType: Readonly<Record<string, Curve>> = {
  Ed25519VerificationKey2018: 'Ed25519',
  Ed25519VerificationKey2020: 'Ed25519',
  X25519KeyAgreementKey2019: 'X25519',
  X25519KeyAgreementKey2020: 'X25519',
  EcdsaSecp256k1VerificationKey2019: 'secp256k1',
  EcdsaSecp256r1VerificationKey2019: 'P-256',
}

/** The longest key in base58 or hexadecimal: a point of secp256k1 that is not compressed. */
const longest = 130

/** The key as JWK; `undefined` for a key that cannot be used here: of another kind, malformed, or on another curve than its type says. */
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
  if (typeof publicKeyBase58 === 'string' && publicKeyBase58.length <= longest)
    return fromBare(fromMultibase(`z${publicKeyBase58}`), expected)
  if (typeof publicKeyHex === 'string' && publicKeyHex.length <= longest)
    return fromBare(fromHex(publicKeyHex), expected)
  return undefined
}

/** A key without a word of what it is: its type has to say that. */
function fromBare(bytes: Uint8Array, curve: Curve | undefined): PublicJwk | undefined {
  if (curve === 'Ed25519' || curve === 'X25519') return okpFromBytes(curve, bytes)
  return curve === 'secp256k1' ? fromPublicBytes(bytes) : undefined
}

function isUsable(jwk: NonNullable<VerificationMethod['publicKeyJwk']>): jwk is typeof jwk & PublicJwk {
  const { kty, crv, x, y } = jwk
  if (crv === undefined || x === undefined || !Object.hasOwn(curves, crv)) return false
  return kty === curves[crv as Curve] && (kty === 'OKP' || y !== undefined)
}
