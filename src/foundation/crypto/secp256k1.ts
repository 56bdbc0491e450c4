/**
 * ECDSA on secp256k1 with SHA-256 (ES256K, RFC 8812).
 *
 * libsecp256k1 signs and verifies seven times faster than OpenSSL. On platforms without its binary, OpenSSL
 * replaces it; the JavaScript fallback of its package is never loaded.
 */
import {
  createPrivateKey,
  createPublicKey,
  ECDH,
  hash,
  randomBytes,
  sign as signBytes,
  verify as verifyBytes,
} from 'node:crypto'
import { createRequire } from 'node:module'
import { secp256k1 as curve } from '@noble/curves/secp256k1.js'
import { concat, fromBase64, fromHex, toBase64url } from '../bytes.ts'
import type { PrivateJwk, PublicJwk } from './keys.ts'

/** Both implementations. Keys are raw: private 32 bytes, public 65 bytes (uncompressed). */
type Ecdsa = {
  sign(digest: Uint8Array, privateKey: Uint8Array, jwk: PrivateJwk, data: Uint8Array): Uint8Array
  verify(
    digest: Uint8Array,
    signature: Uint8Array,
    publicKey: Uint8Array,
    jwk: PublicJwk,
    data: Uint8Array,
  ): boolean
}

type Bindings = {
  ecdsaSign(digest: Uint8Array, privateKey: Uint8Array): { signature: Uint8Array }
  ecdsaVerify(signature: Uint8Array, digest: Uint8Array, publicKey: Uint8Array): boolean
  signatureNormalize(signature: Uint8Array): Uint8Array
}

/** libsecp256k1, or undefined on a platform without its binary. */
export function native(): Ecdsa | undefined {
  let bindings: Bindings
  try {
    bindings = createRequire(import.meta.url)('secp256k1/bindings') as Bindings
  } catch {
    return undefined
  }
  return {
    sign: (digest, privateKey) => bindings.ecdsaSign(digest, privateKey).signature,
    verify: (digest, signature, publicKey) => {
      // libsecp256k1 refuses high s, which peers may send. Half of the order begins with 0x7fff, so that a
      // lower first word is low.
      const low = signature[32]! < 0x7f ? signature : bindings.signatureNormalize(Uint8Array.from(signature))
      return bindings.ecdsaVerify(low, digest, publicKey)
    },
  }
}

/** OpenSSL. Half of its signatures have high s, which is replaced by low s. */
export const openssl: Ecdsa = {
  sign(_digest, _privateKey, jwk, data) {
    const key = createPrivateKey({
      key: { kty: 'EC', crv: 'secp256k1', x: jwk.x, y: jwk.y!, d: jwk.d },
      format: 'jwk',
    })
    const signature = curve.Signature.fromBytes(signBytes('sha256', data, { key, dsaEncoding: 'ieee-p1363' }))
    return signature.hasHighS()
      ? new curve.Signature(signature.r, curve.Point.Fn.neg(signature.s)).toBytes('compact')
      : signature.toBytes('compact')
  },
  verify(_digest, signature, _publicKey, jwk, data) {
    const key = createPublicKey({ key: { kty: 'EC', crv: 'secp256k1', x: jwk.x, y: jwk.y! }, format: 'jwk' })
    return verifyBytes('sha256', data, { key, dsaEncoding: 'ieee-p1363' }, signature)
  },
}

let chosen: Ecdsa | undefined

/** Loaded for the first signature, since its tables take time and memory. */
const ecdsa = () => (chosen ??= native() ?? openssl)

export function generate(): PrivateJwk {
  for (;;) {
    const d = randomBytes(32)
    if (!curve.utils.isValidSecretKey(d)) continue
    const jwk = fromPrivateBytes(d)
    d.fill(0)
    return jwk
  }
}

/** Signs data: 64 bytes r‖s with low s. */
export function sign(jwk: PrivateJwk, data: Uint8Array): Uint8Array {
  const d = fixed32(jwk.d)
  try {
    return ecdsa().sign(sha256(data), d, jwk, data)
  } finally {
    d.fill(0)
  }
}

/** Verifies a signature of 64 bytes r‖s with low or high s. @throws for a point that is not on the curve */
export function verify(jwk: PublicJwk, data: Uint8Array, signature: Uint8Array): boolean {
  return signature.length === 64 && ecdsa().verify(sha256(data), signature, uncompressed(jwk), jwk, data)
}

/** The key pair of a 32-byte secret. */
export function fromPrivateBytes(d: Uint8Array): PrivateJwk {
  return { ...fromPublicBytes(curve.getPublicKey(d, false)), d: toBase64url(d) }
}

/** The public key of a point (33 bytes compressed, 65 uncompressed). @throws if it is not on the curve */
export function fromPublicBytes(bytes: Uint8Array): PublicJwk {
  const isPoint =
    bytes.length === 65 ? bytes[0] === 4 : bytes.length === 33 && (bytes[0] === 2 || bytes[0] === 3)
  if (!isPoint) throw new TypeError('a public key on secp256k1 is a point of 33 or 65 bytes')
  const point = uncompress(bytes)
  return {
    kty: 'EC',
    crv: 'secp256k1',
    x: toBase64url(point.subarray(1, 33)),
    y: toBase64url(point.subarray(33)),
  }
}

/** OpenSSL computes y three times as fast as @noble/curves. It would also accept the hybrid form. */
function uncompress(bytes: Uint8Array): Buffer {
  try {
    return ECDH.convertKey(bytes, 'secp256k1', undefined, undefined, 'uncompressed') as Buffer
  } catch (error) {
    throw new TypeError('there is no such point on secp256k1', { cause: error })
  }
}

/** The compressed point of a public key on secp256k1 or P-256, 33 bytes. */
export function compressed(jwk: PublicJwk): Uint8Array {
  return concat(Uint8Array.of(fixed32(jwk.y!)[31]! % 2 === 0 ? 2 : 3), fixed32(jwk.x))
}

/** The DER form of a signature, as in DID operations. */
export function toDer(signature: Uint8Array): Uint8Array {
  return curve.Signature.fromBytes(signature).toBytes('der')
}

/** The 64 bytes r‖s of a DER signature. @throws when it is not DER */
export function fromDer(der: Uint8Array): Uint8Array {
  return curve.Signature.fromBytes(der, 'der').toBytes('compact')
}

/** Points by key object, such as those of a cached document, as long as the coordinates are unchanged. */
const points = new WeakMap<PublicJwk, { x: string; y: string | undefined; point: Uint8Array }>()

function uncompressed(jwk: PublicJwk): Uint8Array {
  const { x, y } = jwk
  const known = points.get(jwk)
  if (known && known.x === x && known.y === y) return known.point
  const point = concat(Uint8Array.of(4), fixed32(x), fixed32(y!))
  points.set(jwk, { x, y, point })
  return point
}

/** Coordinates have 32 bytes. Some writers drop leading zeros. */
function fixed32(text: string): Uint8Array {
  const bytes = fromBase64(text)
  return bytes.length === 32 ? bytes : fromHex(Buffer.from(bytes).toString('hex').padStart(64, '0'))
}

function sha256(data: Uint8Array): Uint8Array {
  return hash('sha256', data, 'buffer')
}
