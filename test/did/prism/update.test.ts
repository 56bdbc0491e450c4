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
const updateService = (change: Partial<PrismService>, id = 'service-1'): UpdateAction => ({
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

/** A name, the actions, their effect, and the state before, unless it is `state`. */
type Row<Effect> = [name: string, UpdateAction | UpdateAction[], Effect, before?: DidState]

describe('an allowed action changes only its subject', () => {
  const purposes = Object.keys(usages) as Usage[]
  const allowed: Row<Partial<DidState>>[] = [
    ...purposes.map((usage): Row<Partial<DidState>> => [
      `ADD_KEY for ${usage}`,
      addKey('k', usage),
      keys(auth1, master0, master1, key('k', usage)),
    ]),
    ...[ed25519, x25519].map((publicKey): Row<Partial<DidState>> => [
      `ADD_KEY on ${publicKey.crv}`,
      { action: 'addKey', key: { id: 'k', usage: 'authentication', publicKey } },
      keys(auth1, master0, master1, { id: 'k', usage: 'authentication', publicKey }),
    ]),
    [
      'ADD_KEY with the key of another id',
      addKey('k', 'authentication'),
      keys(...state.publicKeys, key('k', 'authentication')),
    ],
    ['REMOVE_KEY', removeKey('auth-1'), { ...keys(master0, master1), retiredKeyIds: ['auth-1'] }],
    [
      'REMOVE_KEY of one master of two',
      removeKey('master0'),
      { ...keys(auth1, master1), retiredKeyIds: ['master0'] },
    ],
    ['REMOVE_KEY of a key just added', [addKey('k', 'vdr'), removeKey('k')], { retiredKeyIds: ['k'] }],
    [
      'ADD_SERVICE',
      addService('s', { type: '["A"]' }),
      { services: [...state.services, service('s', { type: '["A"]' })] },
    ],
    [
      'ADD_SERVICE with the id of a key',
      addService('auth-1'),
      { services: [...state.services, service('auth-1')] },
    ],
    ['REMOVE_SERVICE', removeService('service-1'), { services: [], retiredServiceIds: ['service-1'] }],
    [
      'UPDATE_SERVICE of the type',
      updateService({ type: 'B' }),
      { services: [service('service-1', { type: 'B' })] },
    ],
    [
      'UPDATE_SERVICE of the endpoint',
      updateService({ serviceEndpoint: '{"uri":"x:y"}' }),
      { services: [service('service-1', { serviceEndpoint: '{"uri":"x:y"}' })] },
    ],
    [
      'UPDATE_SERVICE of both',
      updateService({ type: 'B', serviceEndpoint: 'x:y' }),
      { services: [service('service-1', { type: 'B', serviceEndpoint: 'x:y' })] },
    ],
    // The same value is accepted.
    ['UPDATE_SERVICE to what it is', updateService({ type: 'LinkedDomains' }), {}],
    ['PATCH_CONTEXT to another list', patchContext('b', 'a'), { contexts: ['b', 'a'] }],
    ['PATCH_CONTEXT to the same list', patchContext('https://c.example/1'), {}],
    ['PATCH_CONTEXT to nothing', patchContext(), { contexts: [] }],
    ['PATCH_CONTEXT where there was none', patchContext('a'), { contexts: ['a'] }, emptied],
    [
      'the fiftieth key, and one for another',
      [addKey('new', 'authentication'), removeKey('k0')],
      {
        publicKeys: [...full.keys.publicKeys.filter(({ id }) => id !== 'k0'), key('new', 'authentication')],
        retiredKeyIds: ['k0'],
      },
      full.keys,
    ],
    [
      'the fiftieth service, and one for another',
      [addService('new'), removeService('s0')],
      { services: [...full.services.services.slice(1), service('new')], retiredServiceIds: ['s0'] },
      full.services,
    ],
  ]
  test.each(allowed)('%s', (_name, actions, changed, before = state) => {
    const copy = structuredClone(before)
    expect(applyActions(before, [actions].flat())).toEqual({ ...copy, ...changed })
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
  const refused: Row<string>[] = [
    ['no action', [], 'the update has no action'],

    ['ADD_KEY with an id in use', addKey('auth-1', 'vdr'), 'key "auth-1" exists or existed'],
    [
      'ADD_KEY with an id that was removed',
      addKey('auth-1', 'authentication'),
      'key "auth-1" exists or existed',
      emptied,
    ],
    ['ADD_KEY twice', [addKey('k', 'vdr'), addKey('k', 'vdr')], 'key "k" exists or existed'],
    [
      'ADD_KEY after its removal',
      [removeKey('auth-1'), addKey('auth-1', 'vdr')],
      'key "auth-1" exists or existed',
    ],
    ['ADD_KEY without an id', addKey('', 'vdr'), 'key id "": must have 1 to 50 bytes'],
    ['ADD_KEY with a long id', addKey(long, 'vdr'), `key id "${long.slice(1)}": must have 1 to 50 bytes`],
    [
      'ADD_KEY with an id of 26 letters in 52 bytes',
      addKey('é'.repeat(26), 'vdr'),
      'must have 1 to 50 bytes',
    ],
    [
      'ADD_KEY with an id that is not a fragment',
      addKey('a#b', 'vdr'),
      'key id "a#b": is not a URI fragment',
    ],
    [
      'ADD_KEY of a master on Ed25519',
      onWrongCurve('master'),
      'key "k" is a master key and must be on secp256k1',
    ],
    ['ADD_KEY of a VDR key on Ed25519', onWrongCurve('vdr'), 'key "k" is a vdr key and must be on secp256k1'],
    ['ADD_KEY of the 51st', addKey('new', 'vdr'), 'the update leaves 51 keys, more than 50', full.keys],

    ['REMOVE_KEY of none', removeKey('nope'), 'there is no active key "nope" to remove'],
    [
      'REMOVE_KEY twice',
      [removeKey('auth-1'), removeKey('auth-1')],
      'there is no active key "auth-1" to remove',
    ],
    [
      'REMOVE_KEY of a removed one',
      removeKey('auth-1'),
      'there is no active key "auth-1" to remove',
      emptied,
    ],
    [
      'REMOVE_KEY with the id of a service',
      removeKey('service-1'),
      'there is no active key "service-1" to remove',
    ],
    [
      'REMOVE_KEY of every master',
      [removeKey('master0'), removeKey('master1')],
      'the update leaves no master key',
    ],
    [
      'REMOVE_KEY with an endless id',
      removeKey('\n'.repeat(9_000)),
      `there is no active key "${'\\n'.repeat(50)}" to remove`,
    ],

    ['ADD_SERVICE with an id in use', addService('service-1'), 'service "service-1" exists or existed'],
    [
      'ADD_SERVICE with an id that was removed',
      addService('service-1'),
      'service "service-1" exists or existed',
      emptied,
    ],
    ['ADD_SERVICE without an id', addService(''), 'service "": id: must have 1 to 50 bytes'],
    [
      'ADD_SERVICE with a long id',
      addService(long),
      `service "${long.slice(1)}": id: must have 1 to 50 bytes`,
    ],
    [
      'ADD_SERVICE with an id that is not a fragment',
      addService('a b'),
      'service "a b": id: is not a URI fragment',
    ],
    [
      'ADD_SERVICE without a type',
      addService('s', { type: '' }),
      'service "s": type: must have 1 to 100 bytes',
    ],
    [
      'ADD_SERVICE with a type that is not a name',
      addService('s', { type: 'a.b' }),
      'service "s": type: is not a name of letters',
    ],
    [
      'ADD_SERVICE without an endpoint',
      addService('s', { serviceEndpoint: '' }),
      'service "s": serviceEndpoint: must have 1',
    ],
    [
      'ADD_SERVICE with no URI',
      addService('s', { serviceEndpoint: 'x' }),
      'service "s": serviceEndpoint: is not a URI',
    ],
    [
      'ADD_SERVICE of the 51st',
      addService('new'),
      'the update leaves 51 services, more than 50',
      full.services,
    ],

    ['REMOVE_SERVICE of none', removeService('nope'), 'there is no active service "nope" to remove'],
    [
      'REMOVE_SERVICE of a removed one',
      removeService('service-1'),
      'there is no active service "service-1" to remove',
      emptied,
    ],
    [
      'REMOVE_SERVICE with the id of a key',
      removeService('auth-1'),
      'there is no active service "auth-1" to remove',
    ],

    [
      'UPDATE_SERVICE of none',
      updateService({ type: 'A' }, 'nope'),
      'there is no active service "nope" to update',
    ],
    [
      'UPDATE_SERVICE of a removed one',
      updateService({ type: 'A' }),
      'no active service "service-1" to update',
      emptied,
    ],
    ['UPDATE_SERVICE to nothing', updateService({}), 'the update of service "service-1" changes nothing'],
    [
      'UPDATE_SERVICE to a blank type',
      updateService({ type: ' ' }),
      'service type: is not a name of letters',
    ],
    ['UPDATE_SERVICE to no list of types', updateService({ type: '[]' }), 'service type: '],
    [
      'UPDATE_SERVICE to a long type',
      updateService({ type: long + long }),
      'service type: must have 1 to 100 bytes',
    ],
    ['UPDATE_SERVICE to no URI', updateService({ serviceEndpoint: 'x' }), `${endpoint}is not a URI`],
    ['UPDATE_SERVICE to a broken object', updateService({ serviceEndpoint: '{"a"' }), endpoint],
    [
      'UPDATE_SERVICE to a long endpoint',
      updateService({ serviceEndpoint: `x:${'y'.repeat(299)}` }),
      `${endpoint}must have 1 to 300 bytes`,
    ],

    ['PATCH_CONTEXT to nothing from nothing', patchContext(), 'there is no context to clear', emptied],
    ['PATCH_CONTEXT with one twice', patchContext('x', 'x'), 'context: names a context twice'],
    ['PATCH_CONTEXT with an empty one', patchContext(''), 'context: 0: must have 1 to 100 bytes'],
    [
      'PATCH_CONTEXT with a long one',
      patchContext('a', 'x'.repeat(101)),
      'context: 1: must have 1 to 100 bytes',
    ],
  ]
  test.each(refused)('%s', (_name, given, reason, before = state) => {
    const actions = [given].flat()
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
    for (const [, actions, reason] of refused.filter(([, , , before]) => before === undefined))
      expect(() => apply(state, signedUpdate(state, [actions].flat()), later)).toThrow(reason)
  })
})
