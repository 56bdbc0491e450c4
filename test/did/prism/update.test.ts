/** Every action of an update: its effect, and the text of each refusal. */
import { describe, expect, test } from 'vitest'
import {
  InvalidOperation,
  type PrismService,
  type UpdateAction,
  type Usage,
  usages,
} from '../../../src/did/prism/model.ts'
import { apply, type DidState } from '../../../src/did/prism/state.ts'
import { applyActions } from '../../../src/did/prism/update.ts'
import { ed25519, key, later, masterKey, published, signedUpdate, x25519 } from './_make.ts'

const service = (id: string, rest: Partial<PrismService> = {}): PrismService => ({
  id,
  type: 'LinkedDomains',
  serviceEndpoint: 'https://a.example/',
  ...rest,
})
const many = <T>(count: number, make: (i: number) => T) => Array.from({ length: count }, (_, i) => make(i))

const addKey = (...[id, usage, i]: Parameters<typeof key>): UpdateAction => ({
  action: 'addKey',
  key: key(id, usage, i),
})
const addService = (id: string, rest?: Partial<PrismService>): UpdateAction => ({
  action: 'addService',
  service: service(id, rest),
})
const removeKey = (id: string): UpdateAction => ({ action: 'removeKey', id })
const removeService = (id: string): UpdateAction => ({ action: 'removeService', id })
const updateService = (id: string, change: { type?: string; serviceEndpoint?: string }): UpdateAction => ({
  action: 'updateService',
  id,
  type: '',
  serviceEndpoint: '',
  ...change,
})
const patchContext = (...contexts: string[]): UpdateAction => ({ action: 'patchContext', contexts })

/** A DID with two masters, a key, a service and a context; and the same without key and service. */
const state = published({
  publicKeys: [key('auth-1', 'authentication'), masterKey, key('master1', 'master', 1)],
  services: [service('service-1')],
  contexts: ['https://c.example/1'],
})
const emptied = applyActions(state, [removeKey('auth-1'), removeService('service-1'), patchContext()])
const [auth1, master0, master1] = state.publicKeys as [
  DidState['publicKeys'][0],
  typeof masterKey,
  typeof masterKey,
]
const keys = (...publicKeys: DidState['publicKeys']) => ({ publicKeys })
const full = {
  keys: published({ publicKeys: [masterKey, ...many(49, (i) => ({ ...masterKey, id: `k${i}` }))] }),
  services: published({ services: many(50, (i) => service(`s${i}`)) }),
}

describe('an allowed action changes only its subject', () => {
  type Row = [string, DidState, UpdateAction[], Partial<DidState>]
  const purposes = Object.keys(usages) as Usage[]
  const allowed: Row[] = [
    ...purposes.map((usage): Row => [
      `ADD_KEY for ${usage}`,
      state,
      [addKey('k', usage)],
      keys(auth1, master0, master1, key('k', usage)),
    ]),
    ...[ed25519, x25519].map((publicKey): Row => [
      `ADD_KEY on ${publicKey.crv}`,
      state,
      [{ action: 'addKey', key: { id: 'k', usage: 'authentication', publicKey } }],
      keys(auth1, master0, master1, { id: 'k', usage: 'authentication', publicKey }),
    ]),
    [
      'ADD_KEY with the key of another id',
      state,
      [addKey('k', 'authentication')],
      keys(...state.publicKeys, key('k', 'authentication')),
    ],
    ['REMOVE_KEY', state, [removeKey('auth-1')], { ...keys(master0, master1), retiredKeyIds: ['auth-1'] }],
    [
      'REMOVE_KEY of one master of two',
      state,
      [removeKey('master0')],
      { ...keys(auth1, master1), retiredKeyIds: ['master0'] },
    ],
    ['REMOVE_KEY of a key just added', state, [addKey('k', 'vdr'), removeKey('k')], { retiredKeyIds: ['k'] }],
    [
      'ADD_SERVICE',
      state,
      [addService('s', { type: '["A"]' })],
      { services: [...state.services, service('s', { type: '["A"]' })] },
    ],
    [
      'ADD_SERVICE with the id of a key',
      state,
      [addService('auth-1')],
      { services: [...state.services, service('auth-1')] },
    ],
    [
      'REMOVE_SERVICE',
      state,
      [removeService('service-1')],
      { services: [], retiredServiceIds: ['service-1'] },
    ],
    [
      'UPDATE_SERVICE of the type',
      state,
      [updateService('service-1', { type: 'B' })],
      { services: [service('service-1', { type: 'B' })] },
    ],
    [
      'UPDATE_SERVICE of the endpoint',
      state,
      [updateService('service-1', { serviceEndpoint: '{"uri":"x:y"}' })],
      { services: [service('service-1', { serviceEndpoint: '{"uri":"x:y"}' })] },
    ],
    [
      'UPDATE_SERVICE of both',
      state,
      [updateService('service-1', { type: 'B', serviceEndpoint: 'x:y' })],
      { services: [service('service-1', { type: 'B', serviceEndpoint: 'x:y' })] },
    ],
    // The same value is accepted.
    ['UPDATE_SERVICE to what it is', state, [updateService('service-1', { type: 'LinkedDomains' })], {}],
    ['PATCH_CONTEXT to another list', state, [patchContext('b', 'a')], { contexts: ['b', 'a'] }],
    ['PATCH_CONTEXT to the same list', state, [patchContext('https://c.example/1')], {}],
    ['PATCH_CONTEXT to nothing', state, [patchContext()], { contexts: [] }],
    ['PATCH_CONTEXT where there was none', emptied, [patchContext('a')], { contexts: ['a'] }],
    [
      'the fiftieth key, and one for another',
      full.keys,
      [addKey('new', 'authentication'), removeKey('k0')],
      {
        publicKeys: [...full.keys.publicKeys.filter(({ id }) => id !== 'k0'), key('new', 'authentication')],
        retiredKeyIds: ['k0'],
      },
    ],
    [
      'the fiftieth service, and one for another',
      full.services,
      [addService('new'), removeService('s0')],
      { services: [...full.services.services.slice(1), service('new')], retiredServiceIds: ['s0'] },
    ],
  ]
  test.each(allowed)('%s', (_name, before, actions, changed) => {
    const copy = structuredClone(before)
    expect(applyActions(before, actions)).toEqual({ ...copy, ...changed })
    expect(before).toEqual(copy)
  })
})

describe('an action that breaks a rule is refused together with all others of the update', () => {
  const long = 'x'.repeat(51)
  const onWrongCurve = (usage: 'master' | 'vdr'): UpdateAction => ({
    action: 'addKey',
    key: { id: 'k', usage, publicKey: ed25519 },
  })
  const endpoint = 'service endpoint: '
  const refused: [string, DidState, UpdateAction[], string][] = [
    ['no action', state, [], 'the update has no action'],

    ['ADD_KEY with an id in use', state, [addKey('auth-1', 'vdr')], 'key "auth-1" exists or existed'],
    [
      'ADD_KEY with an id that was removed',
      emptied,
      [addKey('auth-1', 'authentication')],
      'key "auth-1" exists or existed',
    ],
    ['ADD_KEY twice', state, [addKey('k', 'vdr'), addKey('k', 'vdr')], 'key "k" exists or existed'],
    [
      'ADD_KEY after its removal',
      state,
      [removeKey('auth-1'), addKey('auth-1', 'vdr')],
      'key "auth-1" exists or existed',
    ],
    ['ADD_KEY without an id', state, [addKey('', 'vdr')], 'key id "": must have 1 to 50 bytes'],
    [
      'ADD_KEY with a long id',
      state,
      [addKey(long, 'vdr')],
      `key id "${long.slice(1)}": must have 1 to 50 bytes`,
    ],
    [
      'ADD_KEY with an id of 26 letters in 52 bytes',
      state,
      [addKey('é'.repeat(26), 'vdr')],
      'must have 1 to 50 bytes',
    ],
    [
      'ADD_KEY with an id that is not a fragment',
      state,
      [addKey('a#b', 'vdr')],
      'key id "a#b": is no URI fragment',
    ],
    [
      'ADD_KEY of a master on Ed25519',
      state,
      [onWrongCurve('master')],
      'key "k" is a master key and must be on secp256k1',
    ],
    [
      'ADD_KEY of a VDR key on Ed25519',
      state,
      [onWrongCurve('vdr')],
      'key "k" is a vdr key and must be on secp256k1',
    ],
    ['ADD_KEY of the 51st', full.keys, [addKey('new', 'vdr')], 'the update leaves 51 keys, more than 50'],

    ['REMOVE_KEY of none', state, [removeKey('nope')], 'there is no active key "nope" to remove'],
    [
      'REMOVE_KEY twice',
      state,
      [removeKey('auth-1'), removeKey('auth-1')],
      'there is no active key "auth-1" to remove',
    ],
    [
      'REMOVE_KEY of a removed one',
      emptied,
      [removeKey('auth-1')],
      'there is no active key "auth-1" to remove',
    ],
    [
      'REMOVE_KEY with the id of a service',
      state,
      [removeKey('service-1')],
      'there is no active key "service-1" to remove',
    ],
    [
      'REMOVE_KEY of every master',
      state,
      [removeKey('master0'), removeKey('master1')],
      'the update leaves no master key',
    ],
    [
      'REMOVE_KEY with an endless id',
      state,
      [removeKey('\n'.repeat(9_000))],
      `there is no active key "${'\\n'.repeat(50)}" to remove`,
    ],

    [
      'ADD_SERVICE with an id in use',
      state,
      [addService('service-1')],
      'service "service-1" exists or existed',
    ],
    [
      'ADD_SERVICE with an id that was removed',
      emptied,
      [addService('service-1')],
      'service "service-1" exists or existed',
    ],
    ['ADD_SERVICE without an id', state, [addService('')], 'service "": id: must have 1 to 50 bytes'],
    [
      'ADD_SERVICE with a long id',
      state,
      [addService(long)],
      `service "${long.slice(1)}": id: must have 1 to 50 bytes`,
    ],
    [
      'ADD_SERVICE with an id that is not a fragment',
      state,
      [addService('a b')],
      'service "a b": id: is no URI fragment',
    ],
    [
      'ADD_SERVICE without a type',
      state,
      [addService('s', { type: '' })],
      'service "s": type: must have 1 to 100 bytes',
    ],
    [
      'ADD_SERVICE with a type that is not a name',
      state,
      [addService('s', { type: 'a.b' })],
      'service "s": type: is no name of letters',
    ],
    [
      'ADD_SERVICE without an endpoint',
      state,
      [addService('s', { serviceEndpoint: '' })],
      'service "s": serviceEndpoint: must have 1',
    ],
    [
      'ADD_SERVICE with no URI',
      state,
      [addService('s', { serviceEndpoint: 'x' })],
      'service "s": serviceEndpoint: is no URI',
    ],
    [
      'ADD_SERVICE of the 51st',
      full.services,
      [addService('new')],
      'the update leaves 51 services, more than 50',
    ],

    ['REMOVE_SERVICE of none', state, [removeService('nope')], 'there is no active service "nope" to remove'],
    [
      'REMOVE_SERVICE of a removed one',
      emptied,
      [removeService('service-1')],
      'there is no active service "service-1" to remove',
    ],
    [
      'REMOVE_SERVICE with the id of a key',
      state,
      [removeService('auth-1')],
      'there is no active service "auth-1" to remove',
    ],

    [
      'UPDATE_SERVICE of none',
      state,
      [updateService('nope', { type: 'A' })],
      'there is no active service "nope" to update',
    ],
    [
      'UPDATE_SERVICE of a removed one',
      emptied,
      [updateService('service-1', { type: 'A' })],
      'no active service "service-1" to update',
    ],
    [
      'UPDATE_SERVICE to nothing',
      state,
      [updateService('service-1', {})],
      'the update of service "service-1" changes nothing',
    ],
    [
      'UPDATE_SERVICE to a blank type',
      state,
      [updateService('service-1', { type: ' ' })],
      'service type: is no name of letters',
    ],
    [
      'UPDATE_SERVICE to no list of types',
      state,
      [updateService('service-1', { type: '[]' })],
      'service type: ',
    ],
    [
      'UPDATE_SERVICE to a long type',
      state,
      [updateService('service-1', { type: long + long })],
      'service type: must have 1 to 100 bytes',
    ],
    [
      'UPDATE_SERVICE to no URI',
      state,
      [updateService('service-1', { serviceEndpoint: 'x' })],
      `${endpoint}is no URI`,
    ],
    [
      'UPDATE_SERVICE to a broken object',
      state,
      [updateService('service-1', { serviceEndpoint: '{"a"' })],
      endpoint,
    ],
    [
      'UPDATE_SERVICE to a long endpoint',
      state,
      [updateService('service-1', { serviceEndpoint: `x:${'y'.repeat(299)}` })],
      `${endpoint}must have 1 to 300 bytes`,
    ],

    ['PATCH_CONTEXT to nothing from nothing', emptied, [patchContext()], 'there is no context to clear'],
    ['PATCH_CONTEXT with one twice', state, [patchContext('x', 'x')], 'context: names a context twice'],
    ['PATCH_CONTEXT with an empty one', state, [patchContext('')], 'context: 0: must have 1 to 100 bytes'],
    [
      'PATCH_CONTEXT with a long one',
      state,
      [patchContext('a', 'x'.repeat(101))],
      'context: 1: must have 1 to 100 bytes',
    ],
  ]
  test.each(refused)('%s', (_name, before, actions, reason) => {
    const copy = structuredClone(before)
    const other: UpdateAction[] =
      actions.length > 0 && before.publicKeys.length < 50 ? [addKey('fine', 'authentication')] : []
    for (const all of [actions, [...other, ...actions], [...actions, ...other]]) {
      expect(() => applyActions(before, all)).toThrow(InvalidOperation)
      expect(() => applyActions(before, all)).toThrow(reason)
    }
    expect(before).toEqual(copy)
  })

  test('a signed operation with such actions is refused for the same reasons', () => {
    for (const [, before, actions, reason] of refused.filter(([, before]) => before === state))
      expect(() => apply(before, signedUpdate(before, actions), later)).toThrow(reason)
  })
})
