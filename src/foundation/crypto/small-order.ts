/**
 * Public keys of small order (RFC 7748 §6, RFC 8032 §5.1): everybody can sign for one on Ed25519, and knows
 * the secret that is agreed with one on X25519. The lists are those of libsodium.
 */
import { fromBase64 } from '../bytes.ts'

/** 0, 1, p - 1, and those of p and p + 1, which are not reduced modulo p. */
const onBoth = [
  '0000000000000000000000000000000000000000000000000000000000000000',
  '0100000000000000000000000000000000000000000000000000000000000000',
  'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
]

/** The coordinates of the points, little-endian without the highest bit. */
const coordinates: Readonly<Record<string, ReadonlySet<string>>> = {
  Ed25519: new Set([
    ...onBoth,
    '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
    'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
  ]),
  X25519: new Set([
    ...onBoth,
    'e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800',
    '5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157',
  ]),
}

/** Whether a key, as JWK, is of small order. */
export function hasSmallOrder({ crv, x }: { crv?: string | undefined; x?: string | undefined }): boolean {
  if ((crv !== 'Ed25519' && crv !== 'X25519') || x === undefined) return false
  const bytes = Buffer.from(fromBase64(x))
  if (bytes.length !== 32) return false
  bytes[31]! &= 0x7f
  return coordinates[crv]!.has(bytes.toString('hex'))
}

/** @throws {TypeError} */
export function assertNotSmallOrder(jwk: Parameters<typeof hasSmallOrder>[0]): void {
  if (hasSmallOrder(jwk)) throw new TypeError('the key has a small order, so it protects nothing')
}
