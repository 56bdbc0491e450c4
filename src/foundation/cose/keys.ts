/** COSE_Key (RFC 9052 §7, RFC 9053 §7) from and to JWK. */
import { ECDH } from 'node:crypto'
import { toBase64url, fromBase64 } from '../bytes.ts'
import type { CborMap, CborValue } from '../cbor/index.ts'
import { isPoint } from '../crypto/key-objects.ts'
import type { Curve, PublicJwk } from '../crypto/keys.ts'
import { CoseError, nameOf } from './message.ts'

const label = { kty: 1, crv: -1, x: -2, y: -3 } as const
const keyTypes = { OKP: 1, EC: 2 } as const

/** `id` is the number in COSE, `length` that of a coordinate in bytes, `openssl` the name for ECDH. */
const curves = [
  { crv: 'P-256', kty: 'EC', id: 1, length: 32, openssl: 'prime256v1' },
  { crv: 'P-384', kty: 'EC', id: 2, length: 48, openssl: 'secp384r1' },
  { crv: 'P-521', kty: 'EC', id: 3, length: 66, openssl: 'secp521r1' },
  { crv: 'Ed25519', kty: 'OKP', id: 6, length: 32 },
] as const

/** Curves that are known, to name them, and not supported. */
const unsupported: Readonly<Record<number, string>> = {
  4: 'X25519',
  5: 'X448',
  7: 'Ed448',
  8: 'secp256k1',
  256: 'brainpoolP256r1',
  257: 'brainpoolP320r1',
  258: 'brainpoolP384r1',
  259: 'brainpoolP512r1',
}

/** The COSE_Key of a public key. @throws {CoseError} for another curve */
export function toCoseKey(jwk: PublicJwk): CborMap {
  const curve = curves.find(({ crv }) => crv === jwk.crv)
  if (!curve) throw new CoseError(`a key on ${jwk.crv} is not supported`)
  const key: CborMap = new Map<CborValue, CborValue>([
    [label.kty, keyTypes[curve.kty]],
    [label.crv, curve.id],
    [label.x, fromBase64(jwk.x)],
  ])
  if (jwk.y !== undefined) key.set(label.y, fromBase64(jwk.y))
  return key
}

/**
 * The public key in a COSE_Key. `y` may be the sign bit of a compressed point. Other members are ignored.
 *
 * @throws {CoseError} for another curve, or what is not a point of the curve: "not a key of P-256"
 */
export function fromCoseKey(value: CborValue): PublicJwk {
  if (!(value instanceof Map)) throw new CoseError(`a COSE_Key is a map, not ${nameOf(value)}`)
  const id = value.get(label.crv)
  const curve = curves.find((each) => each.id === id)
  if (!curve) throw new CoseError(`a key on ${nameCurve(id)} is not supported`)
  if (value.get(label.kty) !== keyTypes[curve.kty])
    throw new CoseError(`not a key of ${curve.crv}: kty is ${nameOf(value.get(label.kty))}`)
  const [x, y] = [value.get(label.x), value.get(label.y)]
  const jwk = curve.kty === 'EC' ? pointOf(curve, x, y) : { x: coordinateOf(curve, x) }
  const key = { kty: curve.kty, crv: curve.crv, ...jwk }
  if (!isPoint(key)) throw notOf(curve)
  return key
}

type EcCurve = Extract<(typeof curves)[number], { kty: 'EC' }>

function pointOf(curve: EcCurve, x: CborValue, y: CborValue): { x: string; y: string } {
  if (typeof y !== 'boolean') return { x: coordinateOf(curve, x), y: coordinateOf(curve, y) }
  const compressed = Buffer.concat([Buffer.of(y ? 3 : 2), fromBase64(coordinateOf(curve, x))])
  try {
    const point = ECDH.convertKey(compressed, curve.openssl, undefined, undefined, 'uncompressed') as Buffer
    return {
      x: toBase64url(point.subarray(1, 1 + curve.length)),
      y: toBase64url(point.subarray(1 + curve.length)),
    }
  } catch {
    throw notOf(curve)
  }
}

function coordinateOf(curve: { crv: Curve; length: number }, value: CborValue): string {
  if (!(value instanceof Uint8Array) || value.length !== curve.length) throw notOf(curve)
  return toBase64url(value)
}

function notOf({ crv }: { crv: Curve }): CoseError {
  return new CoseError(`not a key of ${crv}`)
}

function nameCurve(id: CborValue): string {
  return (typeof id === 'number' && unsupported[id]) || `the curve ${nameOf(id)}`
}
