/** `/verification/policies`: creation, updates with a nonce, lists, refusals. */
import { describe, expect, test } from 'vitest'
import { startAgent } from '../../support/agent.ts'
import { ask } from '../../support/ask.ts'
import { refusal } from '../../support/tenants.ts'
import { untilEnd } from '../../support/shared.ts'

const agent = await untilEnd(startAgent())

const constraints = [
  { schemaId: 'https://example.com/driving-license-1.0', trustedIssuers: ['did:example:123456789abcdefghi'] },
]
const input = { name: 'licences', description: 'Driving licences of the state', constraints }
const noId = '00000000-0000-4000-8000-000000000000'

test('a policy is created, read, changed and deleted', async () => {
  const { call, apiKey } = await agent.newTenant()
  const given = { ...input, id: noId }
  const made = await call('POST /verification/policies', { body: given })
  expect(made).toEqual({
    ...input,
    self: `/verification/policies/${made.id}`,
    kind: 'VerificationPolicy',
    id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    nonce: 0,
    createdAt: expect.stringMatching(/Z$/),
    updatedAt: made.createdAt,
  })
  expect(made.id).not.toBe(noId)
  const path = { id: made.id }
  expect(await call('GET /verification/policies/{id}', { path })).toEqual(made)

  const change = { name: 'all', description: '', constraints: [] }
  const changed = await call('PUT /verification/policies/{id}', { path, query: { nonce: 0 }, body: change })
  expect(changed).toEqual({ ...made, ...change, nonce: 1, updatedAt: expect.stringMatching(/Z$/) })
  expect(changed.updatedAt >= made.updatedAt).toBe(true)
  expect(await call('GET /verification/policies/{id}', { path })).toEqual(changed)

  expect(await ask(agent, `DELETE ${made.self}`, { apiKey })).toMatchObject({ status: 200, body: undefined })
  for (const gone of [
    () => call('GET /verification/policies/{id}', { path }),
    () => call('PUT /verification/policies/{id}', { path, query: { nonce: 1 }, body: change }),
    () => call('DELETE /verification/policies/{id}', { path }),
  ]) {
    expect(await refusal(gone())).toMatchObject({ status: 404, type: 'NotFound' })
  }
})

test('creation is 201, and omitted fields are empty lists', async () => {
  const { apiKey } = await agent.newTenant()
  const create = (body: object) => ask(agent, 'POST /verification/policies', { body, apiKey })
  const given = { name: 'n', description: 'd' }
  const constrained = { schemaId: 's', trustedIssuers: [] }
  expect(await create({ ...given, constraints: null, more: 1 })).toMatchObject({
    status: 201,
    body: { constraints: [] },
  })
  expect((await create({ ...given, constraints: [{ schemaId: 's' }] })).body.constraints).toEqual([
    constrained,
  ])
})

describe('the nonce', () => {
  test('must be the latest: an older or a future one is 409 and changes nothing', async () => {
    const { call } = await agent.newTenant()
    const { id } = await call('POST /verification/policies', { body: input })
    const put = (nonce: number, name: string) =>
      call('PUT /verification/policies/{id}', { path: { id }, query: { nonce }, body: { ...input, name } })
    expect((await put(0, 'one')).nonce).toBe(1)
    for (const nonce of [0, 2, 2_147_483_647]) {
      expect(await refusal(put(nonce, 'two'))).toMatchObject({
        status: 409,
        type: 'Conflict',
        detail: expect.stringContaining('at 1'),
      })
    }
    expect(await call('GET /verification/policies/{id}', { path: { id } })).toMatchObject({
      nonce: 1,
      name: 'one',
    })
  })

  test('lets one of many concurrent changes pass', async () => {
    const { call } = await agent.newTenant()
    const { id } = await call('POST /verification/policies', { body: input })
    const outcomes = await Promise.allSettled(
      Array.from({ length: 20 }, (_, index) =>
        call('PUT /verification/policies/{id}', {
          path: { id },
          query: { nonce: 0 },
          body: { ...input, name: `of ${index}` },
        }),
      ),
    )
    const done = outcomes.filter((outcome) => outcome.status === 'fulfilled')
    expect(done).toHaveLength(1)
    for (const outcome of outcomes)
      if (outcome.status === 'rejected') expect(outcome.reason.problem.status).toBe(409)
    expect(await call('GET /verification/policies/{id}', { path: { id } })).toEqual(done[0]!.value)
  })

  test.each(['', '?nonce=', '?nonce=-1', '?nonce=1.5', '?nonce=x', '?nonce=99999999999', '?nonce=0&nonce=0'])(
    'is required and must be a number: %j is 400',
    async (query) => {
      const { call, apiKey } = await agent.newTenant()
      const { self } = await call('POST /verification/policies', { body: input })
      const { status, body } = await ask(agent, `PUT ${self}${query}`, { body: input, apiKey })
      expect([status, body.detail]).toEqual([400, expect.stringContaining('nonce')])
    },
  )
})

test('a list is paged in order of creation, and filtered by the whole name', async () => {
  const { call } = await agent.newTenant()
  const names = ['a', 'b', 'a', 'ab', 'a']
  for (const name of names) await call('POST /verification/policies', { body: { ...input, name } })
  const all = await call('GET /verification/policies')
  expect(all).toMatchObject({
    self: '/verification/policies',
    kind: 'VerificationPolicyPage',
    pageOf: '/verification/policies',
  })
  expect(all.contents.map(({ name }) => name)).toEqual(names)
  const page = await call('GET /verification/policies', { query: { name: 'a', limit: 1, offset: 1 } })
  expect(page).toEqual({
    self: '/verification/policies?name=a&limit=1&offset=1',
    kind: 'VerificationPolicyPage',
    pageOf: '/verification/policies',
    next: '/verification/policies?name=a&limit=1&offset=2',
    previous: '/verification/policies?name=a&limit=1&offset=0',
    contents: [all.contents[2]],
  })
  expect((await call('GET /verification/policies', { query: { name: '%' } })).contents).toEqual([])
  // A changed policy keeps its position, and a deleted one leaves no gap.
  const [first, second] = all.contents
  await call('PUT /verification/policies/{id}', {
    path: { id: first!.id },
    query: { nonce: 0 },
    body: { ...input, name: 'z' },
  })
  await call('DELETE /verification/policies/{id}', { path: { id: second!.id } })
  expect((await call('GET /verification/policies')).contents.map(({ name }) => name)).toEqual([
    'z',
    'a',
    'ab',
    'a',
  ])
})

test('policies belong to one wallet', async () => {
  const [one, two] = [await agent.newTenant(), await agent.newTenant()]
  const { id } = await one.call('POST /verification/policies', { body: input })
  expect((await two.call('GET /verification/policies')).contents).toEqual([])
  const path = { id }
  for (const foreign of [
    () => two.call('GET /verification/policies/{id}', { path }),
    () => two.call('PUT /verification/policies/{id}', { path, query: { nonce: 0 }, body: input }),
    () => two.call('DELETE /verification/policies/{id}', { path }),
  ]) {
    const { status, type, detail } = await refusal(foreign())
    expect({ status, type, detail }).toEqual({
      status: 404,
      type: 'NotFound',
      detail: `There is no verification policy ${id}.`,
    })
  }
  expect((await one.call('GET /verification/policies/{id}', { path })).nonce).toBe(0)
})

describe('a policy is refused', () => {
  test.each([
    ['without a name', { name: undefined }, 'name'],
    ['with an empty name', { name: '' }, 'name'],
    ['without a description', { description: undefined }, 'description'],
    ['with an id that is not a UUID', { id: 'x' }, 'id'],
    ['with constraints that are not a list', { constraints: {} }, 'constraints'],
    [
      'with a constraint without a schema',
      { constraints: [{ trustedIssuers: [] }] },
      'constraints.0.schemaId',
    ],
    ['with an empty schema', { constraints: [{ schemaId: '' }] }, 'constraints.0.schemaId'],
    [
      'with an issuer that is not a DID',
      { constraints: [{ schemaId: 's', trustedIssuers: ['Alice'] }] },
      'constraints.0.trustedIssuers.0',
    ],
    [
      'with too many constraints',
      { constraints: Array.from({ length: 101 }, () => constraints[0]) },
      'constraints',
    ],
  ])('%s', async (_, change, field) => {
    const { apiKey, call } = await agent.newTenant()
    const reply = await ask(agent, 'POST /verification/policies', { body: { ...input, ...change }, apiKey })
    expect(reply).toMatchObject({ status: 400, body: { type: 'error:RequestBodyDecodingFailure' } })
    expect(reply.body.detail.split(': ')[0]).toBe(field)
    expect((await call('GET /verification/policies')).contents).toEqual([])
  })

  test('an id that is not a UUID is 404', async () => {
    const { apiKey } = await agent.newTenant()
    expect(await ask(agent, 'GET /verification/policies/1', { apiKey })).toMatchObject({
      status: 404,
      body: { type: 'error:ResourcePathNotFound' },
    })
  })
})
