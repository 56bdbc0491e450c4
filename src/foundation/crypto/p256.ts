/** P-256 keys (secp256r1, prime256v1) from raw bytes. `keys.ts` signs and verifies with them (ES256). */
import { createECDH, ECDH } from 'node:crypto'
import { concat, fromBase64, toBase64url } from '../bytes.ts'
import { isPoint } from './key-objects.ts'
import type { PrivateJwk, PublicJwk } from './keys.ts'

const curve = 'prime256v1'

/** The key pair of a 32-byte secret. @throws when the secret is zero or not below the order of the curve */
export function fromPrivateBytes(d: Uint8Array): PrivateJwk {
  const pair = createECDH(curve)
  pair.setPrivateKey(d)
  return { ...toJwk(pair.getPublicKey()), d: toBase64url(d) }
}

/** The public key of a compressed point of 33 bytes. @throws if it is not on the curve */
export function fromCompressed(bytes: Uint8Array): PublicJwk {
  // OpenSSL also accepts other forms of this length.
  if (bytes.length !== 33 || (bytes[0] !== 2 && bytes[0] !== 3))
    throw new TypeError('a compressed P-256 public key has 33 bytes and begins with 2 or 3')
  return toJwk(ECDH.convertKey(bytes, curve, undefined, undefined, 'uncompressed') as Buffer)
}

/** The public key of an uncompressed point of 65 bytes. @throws {TypeError} if it is not on the curve */
export function fromUncompressed(bytes: Uint8Array): PublicJwk {
  if (bytes.length === 65 && bytes[0] === 4) {
    const jwk = toJwk(Buffer.from(bytes))
    if (isPoint(jwk)) return jwk
  }
  throw new TypeError('not an uncompressed point of P-256, which has 65 bytes and begins with 4')
}

/** The uncompressed point of a public key, 65 bytes. */
export function toUncompressed({ x, y = '' }: PublicJwk): Uint8Array {
  return concat(Uint8Array.of(4), fromBase64(x), fromBase64(y))
}

/** `point` is uncompressed, 65 bytes. */
function toJwk(point: Buffer): PublicJwk {
  return {
    kty: 'EC',
    crv: 'P-256',
    x: toBase64url(point.subarray(1, 33)),
    y: toBase64url(point.subarray(33)),
  }
}
