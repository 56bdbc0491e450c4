/** COSE_Sign1 and COSE_Mac0: signatures of others, both directions, and messages that are refused. */
import { generateKeyPairSync, X509Certificate } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { fromHex, toHex, utf8 } from '../../../src/foundation/bytes.ts'
import {
  type CborMap,
  type CborValue,
  decodeCbor,
  encodeCbor,
  scanCbor,
  Tagged,
} from '../../../src/foundation/cbor/index.ts'
import {
  algorithmOf,
  coseAlgorithms,
  type CoseWarning,
  coseWarnings,
  readMac0,
  readSign1,
  readX5chain,
  type Signing,
  signSign1,
  toX5chain,
  verifyMac0,
  verifySign1,
} from '../../../src/foundation/cose/index.ts'
import { generateKey, type PrivateJwk, toPublic } from '../../../src/foundation/crypto/keys.ts'
import { fromPrivateBytes } from '../../../src/foundation/crypto/p256.ts'
import { makeMac0, readMdoc } from '../../support/mdoc.ts'

const { definitions } = readMdoc('isomdl') as { definitions: Record<string, string> }
const theirs = decodeCbor(fromHex(definitions['cose/sign1/serialized.cbor']!)) as CborValue[]
const theirKey = fromPrivateBytes(fromHex(definitions['cose/sign1/secret_key']!))

const payload = utf8('a payload')
const keys = {
  'P-256': generateKey('P-256'),
  Ed25519: generateKey('Ed25519'),
  'P-384': ec('P-384'),
  'P-521': ec('P-521'),
}

function ec(namedCurve: 'P-384' | 'P-521'): PrivateJwk {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve })
  return privateKey.export({ format: 'jwk' }) as PrivateJwk
}

/** A message with a member changed. */
const changed = (message: readonly CborValue[], index: number, value: CborValue) => message.with(index, value)
const flip = (bytes: CborValue) => (bytes as Uint8Array).map((byte, index) => (index === 0 ? byte ^ 1 : byte))
const protectedOf = (...entries: [CborValue, CborValue][]) => encodeCbor(new Map(entries))

function warningsOf(read: (warn: (warning: CoseWarning) => void) => unknown): CoseWarning[] {
  const warnings: CoseWarning[] = []
  read((warning) => warnings.push(warning))
  return warnings
}

describe('a signature', () => {
  test('of another implementation is valid, and of no other key or payload', () => {
    const sign1 = readSign1(theirs)
    expect(verifySign1(sign1, toPublic(theirKey))).toBe(true)
    expect(verifySign1(sign1, toPublic(keys['P-256']))).toBe(false)
    expect(verifySign1(readSign1(changed(theirs, 2, payload)), theirKey)).toBe(false)
  })

  test.each(Object.entries(keys))('on %s is made and verified', (crv, key) => {
    const message = decodeCbor(encodeCbor(signSign1({ key, payload })))
    const sign1 = readSign1(message)
    expect(algorithmOf(sign1).crv).toBe(crv)
    expect(verifySign1(sign1, toPublic(key))).toBe(true)
    expect(verifySign1({ ...sign1, signature: flip(sign1.signature) }, key)).toBe(false)
    expect(scanCbor(encodeCbor(message))).toEqual([])
  })

  test.each(coseAlgorithms.map((alg) => [alg.name, alg] as const))(
    'of %s is made and verified',
    (_name, alg) => {
      const sign1 = readSign1(signSign1({ key: keys[alg.crv as keyof typeof keys], alg, payload }))
      expect(algorithmOf(sign1)).toBe(alg)
      expect(verifySign1(sign1, keys[alg.crv as keyof typeof keys])).toBe(true)
    },
  )

  test('covers a payload that is elsewhere, and never two', () => {
    const key = keys['P-256']
    const detached = readSign1(signSign1({ key, payload, detached: true }))
    expect(detached.payload).toBeNull()
    expect(verifySign1(detached, key, payload)).toBe(true)
    expect(verifySign1(detached, key, utf8('another'))).toBe(false)
    expect(verifySign1(detached, key)).toBe(false)
    expect(verifySign1(readSign1(signSign1({ key, payload })), key, payload)).toBe(false)
  })

  test('covers the protected header', () => {
    const protectedHeader: CborMap = new Map<CborValue, CborValue>([[16, 'application/x']])
    const message = signSign1({ key: keys['P-256'], protected: protectedHeader, payload })
    expect(verifySign1(readSign1(message), keys['P-256'])).toBe(true)
    const other = readSign1(changed(message, 0, protectedOf([1, -7], [16, 'application/y'])))
    expect(verifySign1(other, keys['P-256'])).toBe(false)
    // The order of its members is that of its maker.
    const reordered = readSign1(changed(message, 0, fromHex('a2106d6170706c69636174696f6e2f780126')))
    expect(reordered.protected).toEqual(readSign1(message).protected)
    expect(verifySign1(reordered, keys['P-256'])).toBe(false)
  })

  test.each<[string, (signature: Uint8Array) => Uint8Array]>([
    ['nothing', () => new Uint8Array()],
    ['zeros', () => new Uint8Array(64)],
    ['another length', (signature) => signature.subarray(1)],
    ['r of zero', (signature) => signature.map((byte, index) => (index < 32 ? 0 : byte))],
    ['s of zero', (signature) => signature.map((byte, index) => (index < 32 ? byte : 0))],
    [
      'DER',
      (signature) =>
        Uint8Array.of(0x30, 0x44, 2, 0x20, ...signature.subarray(0, 32), 2, 0x20, ...signature.subarray(32)),
    ],
  ])('of %s is not valid', (_what, change) => {
    const sign1 = readSign1(theirs)
    expect(verifySign1({ ...sign1, signature: change(sign1.signature) }, theirKey)).toBe(false)
  })

  test('counts with a curve that its algorithm does not say, and with no other than one it says', () => {
    const es256 = coseAlgorithms.find(({ name }) => name === 'ES256')!
    const esp384 = coseAlgorithms.find(({ name }) => name === 'ESP384')!
    const signedBy = (alg: typeof es256, hash: typeof es256) =>
      readSign1(signSign1({ key: keys['P-384'], alg: { ...hash, id: alg.id, crv: 'P-384' }, payload }))
    expect(verifySign1(signedBy(es256, es256), keys['P-384'])).toBe(true)
    const fixed = coseAlgorithms.find(({ name }) => name === 'ESP256')!
    expect(verifySign1(signedBy(fixed, fixed), keys['P-384'])).toBe(false)
    expect(verifySign1(signedBy(esp384, esp384), keys['P-384'])).toBe(true)
    expect(verifySign1(signedBy(esp384, esp384), keys['P-256'])).toBe(false)
  })

  test('is not made by a key that does not sign here, or with another algorithm', () => {
    const signWith = (signing: Pick<Signing, 'key' | 'alg'>) => () => signSign1({ ...signing, payload })
    expect(signWith({ key: generateKey('secp256k1') })).toThrow('a key on secp256k1 does not sign here')
    expect(signWith({ key: generateKey('X25519') })).toThrow('a key on X25519 does not sign here')
    const [es256] = coseAlgorithms
    expect(signWith({ key: keys['P-384'], alg: es256! })).toThrow('a key on P-384 does not sign ES256')
  })
})

describe('an algorithm is refused by its name', () => {
  test.each([
    [-265, 'ESB256 is not supported'],
    [-53, 'Ed448 is not supported'],
    [-47, 'ES256K is not supported'],
    [5, 'the algorithm 5 is not supported'],
    ['ES256', 'the algorithm "ES256" is not supported'],
  ])('%s', (id, reason) => {
    const sign1 = readSign1(changed(theirs, 0, protectedOf([1, id])))
    expect(() => algorithmOf(sign1)).toThrow(reason)
    expect(verifySign1(sign1, theirKey)).toBe(false)
  })

  test('in the unprotected header it does not count', () => {
    const sign1 = readSign1([new Uint8Array(), new Map([[1, -7]]), theirs[2], theirs[3]])
    expect(() => algorithmOf(sign1)).toThrow('alg is missing in the protected header')
    expect(verifySign1(sign1, theirKey)).toBe(false)
  })
})

describe('a message is read with a warning if it has', () => {
  test.each<[CoseWarning, CborValue]>([
    ['tagged', new Tagged(18, theirs)],
    ['payload-undefined', changed(theirs, 2, undefined)],
  ])('%s', (warning, message) => {
    expect(warningsOf((warn) => readSign1(message, { warn }))).toEqual([warning])
    expect(coseWarnings[warning]).toMatch(/^has /)
  })

  test('a tag where it belongs is none', () => {
    const tagged = new Tagged(18, theirs)
    expect(warningsOf((warn) => readSign1(tagged, { isTagAllowed: true, warn }))).toEqual([])
    expect(verifySign1(readSign1(tagged), theirKey)).toBe(true)
  })
})

describe('a message is refused if it is', () => {
  test.each<[string, CborValue, string]>([
    ['text', 'x', '"x" is there, instead of an array of four'],
    ['of another tag', new Tagged(17, theirs), 'a value with tag 17 is there'],
    ['of three members', theirs.slice(0, 3), 'the array has 3 members, not four'],
    [
      'without a protected header',
      changed(theirs, 0, new Map()),
      'the protected header is a map, not a byte string',
    ],
    ['of a protected list', changed(theirs, 0, fromHex('80')), 'the protected header is not a map'],
    ['of broken CBOR', changed(theirs, 0, fromHex('a101')), 'the protected header is not CBOR'],
    ['without an unprotected header', changed(theirs, 1, null), 'the unprotected header is not a map'],
    ['of a text as payload', changed(theirs, 2, 'x'), 'the payload is "x", not a byte string'],
    ['without a signature', changed(theirs, 3, null), 'the signature or MAC is null, not a byte string'],
    ['of a header twice', changed(theirs, 1, new Map([[1, -7]])), 'the header 1 is there twice'],
    [
      'critical and unknown',
      changed(theirs, 0, protectedOf([1, -7], [2, [99]], [99, 1])),
      'the critical header 99 is not understood',
    ],
    [
      'critical and absent',
      changed(theirs, 0, protectedOf([1, -7], [2, [33]])),
      'the critical header 33 is not understood',
    ],
    [
      'critical without a list',
      changed(theirs, 0, protectedOf([1, -7], [2, 1])),
      'crit is not a list of headers',
    ],
    ['critical unprotected', changed(theirs, 1, new Map([[2, [33]]])), 'crit is in the unprotected header'],
  ])('%s', (_what, message, reason) => {
    expect(() => readSign1(message)).toThrow(reason)
  })
})

describe('x5chain', () => {
  const { values } = readMdoc('annex-d') as { values: { reader_auth: string } }
  const reader = readSign1(decodeCbor(fromHex(values.reader_auth)))

  test('is the x5c of JOSE', () => {
    const x5c = readX5chain(reader)!
    expect(new X509Certificate(Buffer.from(x5c[0]!, 'base64')).subject).toContain('reader')
    expect(encodeCbor(toX5chain(x5c))).toEqual(encodeCbor(reader.unprotected.get(33)))
    const two = [x5c[0]!, x5c[0]!]
    expect(readX5chain({ ...reader, unprotected: new Map([[33, toX5chain(two)]]) })).toEqual(two)
    expect(readX5chain(readSign1(theirs))).toBeUndefined()
  })

  test('is accepted in the protected header, with a warning', () => {
    const moved = { protected: reader.unprotected, unprotected: new Map() }
    expect(warningsOf((warn) => readX5chain(moved, warn))).toEqual(['x5chain-protected'])
    expect(readX5chain(moved)).toEqual(readX5chain(reader))
  })

  test.each<[string, CborValue, string]>([
    ['no certificate', [], 'x5chain has 0 certificates, not 1 to 10'],
    ['eleven', Array.from({ length: 11 }, () => payload), 'x5chain has 11 certificates, not 1 to 10'],
    ['a text', ['MII'], 'x5chain[0] is not a byte string'],
    ['a large one', [payload, new Uint8Array(16_385)], 'x5chain[1] has 16385 bytes; 16384 are the most'],
  ])('with %s is refused', (_what, value, reason) => {
    expect(() => readX5chain({ ...reader, unprotected: new Map([[33, value]]) })).toThrow(reason)
  })
})

describe('a MAC', () => {
  const key = new Uint8Array(32).fill(7)
  const made = makeMac0(key, payload)

  test('is valid for its key and payload only', () => {
    const mac0 = readMac0(decodeCbor(encodeCbor(made)))
    expect(verifyMac0(mac0, key, payload)).toBe(true)
    expect(verifyMac0(mac0, new Uint8Array(32), payload)).toBe(false)
    expect(verifyMac0(mac0, key, utf8('another'))).toBe(false)
    expect(verifyMac0(mac0, key)).toBe(false)
    expect(verifyMac0({ ...mac0, tag: mac0.tag.subarray(1) }, key, payload)).toBe(false)
    expect(verifyMac0({ ...mac0, tag: new Uint8Array() }, key, payload)).toBe(false)
  })

  test('of another algorithm is not valid', () => {
    expect(verifyMac0(readMac0(changed(made, 0, protectedOf([1, 4]))), key, payload)).toBe(false)
  })

  test('of another implementation is read', () => {
    const mac0 = readMac0(decodeCbor(fromHex(definitions['cose/mac0/serialized.cbor']!)))
    expect(mac0).toMatchObject({ protected: new Map([[1, 5]]), unprotected: new Map([[4, fromHex('3131')]]) })
    expect(toHex(mac0.payload!)).toBe(toHex(utf8('This is the content.')))
    expect(() => readMac0(new Tagged(18, theirs))).toThrow('a value with tag 18 is there')
    expect(warningsOf((warn) => readMac0(new Tagged(17, made), { warn }))).toEqual(['tagged'])
  })
})
