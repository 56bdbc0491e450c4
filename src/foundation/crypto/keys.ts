/**
 * Keys as JWK (RFC 7517, RFC 8037, RFC 8812), signatures, and key agreement.
 *
 * A key is a plain JWK; `key-objects.ts` caches the OpenSSL objects. Private keys are imported from JWK,
 * because importing DER is ten times slower, and generated as JWK, because exporting a generated key can
 * deadlock Node.js 20.
 */
import {
  createHash,
  diffieHellman,
  generateKeyPairSync,
  sign as signBytes,
  verify as verifyBytes,
} from 'node:crypto'
import { fromBase64, toBase64url } from '../bytes.ts'
import { passingObject, privateObject, publicObject, sharedSecret } from './key-objects.ts'
import * as secp256k1 from './secp256k1.ts'
import { assertNotSmallOrder } from './small-order.ts'

export type Curve = 'Ed25519' | 'X25519' | 'secp256k1' | 'P-256' | 'P-384' | 'P-521'

/** A public key. `x`, and `y` for `EC`, are base64url without padding. */
export type PublicJwk = { kty: 'OKP' | 'EC'; crv: Curve; x: string; y?: string }
/** A private key: the public key and its secret `d`, base64url without padding. */
export type PrivateJwk = PublicJwk & { d: string }

/** The JWS algorithm of a signing curve (RFC 7518, RFC 8037, RFC 8812). */
export type SigningAlgorithm = 'EdDSA' | 'ES256K' | 'ES256'

export function generateKey(curve: Curve): PrivateJwk {
  if (curve === 'secp256k1') return secp256k1.generate()
  // The type declarations lack the JWK encoding of generated keys.
  const options = { publicKeyEncoding: { format: 'jwk' }, privateKeyEncoding: { format: 'jwk' } } as never
  const pair = curve.startsWith('P-')
    ? generateKeyPairSync('ec', { namedCurve: curve, ...(options as object) } as never)
    : generateKeyPairSync(curve.toLowerCase() as 'ed25519', options)
  const { privateKey } = pair as unknown as { privateKey: PrivateJwk }
  return { ...toPublic(privateKey), d: privateKey.d }
}

/**
 * The `OKP` public key of 32 raw bytes.
 *
 * @throws {TypeError} for another length, or an Ed25519 key of small order
 */
export function okpFromBytes(crv: 'Ed25519' | 'X25519', bytes: Uint8Array): PublicJwk {
  if (bytes.length !== 32) throw new TypeError(`an ${crv} public key has 32 bytes, not ${bytes.length}`)
  const jwk = { kty: 'OKP', crv, x: toBase64url(bytes) } as const
  assertNotSmallOrder(jwk)
  return jwk
}

/** The 32 raw bytes of an `OKP` public key. */
export function okpBytes(jwk: PublicJwk): Uint8Array {
  return fromBase64(jwk.x)
}

/** The public half of a key without other members. */
export function toPublic({ kty, crv, x, y }: PublicJwk): PublicJwk {
  return y === undefined ? { kty, crv, x } : { kty, crv, x, y }
}

export function isSameKey(a: PublicJwk, b: PublicJwk): boolean {
  return a.kty === b.kty && a.crv === b.crv && a.x === b.x && a.y === b.y
}

/** The SHA-256 thumbprint of a key (RFC 7638), 32 bytes. */
export function thumbprintOf({ kty, crv, x, y }: PublicJwk): Uint8Array {
  return createHash('sha256').update(JSON.stringify({ crv, kty, x, y })).digest()
}

/** The signature algorithm of a key. @throws {TypeError} for a key agreement key */
export function algorithmOf(jwk: PublicJwk): SigningAlgorithm {
  if (jwk.crv === 'Ed25519') return 'EdDSA'
  if (jwk.crv === 'secp256k1') return 'ES256K'
  if (jwk.crv === 'P-256') return 'ES256'
  throw new TypeError(`a key on ${jwk.crv} does not sign`)
}

/** Signs bytes: EdDSA, or ES256 and ES256K (low s) as 64 bytes r‖s over the SHA-256 of the bytes. */
export function sign(jwk: PrivateJwk, data: Uint8Array): Uint8Array {
  const algorithm = algorithmOf(jwk)
  if (algorithm === 'EdDSA') return signBytes(null, data, privateObject(jwk))
  if (algorithm === 'ES256')
    return signBytes('sha256', data, { key: privateObject(jwk), dsaEncoding: 'ieee-p1363' })
  return secp256k1.sign(jwk, data)
}

/** Verifies a signature of `sign`, also with high s. Returns false for any malformed input. */
export function verify(jwk: PublicJwk, data: Uint8Array, signature: Uint8Array): boolean {
  try {
    const algorithm = algorithmOf(jwk)
    if (algorithm === 'EdDSA')
      return signature.length === 64 && verifyBytes(null, data, publicObject(jwk), signature)
    if (algorithm === 'ES256') {
      const key = { key: publicObject(jwk), dsaEncoding: 'ieee-p1363' } as const
      return signature.length === 64 && verifyBytes('sha256', data, key, signature)
    }
    return secp256k1.verify(jwk, data, signature)
  } catch {
    return false
  }
}

/**
 * The Diffie–Hellman secret of two keys on one curve, which the caller overwrites with zeros. `isPassing`
 * means that their key is ephemeral and not cached.
 *
 * @throws when the curves differ or the point has a low order
 */
export function agree(privateJwk: PrivateJwk, publicJwk: PublicJwk, { isPassing = false } = {}): Uint8Array {
  if (privateJwk.crv !== publicJwk.crv)
    throw new TypeError(`cannot agree between ${privateJwk.crv} and ${publicJwk.crv}`)
  return isPassing
    ? diffieHellman({ privateKey: privateObject(privateJwk), publicKey: passingObject(publicJwk) })
    : sharedSecret(privateJwk, publicJwk)
}
