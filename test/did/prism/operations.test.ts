import { readFileSync } from 'node:fs'
import { create as message, toBinary } from '@bufbuild/protobuf'
import { describe, expect, test } from 'vitest'
import { fromBase64, fromHex, toHex } from '../../../src/foundation/bytes.ts'
import { deriveKey } from '../../../src/foundation/crypto/derive.ts'
import { generateKey, type PublicJwk, toPublic, verify } from '../../../src/foundation/crypto/keys.ts'
import { seedOfMnemonic } from '../../../src/foundation/crypto/mnemonic.ts'
import { fromDer, native } from '../../../src/foundation/crypto/secp256k1.ts'
import { decodeObject, decodeOperation, decodeSigned } from '../../../src/did/prism/decode.ts'
import { InvalidOperation, type Operation, type UpdateAction } from '../../../src/did/prism/model.ts'
import { quote } from '../../../src/did/prism/rules.ts'
import {
  encodeOperation,
  operationHash,
  operationId,
  signOperation,
} from '../../../src/did/prism/operations.ts'
import { AtalaObjectSchema, AtalaOperationSchema, KeyUsage } from '../../../src/did/prism/prism_pb.ts'
import { create, createBytes, ed25519, key, master, masterKey, signedCreate, x25519 } from './_make.ts'

type Worked = {
  longForms: { name: string; did: string; keys: { id: string; usage: string }[]; publicKeyJwk?: PublicJwk }[]
  deterministic: {
    mnemonic: string
    seed: string
    longForm: string
    suffix: string
    signedOperation: string
    signedWith: string
    operationId: string
  }
}
const { longForms, deterministic } = JSON.parse(
  readFileSync(new URL('../../../fixtures/did-prism/worked.json', import.meta.url), 'utf8'),
) as Worked

const service = { id: 's', type: 'LinkedDomains', serviceEndpoint: 'https://a.example/' }
const actions: UpdateAction[] = [
  { action: 'addKey', key: key('k', 'assertionMethod') },
  { action: 'removeKey', id: 'k' },
  { action: 'addService', service },
  { action: 'removeService', id: 's' },
  { action: 'updateService', id: 's', type: '', serviceEndpoint: 'https://b.example/' },
  { action: 'patchContext', contexts: ['https://c.example'] },
]
const suffix = 'ab'.repeat(32)
const previousHash = 'cd'.repeat(32)

describe('the worked examples', () => {
  test.each(longForms)('$name is read', ({ did, keys, publicKeyJwk }) => {
    const state = fromBase64(did.split(':')[3]!)
    const operation = decodeOperation(state)
    expect(
      operation.operation === 'create' && operation.publicKeys.map(({ id, usage }) => ({ id, usage })),
    ).toEqual(keys)
    if (publicKeyJwk && operation.operation === 'create')
      expect(operation.publicKeys[1]!.publicKey).toEqual(publicKeyJwk)
    expect(operationHash(state)).toBe(did.split(':')[2])
  })

  test('the deterministic DID has the same bytes and signature as published', () => {
    const seed = seedOfMnemonic(deterministic.mnemonic)
    expect(toHex(seed)).toBe(deterministic.seed)
    const secret = deriveKey(seed, { didIndex: 0, usage: 1, keyIndex: 0 })
    const bytes = encodeOperation(
      create({ publicKeys: [{ id: 'master', usage: 'master', publicKey: toPublic(secret) }], services: [] }),
    )
    expect(bytes).toEqual(new Uint8Array(fromBase64(deterministic.longForm.split(':')[3]!)))
    expect(operationHash(bytes)).toBe(deterministic.suffix)
    const signed = fromHex(deterministic.signedOperation)
    // Without libsecp256k1, OpenSSL signs with random nonces.
    if (native())
      expect(toHex(signOperation(bytes, deterministic.signedWith, secret))).toBe(
        deterministic.signedOperation,
      )
    const published = decodeSigned(signed)
    expect(published.signedWith).toBe('master')
    expect(toHex(published.operation)).toBe(toHex(bytes))
    expect(verify(toPublic(secret), bytes, fromDer(published.signature))).toBe(true)
    expect(operationId(signed)).toBe(deterministic.operationId)
  })
})

describe('operations as bytes', () => {
  const operations: Operation[] = [
    create({
      publicKeys: [
        key('a', 'authentication'),
        key('i', 'assertionMethod'),
        { id: 'e', usage: 'authentication', publicKey: ed25519 },
        { id: 'x', usage: 'keyAgreement', publicKey: x25519 },
        key('r', 'revocation'),
        key('ci', 'capabilityInvocation'),
        key('cd', 'capabilityDelegation'),
        key('v', 'vdr'),
        masterKey,
      ],
      contexts: ['https://a.example/1', 'https://a.example/2'],
    }),
    { operation: 'update', suffix, previousHash, actions },
    { operation: 'deactivate', suffix, previousHash },
  ]

  test.each(operations)('$operation survives a round trip', (operation) => {
    expect(decodeOperation(encodeOperation(operation))).toEqual(operation)
  })

  test('keys are always written compressed, in the order given', () => {
    const bytes = toHex(createBytes())
    // Field 9 (tag 4a) with curve and 33 bytes; never field 8 (tag 42).
    expect(bytes.match(/4a2e0a09736563703235366b311221/g)).toHaveLength(2)
    expect(bytes).not.toContain('424f0a09736563703235366b31')
    expect(bytes.indexOf(toHex(Buffer.from('auth-1')))).toBeLessThan(
      bytes.indexOf(toHex(Buffer.from('master0'))),
    )
  })

  test('a signed operation keeps the signed bytes, also in another encoding', () => {
    // An unknown field at the end, as another encoder could write it.
    const foreign = Buffer.concat([createBytes(), Uint8Array.of(0x78, 0x01)])
    const { operation } = decodeSigned(signOperation(foreign, 'master0', master))
    expect(Buffer.from(operation)).toEqual(foreign)
  })

  test('a signature is DER with low s, over the operation', () => {
    const { signature, signedWith, operation } = decodeSigned(signedCreate())
    expect(signedWith).toBe('master0')
    expect(signature[0]).toBe(0x30)
    expect(fromDer(signature)[32]! < 0x80).toBe(true)
    expect(verify(masterKey.publicKey, operation, fromDer(signature))).toBe(true)
  })

  test.each<[string, Operation]>([
    ['a service', create({ services: [{ ...service, serviceEndpoint: 'x:\ud800' }] })],
    ['a context', create({ contexts: ['x:\udc00y'] })],
    [
      'an action',
      { operation: 'update', suffix, previousHash, actions: [{ action: 'removeKey', id: '\ud83d' }] },
    ],
  ])('an unpaired surrogate in %s is refused', (_name, operation) => {
    expect(() => encodeOperation(operation)).toThrow(InvalidOperation)
    expect(() => encodeOperation(operation)).toThrow(/\\ud.* contains an unpaired surrogate/)
  })

  test('only secp256k1 signs operations', () => {
    expect(() => signOperation(createBytes(), 'master0', generateKey('Ed25519'))).toThrow(TypeError)
  })

  test('signing twice gives the same operation id', () => {
    expect(operationId(signedCreate())).toBe(operationId(signedCreate()))
    expect(operationId(signedCreate())).not.toBe(operationHash(createBytes()))
  })

  test('an object contains its operations in order, an empty block none', () => {
    const signed = [signedCreate(), signedCreate({ services: [] })]
    const object = toBinary(
      AtalaObjectSchema,
      message(AtalaObjectSchema, { blockContent: { operations: signed } }),
    )
    expect(decodeObject(object).map(toHex)).toEqual(signed.map(toHex))
    expect(decodeObject(new Uint8Array(0))).toEqual([])
  })
})

describe('bytes that are refused', () => {
  const invalid: [string, () => unknown, RegExp][] = [
    ['no protobuf', () => decodeOperation(new Uint8Array(9).fill(255)), /AtalaOperation/],
    ['an operation cut short', () => decodeOperation(createBytes().subarray(0, -1)), /AtalaOperation/],
    ['an empty operation', () => decodeOperation(new Uint8Array(0)), /none of/],
    [
      'a storage operation without its DID',
      () => decodeOperation(Uint8Array.of(0x3a, 0x00)),
      /did_prism_hash/,
    ],
    ['a create without data', () => decodeOperation(Uint8Array.of(0x0a, 0x00)), /did_data/],
    ['an empty envelope', () => decodeSigned(new Uint8Array(0)), /empty/],
    ['an invalid envelope', () => decodeSigned(new Uint8Array(9).fill(255)), /SignedAtalaOperation/],
    ['an invalid object', () => decodeObject(new Uint8Array(9).fill(255)), /AtalaObject/],
    ['more than any operation', () => decodeSigned(new Uint8Array(64_001)), /more than 64000 bytes/],
    ['a text that is not UTF-8', () => decodeSigned(Uint8Array.of(0x0a, 0x01, 0xff)), /SignedAtalaOperation/],
  ]
  test.each(invalid)('%s', (_name, read, reason) => {
    expect(read).toThrow(InvalidOperation)
    expect(read).toThrow(reason)
  })

  const keyed = (data: object, usage: number = KeyUsage.AUTHENTICATION_KEY) =>
    toBinary(
      AtalaOperationSchema,
      message(AtalaOperationSchema, {
        operation: {
          case: 'createDid',
          value: { didData: { publicKeys: [{ id: 'k', usage: usage as KeyUsage, keyData: data as never }] } },
        },
      }),
    )
  const packed = (curve: string, data: Uint8Array) => ({
    case: 'compressedEcKeyData',
    value: { curve, data },
  })
  const coordinates = (x: Uint8Array, y: Uint8Array) => ({
    case: 'ecKeyData',
    value: { curve: 'secp256k1', x, y },
  })
  const ones = new Uint8Array(32).fill(1)
  test.each([
    ['no usage', keyed(packed('Ed25519', new Uint8Array(32)), 0), 'has no known usage'],
    ['an unknown usage', keyed(packed('Ed25519', new Uint8Array(32)), 9), 'has no known usage'],
    ['no data', keyed({ case: undefined }), 'cannot be read: it has no data'],
    [
      'an unknown curve',
      keyed(packed('P-256', new Uint8Array(33).fill(2))),
      `cannot be read: its curve ${quote('P-256')} is none of`,
    ],
    [
      'a curve in other letters',
      keyed(packed('ed25519', new Uint8Array(32))),
      `cannot be read: its curve ${quote('ed25519')} is none of`,
    ],
    [
      '31 bytes',
      keyed(packed('Ed25519', new Uint8Array(31))),
      'cannot be read: an Ed25519 public key has 32 bytes, not 31',
    ],
    [
      '33 bytes',
      keyed(packed('X25519', new Uint8Array(33))),
      'cannot be read: an X25519 public key has 32 bytes, not 33',
    ],
    [
      'an uncompressed point as a compressed one',
      keyed(packed('secp256k1', new Uint8Array(65).fill(4))),
      'cannot be read: a compressed point has 33 bytes, not 65',
    ],
    [
      'a point off the curve',
      keyed(packed('secp256k1', Uint8Array.of(2, ...Array<number>(31).fill(0), 5))),
      'cannot be read: there is no such point on secp256k1',
    ],
    [
      'coordinates off the curve',
      keyed(coordinates(ones, ones)),
      'cannot be read: there is no such point on secp256k1',
    ],
    [
      'coordinates cut short',
      keyed(coordinates(ones.subarray(1), ones)),
      'cannot be read: a public key on secp256k1 is a point of',
    ],
  ])('a key with %s', (_name, bytes, reason) => {
    expect(() => decodeOperation(bytes)).toThrow(InvalidOperation)
    expect(() => decodeOperation(bytes)).toThrow(`key "k" ${reason}`)
  })

  // The reason of a rejection is stored and shown, and may contain texts that a peer has chosen.
  test('a long key id is shortened', () => {
    const id = '\u001b[2J\n'.repeat(5_000)
    const bytes = toBinary(
      AtalaOperationSchema,
      message(AtalaOperationSchema, {
        operation: { case: 'createDid', value: { didData: { publicKeys: [{ id }] } } },
      }),
    )
    expect(() => decodeOperation(bytes)).toThrow(/^key "[\x20-\x7e]{1,400}" has no known usage$/)
  })
})
