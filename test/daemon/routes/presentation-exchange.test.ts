/** `/presentation-exchange`: presentation definitions and evaluations. */
import { describe, expect, test } from 'vitest'
import { ask } from '../../support/ask.ts'
import { connect, issue, newDid, refusal, startPair } from '../../support/tenants.ts'
import { credential } from '../../credentials/codecs/_forge.ts'
import { issueSdJwtTo } from '../../flows/_sd-jwt.ts'
import { untilEnd } from '../../support/shared.ts'

const pair = await untilEnd(startPair())

const definitions = '/presentation-exchange/presentation-definitions'
const noId = '00000000-0000-4000-8000-000000000000'
const full = {
  input_descriptors: [
    {
      id: 'licence',
      name: 'Licence',
      purpose: 'To see that you may drive',
      format: { jwt_vc: { alg: ['ES256K'] } },
      constraints: {
        fields: [
          {
            id: 'class',
            path: ['$.vc.credentialSubject.drivingClass', '$.credentialSubject.drivingClass'],
            name: 'Class',
            purpose: 'To see what',
            filter: { type: 'integer', minimum: 1 },
            optional: false,
          },
        ],
      },
    },
  ],
  name: 'Driving',
  purpose: 'To rent you a car',
  format: { jwt: { alg: ['EdDSA'] }, ldp: { proof_type: ['Ed25519Signature2020'] } },
}
const field = (content: object) => ({ input_descriptors: [{ id: 'd', constraints: { fields: [content] } }] })

/** Sends a request as the issuer, as `apiKey`, or with an empty key without credentials. */
async function send(method: string, path: string, body?: unknown, apiKey = pair.issuer.apiKey) {
  const reply = await ask(pair.agent, `${method} ${path}`, { body, apiKey: apiKey || undefined })
  return { status: reply.status, body: reply.body }
}

test('a definition is created, and can be read without credentials by its id', async () => {
  const made = await send('POST', definitions, { ...full, id: noId, more: true })
  expect(made).toEqual({ status: 201, body: { id: expect.stringMatching(/^[0-9a-f-]{36}$/), ...full } })
  expect(made.body.id).not.toBe(noId)
  for (const id of [made.body.id, made.body.id.toUpperCase()])
    expect(await send('GET', `${definitions}/${id}`, undefined, '')).toEqual({ status: 200, body: made.body })
})

test('an omitted field is an empty list, or absent', async () => {
  expect((await send('POST', definitions, {})).body).toEqual({
    id: expect.any(String),
    input_descriptors: [],
  })
  const bare = { input_descriptors: [{ id: 'd', constraints: {} }], name: null }
  expect((await send('POST', definitions, bare)).body).toEqual({
    id: expect.any(String),
    input_descriptors: [{ id: 'd', constraints: { fields: [] } }],
  })
})

test('an unknown format is kept', async () => {
  const format = { mso_mdoc: { alg: ['ES256'] }, 'vc+sd-jwt': { 'sd-jwt_alg_values': ['EdDSA'] } }
  const { body } = await send('POST', definitions, { input_descriptors: [], format })
  expect((await send('GET', `${definitions}/${body.id}`)).body.format).toEqual(format)
})

test('an unknown id is 404, and creating and listing need a key', async () => {
  for (const [id, type] of [
    [noId, 'NotFound'],
    ['1', 'error:ResourcePathNotFound'],
  ])
    expect(await send('GET', `${definitions}/${id}`, undefined, '')).toMatchObject({
      status: 404,
      body: { type },
    })
  expect((await send('GET', definitions, undefined, '')).status).toBe(401)
  expect((await send('POST', definitions, {}, '')).status).toBe(401)
})

test('a list is of one wallet, in order of creation, page by page', async () => {
  const { call } = await pair.agent.newTenant()
  expect(await call('GET /presentation-exchange/presentation-definitions')).toEqual({
    self: definitions,
    kind: 'PresentationDefinitionPage',
    pageOf: definitions,
    contents: [],
  })
  for (const name of ['one', 'two', 'three'])
    await call('POST /presentation-exchange/presentation-definitions', { body: { name } })
  const { contents, next } = await call('GET /presentation-exchange/presentation-definitions', {
    query: { limit: 2 },
  })
  expect([contents.map(({ name }) => name), next]).toEqual([
    ['one', 'two'],
    `${definitions}?limit=2&offset=2`,
  ])
})

describe('a definition is refused with 400, naming the field', () => {
  const first = 'input_descriptors.0'
  test.each<[string, object, string]>([
    ['descriptors that are not a list', { input_descriptors: {} }, 'input_descriptors'],
    ['a descriptor without an id', { input_descriptors: [{ constraints: {} }] }, `${first}.id`],
    ['a descriptor without constraints', { input_descriptors: [{ id: 'd' }] }, `${first}.constraints`],
    [
      'two descriptors with one id',
      { input_descriptors: ['d', 'e', 'd'].map((id) => ({ id, constraints: {} })) },
      'input_descriptors.2.id',
    ],
    ['a path that is not a text', field({ path: [1] }), `${first}.constraints.fields.0.path.0`],
    ['a path that is none', field({ path: ['$.a', 'b'] }), `${first}.constraints.fields.0.path.1`],
    ['a path with a filter', field({ path: ['$.a[?@.b]'] }), `${first}.constraints.fields.0.path.0`],
    [
      'a filter that is not a JSON Schema',
      field({ filter: { type: 'objekt' } }),
      `${first}.constraints.fields.0.filter`,
    ],
    ['a filter that is not an object', field({ filter: 'x' }), `${first}.constraints.fields.0.filter`],
    ['a filter that is a list', field({ filter: [] }), `${first}.constraints.fields.0.filter`],
    [
      'a filter with an invalid pattern',
      field({ filter: { pattern: '(' } }),
      `${first}.constraints.fields.0.filter`,
    ],
    [
      'a filter with an external reference',
      field({ filter: { $ref: 'https://a.example/1' } }),
      `${first}.constraints.fields.0.filter`,
    ],
    [
      'a filter of another dialect',
      field({ filter: { $schema: 'https://a.example/1' } }),
      `${first}.constraints.fields.0.filter`,
    ],
    ['optional that is not a flag', field({ optional: 'yes' }), `${first}.constraints.fields.0.optional`],
    ['a format that is none', { format: { jwt: ['ES256K'] } }, 'format.jwt'],
    ['a format without algorithms', { format: { jwt_vc: {} } }, 'format.jwt_vc.alg'],
    [
      'an algorithm that is not a list',
      { format: { 'dc+sd-jwt': { 'kb-jwt_alg_values': 'EdDSA' } } },
      'format.dc+sd-jwt.kb-jwt_alg_values',
    ],
    [
      'too many descriptors',
      { input_descriptors: Array.from({ length: 31 }, (_, id) => ({ id: `${id}`, constraints: {} })) },
      'input_descriptors',
    ],
    ['too much', field({ filter: { enum: Array.from({ length: 3_000 }, (_, index) => index) } }), 'body'],
    ['a filter with a name that parsers lose', field({ filter: JSON.parse('{"__proto__":{}}') }), 'body'],
  ])('%s', async (_, sent, path) => {
    const { status, body } = await send('POST', definitions, sent)
    expect({ status, type: body.type }).toEqual({ status: 400, type: 'error:RequestBodyDecodingFailure' })
    expect(body.detail.split(': ')[0]).toBe(path)
  })
})

describe('an evaluation', () => {
  const evaluations = 'POST /presentation-exchange/presentation-definitions/{id}/evaluations'
  const newDefinition = (body: object) =>
    pair.issuer.call('POST /presentation-exchange/presentation-definitions', { body })

  test('finds matches among the submitted credentials', async () => {
    const { id } = await newDefinition(full)
    const found = await pair.holder.call(evaluations, { path: { id }, body: { credentials: [credential] } })
    expect(found).toEqual({
      satisfied: true,
      matches: [{ inputDescriptorId: 'licence', credentials: [credential] }],
    })
    const none = await pair.holder.call(evaluations, { path: { id }, body: { credentials: [] } })
    expect(none).toEqual({ satisfied: false, matches: [{ inputDescriptorId: 'licence', credentials: [] }] })
  })

  test('finds matches among the wallet’s credentials, by their record ids', async () => {
    const { inviterConnectionId: connectionId } = await connect(pair.issuer, pair.holder)
    const [issuing, subject] = [
      await newDid(pair.issuer, 'assertionMethod'),
      await newDid(pair.holder, 'authentication'),
    ]
    const claims = [{ name: 'Alice', age: 42 }, { name: 'Alice', age: 17 }, { name: 'Alice' }]
    const issued = []
    for (const each of claims)
      issued.push(await issue(pair.issuer, pair.holder, connectionId, issuing.did, subject.did, each))
    const adult = { path: ['$.vc.credentialSubject.age'], filter: { type: 'integer', minimum: 18 } }
    const { id } = await newDefinition({
      input_descriptors: [
        { id: 'adult', constraints: { fields: [adult] } },
        {
          id: 'named',
          constraints: { fields: [{ path: ['$.credentialSubject.name'], filter: { const: 'Alice' } }] },
        },
      ],
    })
    const ids = issued.map(({ recordId }) => recordId)
    expect(await pair.holder.call(evaluations, { path: { id } })).toEqual({
      satisfied: true,
      matches: [
        { inputDescriptorId: 'adult', credentials: ids.slice(0, 1) },
        { inputDescriptorId: 'named', credentials: ids },
      ],
    })
    // The issuer holds none of them.
    expect((await pair.issuer.call(evaluations, { path: { id } })).satisfied).toBe(false)
  })

  test('finds SD-JWTs: submitted ones by their disclosures, and those of the wallet', async () => {
    const [issuer, holder] = [pair.issuer, pair.holder]
    const { inviterConnectionId: connectionId } = await connect(issuer, holder)
    const { did: issuingDID } = await newDid(issuer, 'assertionMethod', 'Ed25519')
    const { did: subjectId } = await newDid(holder, 'authentication', 'Ed25519')
    const held = await issueSdJwtTo({ issuer, holder, connectionId, issuingDID, subjectId })
    const { id } = await newDefinition({
      input_descriptors: [
        {
          id: 'city',
          format: { 'vc+sd-jwt': {} },
          constraints: { fields: [{ path: ['$.address.city'], filter: { const: 'Bern' } }] },
        },
        {
          id: 'jwt',
          format: { jwt_vc: { alg: ['EdDSA'] } },
          constraints: { fields: [{ path: ['$.address.city'] }] },
        },
      ],
    })
    const expected = (credential: string) => [
      { inputDescriptorId: 'city', credentials: [credential] },
      { inputDescriptorId: 'jwt', credentials: [] },
    ]
    expect((await holder.call(evaluations, { path: { id } })).matches).toEqual(expected(held.recordId))
    const [disclosed, hidden] = [held.credential, `${held.credential.split('~')[0]}~`]
    const sent = await issuer.call(evaluations, { path: { id }, body: { credentials: [disclosed, hidden] } })
    expect(sent.matches).toEqual(expected(disclosed))
    const forged = issuer.call(evaluations, {
      path: { id },
      body: { credentials: [`${disclosed}WyJzIiwiYSIsMV0~`] },
    })
    expect(await refusal(forged)).toMatchObject({
      status: 400,
      detail: expect.stringMatching(/^credentials\.0: .*matches no digest/),
    })
  })

  test('of an invalid credential, or by an unknown definition, is refused', async () => {
    const { id } = await newDefinition(full)
    const wrong = pair.holder.call(evaluations, {
      path: { id },
      body: { credentials: [credential, 'no token'] },
    })
    expect(await refusal(wrong)).toMatchObject({
      status: 400,
      detail: expect.stringMatching(/^credentials\.1: /),
    })
    expect((await refusal(pair.holder.call(evaluations, { path: { id: noId } }))).status).toBe(404)
    expect((await send('POST', `${definitions}/${id}/evaluations`, {}, '')).status).toBe(401)
  })
})
