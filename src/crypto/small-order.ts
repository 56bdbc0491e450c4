/** Public keys on Ed25519 for which everybody can sign: the points of small order (RFC 8032 §5.1; the list of libsodium). */
import { fromBase64 } from '../base/bytes.ts'

/** The y coordinates of the eight points, little-endian without the sign bit, also in forms that are not reduced modulo p. */
const ordinates: ReadonlySet<string> = new Set([
  '0000000000000000000000000000000000000000000000000000000000000000',
  '0100000000000000000000000000000000000000000000000000000000000000',
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
  'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
])

/** Whether a key, as JWK, is on Ed25519 and of small order. */
export function hasSmallOrder({ crv, x }: { crv?: string | undefined; x?: string | undefined }): boolean {
  if (crv !== 'Ed25519' || x === undefined) return false
  const bytes = Buffer.from(fromBase64(x))
  if (bytes.length !== 32) return false
  bytes[31]! &= 0x7f
  return ordinates.has(bytes.toString('hex'))
}

/** @throws {TypeError} */
export function assertNotSmallOrder(jwk: Parameters<typeof hasSmallOrder>[0]): void {
  if (hasSmallOrder(jwk)) throw new TypeError('the key has a small order, so that everybody can sign for it')
}
