/**
 * Document templates: the curves of each purpose, and every rule of a template. Each violation gets 422 with
 * a text that names the rule, or 400 if the body has another structure. Neither stores anything.
 */
import { describe, expect, test } from 'vitest'
import { purposes } from '../../../src/did/document.ts'
import { startAgent } from '../../support/agent.ts'
import { newDid, refusal } from '../../support/tenants.ts'
import { untilEnd } from '../../support/shared.ts'

type Template = { publicKeys?: unknown; internalKeys?: unknown; services?: unknown; contexts?: unknown }

const agent = await untilEnd(startAgent())
const tenant = await agent.newTenant()
const call = tenant.call
const published = (await newDid(tenant, 'assertionMethod')).did

const create = (documentTemplate: Template) =>
  call('POST /did-registrar/dids', { body: { documentTemplate } as never })
const update = (action: Record<string, unknown>) =>
  call('POST /did-registrar/dids/{didRef}/updates', {
    path: { didRef: published },
    body: { actions: [action] } as never,
  })

/** The document of a template's DID. */
async function documentOf(template: Template): Promise<Record<string, any>> {
  const { longFormDid } = await create(template)
  const answer = await agent.send('GET', `/dids/${longFormDid}`, {
    headers: { accept: 'application/did+ld+json' },
  })
  expect(answer.status).toBe(200)
  return (await answer.json()) as Record<string, any>
}

const many = <T>(count: number, make: (i: number) => T) => Array.from({ length: count }, (_, i) => make(i))
const key = (id: string, rest = {}) => ({ id, purpose: 'authentication', ...rest })
const vdr = (id: string) => ({ id, purpose: 'vdr' })
const service = (id: string, rest = {}) => ({
  id,
  type: 'LinkedDomains',
  serviceEndpoint: 'https://a.example/',
  ...rest,
})
const ofService = (rest: object) => ({ services: [service('s', rest)] })
const ofEndpoint = (serviceEndpoint: unknown) => ofService({ serviceEndpoint })
const context = (length: number) => `https://c.example/${'x'.repeat(length - 18)}`

describe('curves and purposes', () => {
  const table: Record<string, readonly (typeof purposes)[number][]> = {
    secp256k1: purposes,
    Ed25519: ['authentication', 'assertionMethod'],
    X25519: ['keyAgreement'],
  }
  const pairs = Object.entries(table).flatMap(([curve, allowed]) =>
    purposes.map((purpose) => ({ curve, purpose, isAllowed: allowed.includes(purpose) })),
  )

  test.each(pairs.filter(({ isAllowed }) => isAllowed))(
    '$curve may serve $purpose',
    async ({ curve, purpose }) => {
      const document = await documentOf({ publicKeys: [{ id: 'k', purpose, curve }] })
      expect(document['verificationMethod']).toMatchObject([
        { id: `${document['id']}#k`, publicKeyJwk: { crv: curve } },
      ])
      for (const each of purposes)
        expect(document[each], each).toEqual(each === purpose ? [`${document['id']}#k`] : [])
    },
  )

  test.each(pairs.filter(({ isAllowed }) => !isAllowed))(
    '$curve may not serve $purpose, in a template or in an update',
    async ({ curve, purpose }) => {
      const detail = expect.stringContaining(
        'key "k": Ed25519 must be used in [Authentication, AssertionMethod]. X25519 must be used in [KeyAgreement]',
      )
      const wrong = { id: 'k', purpose, curve }
      expect(await refusal(create({ publicKeys: [key('fine'), wrong] }))).toMatchObject({
        status: 422,
        type: 'UnprocessableEntity',
        detail,
      })
      expect(await refusal(update({ actionType: 'ADD_KEY', addKey: wrong }))).toMatchObject({
        status: 400,
        type: 'BadRequest',
        detail,
      })
    },
  )

  test('the default curve is secp256k1, also for null', async () => {
    const document = await documentOf({ publicKeys: [key('a'), key('b', { curve: null })] })
    expect(document['verificationMethod']).toMatchObject([
      { publicKeyJwk: { crv: 'secp256k1' } },
      { publicKeyJwk: { crv: 'secp256k1' } },
    ])
  })
})

describe('a template that is allowed', () => {
  const allowed: [string, Template][] = [
    ['empty', {}],
    ['empty lists, and none', { publicKeys: [], internalKeys: null, services: null, contexts: [] }],
    [
      '50 keys, the master among them',
      { publicKeys: many(48, (i) => key(`k${i}`)), internalKeys: [vdr('v')] },
    ],
    ['50 services', { services: many(50, (i) => service(`s${i}`)) }],
    ['ids of 50 characters', { publicKeys: [key('k'.repeat(50))], services: [service('s'.repeat(50))] }],
    ['an id that is a URL', { services: [service('https://foo.bar.com/?a=(b)%20')] }],
    ['a key and a service of one id', { publicKeys: [key('same')], services: [service('same')] }],
    ['a type of 100 characters', ofService({ type: 'x'.repeat(100) })],
    ['an endpoint of 300 characters', ofEndpoint(`did:example:${'x'.repeat(288)}`)],
    ['contexts of 100 characters', { contexts: [context(100), context(99)] }],
  ]
  test.each(allowed)('%s', async (_name, template) => {
    const { longFormDid } = await create(template)
    expect(longFormDid).toMatch(/^did:prism:[0-9a-f]{64}:[\w-]+$/)
    expect(await call('GET /did-registrar/dids/{didRef}', { path: { didRef: longFormDid } })).toMatchObject({
      status: 'CREATED',
    })
  })
})

describe('a template that breaks a rule', () => {
  const long = 'x'.repeat(51)
  const refused: [string, Template, string | RegExp][] = [
    [
      'the reserved id, for a key',
      { publicKeys: [key('master0')] },
      'the key id master0 is reserved for the master key',
    ],
    [
      'the reserved id, for an internal key',
      { internalKeys: [vdr('master0')] },
      'the key id master0 is reserved for the master key',
    ],
    ['51 keys with the master', { publicKeys: many(50, (i) => key(`k${i}`)) }, '51 keys are more than 50'],
    [
      '51 keys, some internal',
      { publicKeys: many(49, (i) => key(`k${i}`)), internalKeys: [vdr('v')] },
      '51 keys are more than 50',
    ],
    ['51 services', { services: many(51, (i) => service(`s${i}`)) }, '51 services are more than 50'],
    [
      'a key id twice',
      { publicKeys: [key('k'), key('k', { purpose: 'keyAgreement' })] },
      'a key id is there twice',
    ],
    [
      'an internal key with the id of another',
      { publicKeys: [key('k')], internalKeys: [vdr('k')] },
      'a key id is there twice',
    ],
    ['a service id twice', { services: [service('s'), service('s')] }, 'a service id is there twice'],
    ['a key id of 51 characters', { publicKeys: [key(long)] }, /key id "x{50}": must have 1 to 50 bytes/],
    ['a key id that is not a fragment', { publicKeys: [key('a#b')] }, 'key id "a#b": is not a URI fragment'],
    ['a key id with a space', { publicKeys: [key('a b')] }, 'key id "a b": is not a URI fragment'],
    [
      'an internal key id that is not a fragment',
      { internalKeys: [vdr('ä')] },
      'key id "ä": is not a URI fragment',
    ],
    [
      'a service id of 51 characters',
      { services: [service(long)] },
      /service "x{50}": id: must have 1 to 50 bytes/,
    ],
    [
      'a service id that is not a fragment',
      { services: [service('#s')] },
      'service "#s": id: is not a URI fragment',
    ],
    [
      'a type of 101 characters',
      ofService({ type: 'x'.repeat(101) }),
      'service "s": type: must have 1 to 100 bytes',
    ],
    [
      'types of 101 characters as a list',
      ofService({ type: ['x'.repeat(97)] }),
      'service "s": type: must have 1 to 100 bytes',
    ],
    [
      'a type that is not a name',
      ofService({ type: 'a.b' }),
      'service "s": type: is not a name of letters, digits, - and _',
    ],
    ['a type that looks like a list', ofService({ type: '["A"' }), 'service "s": type: '],
    [
      'a list with a type that is not a name',
      ofService({ type: ['A', 'b/c'] }),
      'service "s": type: 1: is not a name of letters, digits, - and _',
    ],
    [
      'an endpoint of 301 characters',
      ofEndpoint(`x:${'y'.repeat(299)}`),
      'serviceEndpoint: must have 1 to 300 bytes',
    ],
    [
      'an endpoint that grows too long',
      ofEndpoint(`https://a.example/${'é'.repeat(60)}`),
      'must have 1 to 300 bytes',
    ],
    [
      'an object of 301 characters',
      ofEndpoint({ uri: 'x'.repeat(291) }),
      'serviceEndpoint: must have 1 to 300 bytes',
    ],
    ['an empty endpoint', ofEndpoint(''), 'serviceEndpoint: must have 1 to 300 bytes'],
    ['an endpoint that is not a URI', ofEndpoint('example'), 'service "s": serviceEndpoint: is not a URI'],
    [
      'an endpoint with a line break',
      ofEndpoint('https://a.exa\nmple/'),
      'service "s": serviceEndpoint: is not a URI',
    ],
    [
      'an endpoint with half a character',
      ofEndpoint('x:\ud800'),
      '"x:\\ud800" contains an unpaired surrogate',
    ],
    ['an endpoint that looks like an object', ofEndpoint('{"uri"'), 'service "s": serviceEndpoint: '],
    [
      'a list with an endpoint that is not a URI',
      ofEndpoint(['x:y', 'example']),
      'service "s": serviceEndpoint: 1: ',
    ],
    ['a context twice', { contexts: [context(20), context(20)] }, 'context: names a context twice'],
    ['a context of 101 characters', { contexts: [context(101)] }, 'context: 0: must have 1 to 100 bytes'],
    ['an empty context', { contexts: [''] }, 'context: 0: '],
    ['a context that is not a URI', { contexts: [context(20), 'example'] }, 'context: 1: is not a URI'],
    [
      'a context with half a character',
      { contexts: ['x:\ud800'] },
      '"x:\\ud800" contains an unpaired surrogate',
    ],
  ]
  test.each(refused)('%s', async (_name, template, reason) => {
    const problem = await refusal(create(template))
    expect(problem).toMatchObject({ status: 422, type: 'UnprocessableEntity' })
    expect(problem.detail).toMatch(/^The document template is not accepted: /)
    if (typeof reason === 'string') expect(problem.detail).toContain(reason)
    else expect(problem.detail).toMatch(reason)
  })

  const actions: [string, Record<string, unknown>, string][] = [
    [
      'a context that is not a URI',
      { actionType: 'PATCH_CONTEXT', patchContext: { contexts: ['example'] } },
      'context: 0: is not a URI',
    ],
    [
      'an id with half a character',
      { actionType: 'REMOVE_KEY', removeKey: { id: 'x\ud800' } },
      'contains an unpaired surrogate',
    ],
    [
      'an endpoint with a line break',
      { actionType: 'ADD_SERVICE', addService: service('t', { serviceEndpoint: 'https://a\n' }) },
      'is not a URI',
    ],
  ]
  test.each(actions)('%s, in an update: 400', async (_name, action, reason) => {
    const problem = await refusal(update(action))
    expect(problem).toMatchObject({ status: 400, type: 'BadRequest' })
    expect(problem.detail).toContain(reason)
  })

  const malformed: [string, Record<string, unknown> | undefined, string][] = [
    ['no template', undefined, 'documentTemplate'],
    ['keys that are not a list', { publicKeys: {} }, 'publicKeys'],
    ['a key without an id', { publicKeys: [{ purpose: 'authentication' }] }, 'publicKeys.0.id'],
    ['a key with an empty id', { publicKeys: [key('')] }, 'publicKeys.0.id'],
    [
      'a key with the purpose of master keys',
      { publicKeys: [key('k', { purpose: 'master' })] },
      'publicKeys.0.purpose',
    ],
    ['a key on another curve', { publicKeys: [key('k', { curve: 'P-384' })] }, 'publicKeys.0.curve'],
    ['an internal key with a public purpose', { internalKeys: [key('k')] }, 'internalKeys.0.purpose'],
    ['a service without an endpoint', { services: [{ id: 's', type: 'A' }] }, 'services.0.serviceEndpoint'],
    ['an endpoint that is a number', ofEndpoint(1), 'services.0.serviceEndpoint'],
    ['a service without types', ofService({ type: [] }), 'services.0.type'],
    ['a blank type', ofService({ type: ['A', ' '] }), 'services.0.type'],
    ['a context that is an object', { contexts: [{}] }, 'contexts.0'],
    ['more keys than a template may have', { publicKeys: many(61, (i) => key(`k${i}`)) }, 'publicKeys'],
  ]
  test.each(malformed)('%s is refused with 400 and the path', async (_name, documentTemplate, path) => {
    const problem = await refusal(call('POST /did-registrar/dids', { body: { documentTemplate } as never }))
    expect(problem.status).toBe(400)
    expect(problem.detail).toContain(path)
  })

  test('stores nothing', async () => {
    const { call: other } = await agent.newTenant()
    const count = async () => (await other('GET /did-registrar/dids')).contents.length
    const quick = refused.filter(([name]) => !name.startsWith('51 '))
    for (const [, documentTemplate] of quick)
      await refusal(other('POST /did-registrar/dids', { body: { documentTemplate } as never }))
    expect(await count()).toBe(0)
    await other('POST /did-registrar/dids', { body: { documentTemplate: {} } })
    expect(await count()).toBe(1)
  })
})
