import { createHash, createPublicKey, verify as verifyBytes } from 'node:crypto'
import { secp256k1 as curve } from '@noble/curves/secp256k1.js'
import { describe, expect, test } from 'vitest'
import { fromBase64, fromHex, toBase64url, toHex, toMultibase, utf8 } from '../../../src/foundation/bytes.ts'
import {
  agree,
  algorithmOf,
  generateKey,
  isSameKey,
  okpBytes,
  okpFromBytes,
  type PrivateJwk,
  type PublicJwk,
  sign,
  toPublic,
  verify,
} from '../../../src/foundation/crypto/keys.ts'
import {
  compressed,
  fromDer,
  fromPrivateBytes,
  fromPublicBytes,
  native,
  openssl,
  toDer,
} from '../../../src/foundation/crypto/secp256k1.ts'
import { createJwkDid, resolveJwkDid } from '../../../src/did/jwk.ts'
import { resolveKeyDid } from '../../../src/did/key.ts'
import { readKey } from '../../../src/did/verification-key.ts'

const data = utf8('a message')

/** RFC 8032 §7.1, test 2. */
const ed25519: PrivateJwk = {
  kty: 'OKP',
  crv: 'Ed25519',
  x: toBase64url(fromHex('3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c')),
  d: toBase64url(fromHex('4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb')),
}

/** The points of Ed25519 of small order, and their forms that are not reduced modulo p (RFC 8032 §5.1.3). */
const smallOrder = [
  '0000000000000000000000000000000000000000000000000000000000000000',
  '0100000000000000000000000000000000000000000000000000000000000000',
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
  'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
].flatMap((hex) => {
  const bytes = fromHex(hex)
  return [bytes, flipped(bytes, 255)]
})

/** Small secrets whose public points begin with a zero byte, found by counting from 1. */
const leadingZeroX = firstWith((point) => point[1] === 0)
const leadingZeroY = firstWith((point) => point[33] === 0)

function firstWith(is: (point: Uint8Array) => boolean): PrivateJwk {
  for (let i = 1; ; i++) {
    const d = fromHex(i.toString(16).padStart(64, '0'))
    if (is(curve.getPublicKey(d, false))) return fromPrivateBytes(d)
  }
}

function flipped(bytes: Uint8Array, bit: number): Uint8Array {
  const copy = Uint8Array.from(bytes)
  copy[bit >> 3]! ^= 1 << (bit & 7)
  return copy
}

function highS(signature: Uint8Array): Uint8Array {
  const { r, s } = curve.Signature.fromBytes(signature)
  return new curve.Signature(r, curve.Point.Fn.neg(s)).toBytes('compact')
}

const isHighS = (signature: Uint8Array) => curve.Signature.fromBytes(signature).hasHighS()
const digest = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest()
const uncompressedOf = (key: PrivateJwk) => curve.getPublicKey(fromBase64(key.d), false)

describe.each(['Ed25519', 'secp256k1', 'P-256'] as const)('a key on %s', (crv) => {
  const key = generateKey(crv)

  test('verifies its signatures and no others', () => {
    const signature = sign(key, data)
    expect(signature).toHaveLength(64)
    expect(verify(toPublic(key), data, signature)).toBe(true)
    expect(verify(toPublic(key), utf8('a messagf'), signature)).toBe(false)
    expect(verify(toPublic(generateKey(crv)), data, signature)).toBe(false)
  })

  test('refuses a signature with any flipped bit', () => {
    const signature = sign(key, data)
    const accepted = Array.from({ length: 512 }, (_, bit) => bit).filter((bit) =>
      verify(toPublic(key), data, flipped(signature, bit)),
    )
    expect(accepted).toEqual([])
  })

  test('returns false for malformed signatures and keys', () => {
    const signature = sign(key, data)
    for (const bad of [
      new Uint8Array(0),
      signature.subarray(1),
      new Uint8Array(64),
      new Uint8Array(64).fill(255),
      new Uint8Array(65),
    ]) {
      expect(verify(toPublic(key), data, bad)).toBe(false)
    }
    expect(verify({ ...toPublic(key), x: 'AAAA' }, data, signature)).toBe(false)
    expect(verify({ ...toPublic(key), crv: 'X25519' }, data, signature)).toBe(false)
  })
})

describe('Ed25519', () => {
  test('creates the signature of RFC 8032', () => {
    expect(toHex(sign(ed25519, Uint8Array.of(0x72)))).toBe(
      '92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00',
    )
  })

  test('a private key signs for itself, not for a key that was cached earlier', () => {
    sign(ed25519, data)
    const mismatched = { ...generateKey('Ed25519'), d: ed25519.d }
    expect(verify(toPublic(mismatched), data, sign(mismatched, data))).toBe(false)
  })
})

describe('secp256k1', () => {
  const implementations = { native: native(), openssl }

  test('libsecp256k1 is available to these tests', () => {
    expect(native()).toBeDefined()
  })

  test.each(Object.entries(implementations))('%s never creates high s, and accepts it', (_name, ecdsa) => {
    const key = generateKey('secp256k1')
    for (let i = 0; i < 32; i++) {
      const bytes = utf8(`message ${i}`)
      const signature = ecdsa!.sign(digest(bytes), fromBase64(key.d), key, bytes)
      expect(isHighS(signature)).toBe(false)
      expect(isHighS(highS(signature))).toBe(true)
      for (const form of [signature, highS(signature)])
        expect(ecdsa!.verify(digest(bytes), form, uncompressedOf(key), toPublic(key), bytes)).toBe(true)
    }
  })

  test('libsecp256k1, OpenSSL and noble verify the signatures of each other', () => {
    const key = generateKey('secp256k1')
    const signatures = [
      ...Object.values(implementations).map((ecdsa) =>
        ecdsa!.sign(digest(data), fromBase64(key.d), key, data),
      ),
      curve.sign(data, fromBase64(key.d)),
    ]
    for (const signature of signatures) {
      for (const ecdsa of Object.values(implementations)) {
        expect(ecdsa!.verify(digest(data), signature, uncompressedOf(key), toPublic(key), data)).toBe(true)
        expect(
          ecdsa!.verify(digest(data), flipped(signature, 300), uncompressedOf(key), toPublic(key), data),
        ).toBe(false)
      }
      expect(curve.verify(signature, data, uncompressedOf(key))).toBe(true)
    }
  })

  test('libsecp256k1 derives nonces by RFC 6979', () => {
    const key = fromPrivateBytes(fromHex('01'.padStart(64, '0')))
    expect(toHex(sign(key, utf8('Satoshi Nakamoto')))).toBe(
      '934b1ea10a4b3c1757e2b0c017d0b6143ce3c9a7e6a4a49860d7a6ab210ee3d82442ce9d2b916064108014783e923ec36b49743e2ffa1c4496f01a512aafd9e5',
    )
    expect(toHex(sign(key, data))).toBe(toHex(curve.sign(data, fromBase64(key.d))))
  })

  test('verify accepts high s', () => {
    const key = generateKey('secp256k1')
    expect(verify(toPublic(key), data, highS(sign(key, data)))).toBe(true)
  })

  test.each([
    ['x', leadingZeroX],
    ['y', leadingZeroY],
  ])(
    'a public key whose %s begins with zero is written in full, and read when a writer drops the zeros',
    (coordinate, key) => {
      expect(fromBase64(key.x)).toHaveLength(32)
      expect(fromBase64(key.y!)).toHaveLength(32)
      const short = toBase64url(Buffer.from(fromBase64(key[coordinate as 'x' | 'y']!)).subarray(1))
      const signature = sign(key, data)
      expect(verify(toPublic(key), data, signature)).toBe(true)
      expect(verify({ ...toPublic(key), [coordinate]: short }, data, signature)).toBe(true)
      expect(compressed({ ...toPublic(key), [coordinate]: short })).toEqual(compressed(key))
      expect(fromPublicBytes(compressed(key))).toEqual(toPublic(key))
    },
  )

  test('a secret with leading zeros signs, also if the zeros are omitted', () => {
    const signature = sign(
      {
        ...leadingZeroX,
        d: toBase64url(Uint8Array.of(...fromBase64(leadingZeroX.d).filter((byte) => byte !== 0))),
      },
      data,
    )
    expect(verify(toPublic(leadingZeroX), data, signature)).toBe(true)
  })

  test('refuses a point that is not on the curve', () => {
    const point = uncompressedOf(leadingZeroX)
    expect(() => fromPublicBytes(flipped(point, 500))).toThrow()
    expect(() => fromPublicBytes(new Uint8Array(33))).toThrow()
    expect(() => fromPublicBytes(point.subarray(0, 64))).toThrow()
    expect(() => fromPublicBytes(new Uint8Array(0))).toThrow()
    // The hybrid form: both coordinates, and the sign of y in the first byte.
    expect(() => fromPublicBytes(Uint8Array.of(6 + (point[64]! & 1), ...point.subarray(1)))).toThrow()
    const { x, y } = toPublic(leadingZeroX)
    expect(verify({ kty: 'EC', crv: 'secp256k1', x: y!, y: x }, data, sign(leadingZeroX, data))).toBe(false)
  })

  test('DER and r‖s convert into each other', () => {
    const signature = sign(leadingZeroY, data)
    expect(toDer(signature)[0]).toBe(0x30)
    expect(fromDer(toDer(signature))).toEqual(signature)
    expect(() => fromDer(signature)).toThrow()
    expect(() => fromDer(toDer(signature).subarray(1))).toThrow()
  })
})

describe('agreement', () => {
  test('computes the secret of RFC 7748 §6.1', () => {
    const alice: PrivateJwk = {
      ...okpFromBytes('X25519', fromHex('8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a')),
      d: toBase64url(fromHex('77076d0a7318a57d3c16c17251b26645df4c2f87ebc0992ab177fba51db92c2a')),
    }
    const bob = okpFromBytes(
      'X25519',
      fromHex('de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f'),
    )
    expect(toHex(agree(alice, bob))).toBe('4a5d9d5ba4ce2de1728e3bf480350f25e07e21c947d19e3376f09b3c1e161742')
    expect(() => agree(alice, toPublic(generateKey('Ed25519')))).toThrow(TypeError)
  })

  test('is the same on both sides, and differs with a third key', () => {
    const [alice, bob, eve] = [generateKey('X25519'), generateKey('X25519'), generateKey('X25519')]
    expect(agree(alice, toPublic(bob))).toEqual(agree(bob, toPublic(alice)))
    expect(agree(alice, toPublic(bob))).not.toEqual(agree(eve, toPublic(bob)))
  })

  test('refuses a point of low order', () => {
    expect(() => agree(generateKey('X25519'), okpFromBytes('X25519', new Uint8Array(32)))).toThrow()
  })
})

describe('JWKs', () => {
  test('a public key contains no private member', () => {
    for (const crv of ['Ed25519', 'X25519', 'secp256k1'] as const) {
      const key = generateKey(crv)
      expect(toPublic({ ...key, use: 'sig' } as PrivateJwk)).not.toHaveProperty('d')
      expect(Object.keys(toPublic({ ...key, use: 'sig' } as PrivateJwk))).toEqual(
        crv === 'secp256k1' ? ['kty', 'crv', 'x', 'y'] : ['kty', 'crv', 'x'],
      )
    }
  })

  test('two JWKs are the same key when all public members are equal', () => {
    const key = leadingZeroX
    expect(isSameKey(key, { ...toPublic(key) })).toBe(true)
    expect(isSameKey(key, { ...toPublic(key), y: key.x })).toBe(false)
    expect(isSameKey(generateKey('X25519'), generateKey('X25519'))).toBe(false)
  })

  test('OKP keys have 32 bytes', () => {
    const bytes = new Uint8Array(32).fill(9)
    expect(okpBytes(okpFromBytes('X25519', bytes))).toEqual(Buffer.from(bytes))
    expect(() => okpFromBytes('Ed25519', new Uint8Array(31))).toThrow(TypeError)
  })

  test('an X25519 key has no signing algorithm', () => {
    expect(algorithmOf(ed25519)).toBe('EdDSA')
    expect(algorithmOf(leadingZeroX)).toBe('ES256K')
    expect(() => algorithmOf(generateKey('X25519'))).toThrow(TypeError)
  })
})

describe('Ed25519 keys of small order', () => {
  const toJwk = (bytes: Uint8Array): PublicJwk => ({ kty: 'OKP', crv: 'Ed25519', x: toBase64url(bytes) })
  /** The neutral element as R, and 0 as s. */
  const signature = Uint8Array.from([1, ...new Uint8Array(63)])

  test('verify no signature, although OpenSSL verifies one for some texts without a private key', () => {
    let forged = 0
    for (const bytes of smallOrder) {
      const key = createPublicKey({ key: toJwk(bytes), format: 'jwk' })
      for (let attempt = 0; attempt < 64; attempt++) {
        const text = utf8(`attempt ${attempt}`)
        if (!verifyBytes(null, text, key, signature)) continue
        forged++
        expect(verify(toJwk(bytes), text, signature)).toBe(false)
      }
    }
    expect(forged).toBeGreaterThan(0)
  })

  test('are not keys of DIDs and documents', () => {
    for (const bytes of smallOrder) {
      const jwk = toJwk(bytes)
      const multikey = toMultibase(Uint8Array.from([0xed, 0x01, ...bytes]))
      expect(() => okpFromBytes('Ed25519', bytes)).toThrow('small order')
      expect(() => resolveJwkDid(createJwkDid(jwk))).toThrow('small order')
      expect(() => resolveKeyDid(`did:key:${multikey}`)).toThrow('small order')
      const method = { id: '#a', type: 'Multikey', controller: 'did:web:a.example' }
      expect(readKey({ ...method, publicKeyJwk: jwk })).toBeUndefined()
      expect(readKey({ ...method, publicKeyMultibase: multikey })).toBeUndefined()
    }
  })
})
