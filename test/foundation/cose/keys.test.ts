/** COSE_Key from and to JWK, and keys that are refused. */
import { generateKeyPairSync } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { fromBase64, fromHex, toHex } from '../../../src/foundation/bytes.ts'
import { type CborMap, type CborValue, decodeCbor, encodeCbor } from '../../../src/foundation/cbor/index.ts'
import { fromCoseKey, toCoseKey } from '../../../src/foundation/cose/index.ts'
import { generateKey, type PublicJwk, toPublic } from '../../../src/foundation/crypto/keys.ts'
import { readMdoc } from '../../support/mdoc.ts'

const curves = ['P-256', 'P-384', 'P-521'] as const
const newKey = (namedCurve: (typeof curves)[number]) =>
  generateKeyPairSync('ec', { namedCurve }).publicKey.export({ format: 'jwk' }) as PublicJwk
const p256 = newKey('P-256')
const x = fromBase64(p256.x)
const y = fromBase64(p256.y!)

test('a key of another implementation is read, and written as it was', () => {
  const { definitions } = readMdoc('isomdl') as { definitions: Record<'cose_key/ec_p256.cbor', string> }
  const hex = definitions['cose_key/ec_p256.cbor']
  expect(toHex(encodeCbor(toCoseKey(fromCoseKey(decodeCbor(fromHex(hex))))))).toBe(hex)
})

test.each([...curves.map(newKey), toPublic(generateKey('Ed25519'))])(
  'a key on $crv is written and read',
  (key) => {
    expect(fromCoseKey(decodeCbor(encodeCbor(toCoseKey(key))))).toEqual(key)
  },
)

test.each(curves)('a compressed key on %s is read', (crv) => {
  // Half of all keys have an even y.
  for (let round = 0; round < 8; round++) {
    const key = newKey(crv)
    const isOdd = (fromBase64(key.y!).at(-1)! & 1) === 1
    expect(fromCoseKey(toCoseKey(key).set(-3, isOdd))).toEqual(key)
  }
})

describe('a key is refused', () => {
  const changed = (...entries: [CborValue, CborValue][]): CborMap => new Map([...toCoseKey(p256), ...entries])
  const okp = (point: string): CborMap =>
    new Map<CborValue, CborValue>([
      [1, 1],
      [-1, 6],
      [-2, fromHex(point)],
    ])
  const withZero = (bytes: Uint8Array) => Uint8Array.of(0, ...bytes)
  test.each<[string, CborValue, string]>([
    ['that is no map', 'x', 'a COSE_Key is a map, not "x"'],
    ['of zeros', changed([-2, new Uint8Array(32)], [-3, new Uint8Array(32)]), 'not a key of P-256'],
    ['that is not on its curve', changed([-3, x], [-2, y]), 'not a key of P-256'],
    ['of another curve', changed([-1, 2]), 'not a key of P-384'],
    ['with a longer x', changed([-2, withZero(x)]), 'not a key of P-256'],
    ['with a shorter x', changed([-2, x.subarray(1)]), 'not a key of P-256'],
    ['with a text as x', changed([-2, 'x']), 'not a key of P-256'],
    ['without y', new Map([...toCoseKey(p256)].filter(([label]) => label !== -3)), 'not a key of P-256'],
    [
      'compressed, not on its curve',
      changed([-2, new Uint8Array(32).fill(255)], [-3, true]),
      'not a key of P-256',
    ],
    ['of another type', changed([1, 1]), 'not a key of P-256: kty is 1'],
    ['on brainpool', changed([-1, 256]), 'a key on brainpoolP256r1 is not supported'],
    ['on Ed448', changed([-1, 7]), 'a key on Ed448 is not supported'],
    ['on secp256k1', changed([-1, 8]), 'a key on secp256k1 is not supported'],
    ['on no curve', changed([-1, undefined]), 'a key on the curve undefined is not supported'],
    ['of small order', okp('01'.padEnd(64, '0')), 'not a key of Ed25519'],
    ['of 31 bytes', okp('01'.repeat(31)), 'not a key of Ed25519'],
  ])('%s', (_what, key, reason) => {
    expect(() => fromCoseKey(key)).toThrow(reason)
  })

  test('on a curve without a number here', () => {
    expect(() => toCoseKey(generateKey('secp256k1'))).toThrow('a key on secp256k1 is not supported')
  })
})
