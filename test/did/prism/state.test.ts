import { describe, expect, test } from 'vitest'
import { fromDer } from '../../../src/foundation/crypto/secp256k1.ts'
import { create as message, toBinary } from '@bufbuild/protobuf'
import { decodeSigned } from '../../../src/did/prism/decode.ts'
import {
  type CreateOperation,
  InvalidOperation,
  type PrismKey,
  type UpdateAction,
} from '../../../src/did/prism/model.ts'
import { encodeOperation, operationHash, signOperation } from '../../../src/did/prism/operations.ts'
import { SignedAtalaOperationSchema } from '../../../src/did/prism/prism_pb.ts'
import { apply, createState, subjectOf } from '../../../src/did/prism/state.ts'
import {
  at,
  createBytes,
  ed25519,
  key,
  later,
  master,
  masterKey,
  published,
  secret,
  signedCreate,
  signedDeactivate,
  signedUpdate,
  suffixOf,
  updated,
  x25519,
} from './_make.ts'

const service = (id: string, rest = {}) => ({
  id,
  type: 'LinkedDomains',
  serviceEndpoint: 'https://a.example/',
  ...rest,
})
const ofService = (rest: object) => ({ services: [service('s', rest)] })
const withKey = (other: PrismKey) => ({ publicKeys: [masterKey, other] })
const many = <T>(count: number, make: (i: number) => T) => Array.from({ length: count }, (_, i) => make(i))

/** A published DID, to be changed. */
const state = published()
const removeAuth: UpdateAction = { action: 'removeKey', id: 'auth-1' }
const patch: UpdateAction = { action: 'patchContext', contexts: ['x'] }

function reject(run: () => unknown, reason: RegExp): void {
  expect(run).toThrow(InvalidOperation)
  expect(run).toThrow(reason)
}

describe('create', () => {
  test('has the state of the operation, with its hash as suffix and last operation', () => {
    expect(state).toEqual({
      suffix: suffixOf(),
      publicKeys: [key('auth-1', 'authentication'), masterKey],
      services: [service('service-1', { serviceEndpoint: 'https://example.com/' })],
      contexts: [],
      retiredKeyIds: [],
      retiredServiceIds: [],
      lastOperationHash: suffixOf(),
      deactivated: false,
      createdAt: at.toISOString(),
      updatedAt: at.toISOString(),
    })
  })

  test('an unpublished state is the same, without times', () => {
    const { createdAt, updatedAt, ...rest } = state
    expect([createdAt, updatedAt]).toEqual([at.toISOString(), at.toISOString()])
    expect(createState(createBytes())).toEqual(rest)
  })

  test('is refused for a DID that exists', () => {
    reject(() => apply(state, signedCreate(), later), /exists already/)
  })

  const rules: [string, Partial<CreateOperation>, RegExp][] = [
    ['no master key', { publicKeys: [key('auth-1', 'authentication')] }, /no master key/],
    ['no key', { publicKeys: [] }, /no master key/],
    [
      'an Ed25519 master key',
      { publicKeys: [{ id: 'master0', usage: 'master', publicKey: ed25519 }] },
      /master key and must be on secp256k1/,
    ],
    [
      'an Ed25519 VDR key',
      withKey({ id: 'v', usage: 'vdr', publicKey: ed25519 }),
      /vdr key and must be on secp256k1/,
    ],
    ['a key id twice', withKey(key('master0', 'authentication')), /key id is there twice/],
    ['an empty key id', withKey(key('', 'authentication')), /1 to 50 bytes/],
    ['a key id of 51 characters', withKey(key('k'.repeat(51), 'authentication')), /1 to 50 bytes/],
    ['a key id that is not a fragment', withKey(key('a b', 'authentication')), /fragment/],
    ['51 keys', { publicKeys: [masterKey, ...many(50, (i) => ({ ...masterKey, id: `k${i}` }))] }, /51 keys/],
    ['51 services', { services: many(51, (i) => service(`s${i}`)) }, /51 services/],
    ['a service id twice', { services: [service('s'), service('s')] }, /service id is there twice/],
    ['a service id that is not a fragment', { services: [service('#s')] }, /fragment/],
    ['an empty service type', ofService({ type: '' }), /type: must have 1 to 100 bytes/],
    [
      'a service type of 101 characters',
      ofService({ type: 'x'.repeat(101) }),
      /type: must have 1 to 100 bytes/,
    ],
    ['a service type that begins with a space', ofService({ type: ' x' }), /type/],
    ['an empty list of service types', ofService({ type: '[]' }), /type/],
    ['a list with a type that is not a name', ofService({ type: '["a.b"]' }), /type/],
    ['a service type that looks like JSON', ofService({ type: '["a"' }), /type/],
    ['an empty endpoint', ofService({ serviceEndpoint: '' }), /serviceEndpoint/],
    [
      'an endpoint of 301 characters',
      ofService({ serviceEndpoint: `https://a.example/${'x'.repeat(283)}` }),
      /1 to 300 bytes/,
    ],
    ['an endpoint that is not a URI', ofService({ serviceEndpoint: 'example' }), /serviceEndpoint/],
    [
      'an endpoint that is a list with text',
      ofService({ serviceEndpoint: '["example"]' }),
      /serviceEndpoint/,
    ],
    ['an endpoint that looks like JSON', ofService({ serviceEndpoint: '{"uri":' }), /serviceEndpoint/],
    ['a context twice', { contexts: ['https://a.example', 'https://a.example'] }, /twice/],
    ['a context of 101 characters', { contexts: ['x'.repeat(101)] }, /context/],
  ]
  test.each(rules)('%s is refused, published or not', (_name, rest, reason) => {
    reject(() => createState(createBytes(rest)), reason)
    reject(() => apply(undefined, signedCreate(rest), at), reason)
  })

  const allowed: [string, Partial<CreateOperation>][] = [
    ['50 keys', { publicKeys: [masterKey, ...many(49, (i) => ({ ...masterKey, id: `k${i}` }))] }],
    ['50 services', { services: many(50, (i) => service(`s${i}`)) }],
    [
      'the longest texts',
      { publicKeys: [masterKey, key('k'.repeat(50), 'authentication')], contexts: ['x'.repeat(100)] },
    ],
    [
      'the longest endpoint',
      ofService({ type: 'x'.repeat(100), serviceEndpoint: `https://a.example/${'x'.repeat(282)}` }),
    ],
    [
      'every character of a fragment',
      { services: [service("https://foo.bar.com/?a=b&c=(%41)*,;:@!$'~-._")] },
    ],
    ['types as a list, with inner spaces', ofService({ type: '["A b","c_d-1"]' })],
    ['endpoints as an object', ofService({ serviceEndpoint: '{"uri":"https://a.example"}' })],
    ['endpoints as a list', ofService({ serviceEndpoint: '["https://a.example",{"uri":"did:example:1"}]' })],
    ['an X25519 key for authentication', withKey({ id: 'x', usage: 'authentication', publicKey: x25519 })],
  ]
  test.each(allowed)('%s may be', (_name, rest) => {
    expect(apply(undefined, signedCreate(rest), at).suffix).toBe(suffixOf(rest))
  })

  test('an update cannot be the first operation', () => {
    reject(
      () =>
        createState(
          encodeOperation({ operation: 'deactivate', suffix: state.suffix, previousHash: state.suffix }),
        ),
      /begins with a create/,
    )
    reject(() => apply(undefined, signedUpdate(state, [removeAuth]), at), /does not exist/)
  })
})

describe('signatures', () => {
  const bytes = createBytes()
  const wrap = (signature: Uint8Array, signedWith = 'master0') =>
    toBinary(
      SignedAtalaOperationSchema,
      message(SignedAtalaOperationSchema, { signedWith, signature, operation: bytes }),
    )
  const { signature } = decodeSigned(signedCreate())

  test.each([
    ['another key', signOperation(bytes, 'master0', secret('master', 1)), /not by the key/],
    ['a key that is not there', signOperation(bytes, 'master1', master), /no active master key/],
    [
      'a key that is not a master',
      signOperation(bytes, 'auth-1', secret('authentication')),
      /no active master key/,
    ],
    ['no key', wrap(new Uint8Array(0)), /not by the key/],
    [
      'a turned bit',
      wrap(Uint8Array.from(signature, (byte, i) => (i === 20 ? byte ^ 1 : byte))),
      /not by the key/,
    ],
    ['an operation with another id of the key', wrap(signature, 'auth-1'), /no active master key/],
  ])('by %s are refused', (_name, signed, reason) => {
    reject(() => apply(undefined, signed, at), reason)
  })

  test('a signature of 64 bytes (r‖s) is accepted', () => {
    expect(apply(undefined, wrap(fromDer(signature)), at)).toEqual(state)
  })
})

describe('update', () => {
  test('applies its actions in order and sets the last operation', () => {
    const signed = signedUpdate(state, [
      { action: 'addKey', key: key('key-2', 'assertionMethod') },
      removeAuth,
      { action: 'addService', service: service('service-2') },
      { action: 'removeService', id: 'service-1' },
      { action: 'updateService', id: 'service-2', type: '["A"]', serviceEndpoint: '' },
      { action: 'patchContext', contexts: ['https://a.example'] },
    ])
    const changed = apply(state, signed, later)
    expect(changed).toEqual({
      ...state,
      publicKeys: [masterKey, key('key-2', 'assertionMethod')],
      services: [service('service-2', { type: '["A"]' })],
      contexts: ['https://a.example'],
      retiredKeyIds: ['auth-1'],
      retiredServiceIds: ['service-1'],
      lastOperationHash: operationHash(decodeSigned(signed).operation),
      updatedAt: later.toISOString(),
    })
    expect(state).toEqual(published())
  })

  test('names the previous operation: an older or unknown hash is refused', () => {
    const first = signedUpdate(state, [removeAuth])
    const second = apply(state, first, later)
    reject(() => apply(second, first, later), /previous_operation_hash/)
    reject(() => apply(second, signedUpdate(state, [patch]), later), /previous_operation_hash/)
    expect(updated(second, patch).contexts).toEqual(['x'])
  })

  test('of one DID does not change another', () => {
    const other = published({ services: [] })
    reject(() => apply(other, signedUpdate(state, [removeAuth]), later), /does not exist/)
  })

  test('the only master key can be replaced in one operation, in either order; afterwards the old one cannot sign', () => {
    const add: UpdateAction = { action: 'addKey', key: key('master1', 'master', 1) }
    const remove: UpdateAction = { action: 'removeKey', id: 'master0' }
    for (const actions of [
      [add, remove],
      [remove, add],
    ]) {
      const rotated = updated(state, ...actions)
      reject(() => apply(rotated, signedUpdate(rotated, [patch]), later), /no active master key/)
      expect(
        apply(rotated, signedUpdate(rotated, [patch], { id: 'master1', secret: secret('master', 1) }), later)
          .contexts,
      ).toEqual(['x'])
    }
  })

  test('limits apply after all actions, not in between', () => {
    const full = published({ publicKeys: [masterKey, ...many(49, (i) => ({ ...masterKey, id: `k${i}` }))] })
    const swap: UpdateAction[] = [
      { action: 'addKey', key: key('new', 'authentication') },
      { action: 'removeKey', id: 'k0' },
    ]
    expect(updated(full, ...swap).publicKeys).toHaveLength(50)
  })
})

describe('deactivate', () => {
  test('removes every key and service permanently', () => {
    const gone = apply(state, signedDeactivate(state), later)
    expect(gone).toMatchObject({
      deactivated: true,
      publicKeys: [],
      services: [],
      retiredKeyIds: ['auth-1', 'master0'],
      retiredServiceIds: ['service-1'],
    })
    expect(gone.updatedAt).toBe(later.toISOString())
    reject(
      () => apply(gone, signedUpdate(gone, [{ action: 'addKey', key: key('k', 'authentication') }]), later),
      /deactivated/,
    )
    reject(() => apply(gone, signedDeactivate(gone), later), /deactivated/)
    reject(() => apply(gone, signedCreate(), later), /exists already/)
  })

  test('needs the last operation and the master key', () => {
    const changed = updated(state, removeAuth)
    reject(() => apply(changed, signedDeactivate(state), later), /previous_operation_hash/)
    const { suffix, lastOperationHash: previousHash } = state
    const byOther = signOperation(
      encodeOperation({ operation: 'deactivate', suffix, previousHash }),
      'master0',
      secret('master', 1),
    )
    reject(() => apply(state, byOther, later), /not by the key/)
  })
})

describe('the subject of an operation', () => {
  test('is the DID that it creates or changes', () => {
    expect(subjectOf(signedCreate())).toBe(state.suffix)
    expect(subjectOf(signedUpdate(state, []))).toBe(state.suffix)
    expect(subjectOf(signedDeactivate(state))).toBe(state.suffix)
  })

  test.each(['2', `did:prism:${'ab'.repeat(32)}`, 'AB'.repeat(32)])('%s is not a suffix', (suffix) => {
    const signed = signOperation(
      encodeOperation({ operation: 'deactivate', suffix, previousHash: '' }),
      'master0',
      master,
    )
    reject(() => subjectOf(signed), /64 hexadecimal digits/)
  })
})
