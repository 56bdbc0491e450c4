/**
 * `/present-proof` over HTTP: statuses, fields of requests, the four actions in every state, fields of
 * records, lists.
 */
import { describe, expect, test } from 'vitest'
import { startAgent } from '../../support/agent.ts'
import { ask as askRaw } from '../../support/ask.ts'
import { connect, issue, newDid, oobOf, presentationIn } from '../../support/tenants.ts'
import { untilEnd } from '../../support/shared.ts'

const unknown = '00000000-0000-4000-8000-000000000000'
const schemaId = 'https://example.com/schemas/person'
const options = { challenge: 'a random seed', domain: 'shop.example' }

const agent = await untilEnd(startAgent())
const [verifier, prover] = [await agent.newTenant('verifier'), await agent.newTenant('prover')]
const connectionId = (await connect(verifier, prover)).inviterConnectionId
const [issuing, subject] = [await newDid(verifier, 'assertionMethod'), await newDid(prover, 'authentication')]
const proofId = [(await issue(verifier, prover, connectionId, issuing.did, subject.did)).recordId]

const ask = (method: string, path: string, body?: unknown, { apiKey }: { apiKey: string } = verifier) =>
  askRaw(agent, `${method} /present-proof/presentations${path}`, { body, apiKey })
const request = (change: object = {}) => ask('POST', '', { connectionId, ...change })

/** A new request, with the records of both sides. */
async function requested(change: object = {}) {
  const { thid, presentationId: verifiers } = (await request(change)).body as {
    thid: string
    presentationId: string
  }
  const { presentationId: provers } = await presentationIn(prover.call, thid, 'RequestReceived')
  await presentationIn(verifier.call, thid, 'RequestSent')
  return { thid, verifiers, provers }
}
type Requested = Awaited<ReturnType<typeof requested>>
const present = ({ provers }: Requested) =>
  ask('PATCH', `/${provers}`, { action: 'request-accept', proofId }, prover)

test('each step answers with its status and its state', async () => {
  const made = await request({ options })
  expect([made.status, made.body['status']]).toEqual([201, 'RequestPending'])
  const { thid, presentationId } = made.body as { thid: string; presentationId: string }
  const asked = await presentationIn(prover.call, thid, 'RequestReceived')
  const accepted = await present({ thid, verifiers: presentationId, provers: asked.presentationId })
  expect([accepted.status, accepted.body['status']]).toEqual([200, 'PresentationPending'])
  await presentationIn(verifier.call, thid, 'PresentationVerified')
  const closed = await ask('PATCH', `/${presentationId}`, { action: 'presentation-accept' })
  expect([closed.status, closed.body['status']]).toEqual([200, 'PresentationAccepted'])
  for (const path of ['', `/${presentationId}`]) expect((await ask('GET', path)).status).toBe(200)
})

test('a request by invitation is created with 201 and accepted with 200', async () => {
  const made = await ask('POST', '/invitation', {
    options,
    proofs: [],
    goalCode: 'present-vp',
    goal: 'Are you over 18?',
  })
  const { invitation, myDid, status, goal, goalCode } = made.body
  expect([made.status, status, goal, goalCode]).toEqual([
    201,
    'InvitationGenerated',
    'Are you over 18?',
    'present-vp',
  ])
  expect(made.body).not.toHaveProperty('connectionId')
  expect(invitation).toMatchObject({ id: made.body['thid'], from: myDid })
  const accepted = await ask('POST', '/accept-invitation', { invitation: oobOf({ invitation }) }, prover)
  expect([accepted.status, accepted.body['status'], accepted.body['role'], accepted.body['thid']]).toEqual([
    200,
    'RequestReceived',
    'Prover',
    made.body['thid'],
  ])
})

describe('a request', () => {
  test.each<[string, object]>([
    ['says nothing more', {}],
    ['has null for optional fields', { options: null, proofs: null, credentialFormat: null, claims: null }],
    ['has unknown members', { description: 'stray', anoncredPresentationRequest: null }],
    ['is bound to a challenge and a domain', { options }],
    ['asks for no proofs', { proofs: [] }],
    ['asks for a schema', { proofs: [{ schemaId }] }],
    ['asks for a schema of an issuer', { proofs: [{ schemaId, trustIssuers: ['did:prism:abc'] }] }],
    ['asks for several schemas', { proofs: [{ schemaId }, { schemaId: `${schemaId}/2` }] }],
    ['names its format', { credentialFormat: 'JWT' }],
    ['names its format by the other name', { presentationFormat: 'JWT' }],
    [
      'asks for claims of an SD-JWT',
      { credentialFormat: 'SDJWT', claims: { firstName: '{}', address: { city: '' } } },
    ],
    ['says what it is for', { goalCode: 'present-vp', goal: 'Age' }],
  ])('that %s is created', async (_, change) => {
    const { status, body } = await request(change)
    const { proofs } = { proofs: null, ...change }
    expect({ status, body }).toMatchObject({
      status: 201,
      body: { role: 'Verifier', connectionId, proofs: proofs ?? [], data: [] },
    })
    expect(body['requestData']).toEqual([expect.any(String)])
  })

  test.each<[string, object, RegExp, number?]>([
    ['without a connection', { connectionId: undefined }, /^connectionId: /],
    ['over no connection', { connectionId: 'x' }, /^connectionId: /],
    ['over an unknown connection', { connectionId: unknown }, /does not exist/, 404],
    ['with a challenge alone', { options: { challenge: 'x' } }, /^options\.domain: /],
    ['with a domain alone', { options: { domain: 'x' } }, /^options\.challenge: /],
    ['with a proof of no schema', { proofs: [{}] }, /^proofs\.0\.schemaId: /],
    ['with a proof that is none', { proofs: ['x'] }, /^proofs\.0: /],
    [
      'with an empty list of trusted issuers',
      { proofs: [{ schemaId, trustIssuers: 'did:prism:abc' }] },
      /^proofs\.0\.trustIssuers: /,
    ],
    ['of an unknown format', { credentialFormat: 'Paper' }, /^credentialFormat: /],
    ['of AnonCreds, for nothing', { credentialFormat: 'AnonCreds' }, /^anoncredPresentationRequest: /],
    ['of two formats', { credentialFormat: 'JWT', presentationFormat: 'SDJWT' }, /^presentationFormat: /],
    ['for claims of a JWT', { claims: { name: '' } }, /^claims: /],
    ['for claims that are a list', { credentialFormat: 'SDJWT', claims: ['name'] }, /^claims: /],
    ['by an unknown policy', { policyId: unknown }, /policy/i, 404],
    ['with an unknown way to check the status', { statusCheck: 'maybe' }, /^statusCheck: /],
  ])('%s is refused, and sends nothing', async (_, change, detail, status = 400) => {
    const count = async () =>
      (await verifier.call('GET /present-proof/presentations', { query: { limit: 1_000 } })).contents.length
    const before = await count()
    expect(await request(change)).toMatchObject({
      status,
      body: { status, detail: expect.stringMatching(detail) },
    })
    expect(await count()).toBe(before)
  })
})

const actions = {
  accept: { action: 'request-accept' },
  reject: { action: 'request-reject' },
  close: { action: 'presentation-accept' },
  turnDown: { action: 'presentation-reject' },
} as const
const names = Object.keys(actions) as (keyof typeof actions)[]

/** The state after each action that is possible. All others are refused, or `skipped` by this test. */
type Outcomes = Partial<Record<keyof typeof actions, string>> & { skipped?: (keyof typeof actions)[] }

const verified = async (it: Requested) => {
  await present(it)
  await presentationIn(verifier.call, it.thid, 'PresentationVerified')
}

describe.each<[string, 'provers' | 'verifiers', (it: Requested) => Promise<unknown>, Outcomes]>([
  [
    'a prover in RequestReceived',
    'provers',
    async () => undefined,
    { accept: 'PresentationPending', reject: 'RequestRejected' },
  ],
  [
    'a prover in RequestRejected',
    'provers',
    (it) => ask('PATCH', `/${it.provers}`, actions.reject, prover),
    { reject: 'RequestRejected' },
  ],
  [
    'a prover in PresentationSent',
    'provers',
    async (it) => [await present(it), await presentationIn(prover.call, it.thid, 'PresentationSent')],
    { skipped: ['accept'] },
  ],
  ['a verifier in RequestSent', 'verifiers', async () => undefined, {}],
  [
    'a verifier in PresentationVerified',
    'verifiers',
    verified,
    { close: 'PresentationAccepted', turnDown: 'PresentationRejected' },
  ],
  [
    'a verifier in PresentationRejected',
    'verifiers',
    async (it) => [await verified(it), await ask('PATCH', `/${it.verifiers}`, actions.turnDown)],
    { turnDown: 'PresentationRejected', skipped: ['accept', 'reject'] },
  ],
])('%s', (_, side, lead, { skipped = [], ...outcomes }) => {
  const rows = names.filter((name) => !skipped.includes(name)).map((name) => [name, outcomes[name]] as const)
  test.each(rows)('%s: %s', async (name, expected) => {
    const it = await requested()
    await lead(it)
    const whose = side === 'provers' ? prover : verifier
    const before = (await ask('GET', `/${it[side]}`, undefined, whose)).body
    const action = { ...actions[name], ...(name === 'accept' && { proofId }) }
    const { status, body } = await ask('PATCH', `/${it[side]}`, action, whose)
    if (expected !== undefined) return expect([status, body.status]).toEqual([200, expected])
    expect({ status, body }).toMatchObject({
      status: 400,
      body: { type: 'error:PresentationError:InvalidFlowStateError' },
    })
    expect((await ask('GET', `/${it[side]}`, undefined, whose)).body).toEqual(before)
  })
})

describe('an answer', () => {
  const accept = (change: object) => ({ ...actions.accept, ...change })
  const inFormat = (credentialFormat: string) => accept({ proofId: ['x'], credentialFormat })
  test.each<[string, object, RegExp, number?]>([
    ['without an action', {}, /^action: /],
    ['with an unknown action', { action: 'dance' }, /^action: /],
    ['with no credentials', accept({ proofId: [] }), /^proofId/],
    ['without credentials', accept({}), /^proofId/],
    ['with a credential that is not a list', accept({ proofId: 'x' }), /^proofId: /],
    ['with an unknown credential', accept({ proofId: [unknown] }), /0000/, 404],
    ['in another format', inFormat('SDJWT'), /^credentialFormat: the request is for JWT/],
    ['in an unknown format', inFormat('Paper'), /^credentialFormat: /],
  ])('%s is refused, and the request stays pending', async (_, body, detail, status = 400) => {
    const { provers } = await requested()
    expect(await ask('PATCH', `/${provers}`, body, prover)).toMatchObject({
      status,
      body: { detail: expect.stringMatching(detail) },
    })
    expect((await ask('GET', `/${provers}`, undefined, prover)).body['status']).toBe('RequestReceived')
  })
})

test.each([
  ['GET', ''],
  ['GET', '/candidates'],
  ['PATCH', ''],
  ['DELETE', ''],
])('%s %s of an unknown record, of another tenant’s, or with an invalid id: 404', async (method, end) => {
  const { verifiers } = await requested()
  const body = method === 'PATCH' ? actions.close : undefined
  for (const [id, tenant] of [
    [unknown, verifier],
    [verifiers, prover],
  ] as const) {
    expect(await ask(method, `/${id}${end}`, body, tenant)).toMatchObject({
      status: 404,
      body: { type: 'error:PresentationError:RecordIdNotFound' },
    })
  }
  expect(await ask(method, `/no-uuid${end}`, body)).toMatchObject({
    status: 404,
    body: { type: 'error:ResourcePathNotFound' },
  })
})

test('a record has exactly the documented fields on each side', async () => {
  const it = await requested({ options })
  await present(it)
  await presentationIn(verifier.call, it.thid, 'PresentationVerified')
  await presentationIn(prover.call, it.thid, 'PresentationSent')
  const vp = expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/)
  const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/)
  const both = {
    thid: it.thid,
    connectionId: expect.any(String),
    createdAt: time,
    updatedAt: time,
    proofs: [],
    data: [vp],
    requestData: [expect.any(String)],
    metaRetries: 5,
  }
  const verifiers = (await ask('GET', `/${it.verifiers}`)).body
  const ids = (id: string) => ({ presentationId: id, id })
  expect(verifiers).toEqual({
    ...both,
    ...ids(it.verifiers),
    role: 'Verifier',
    status: 'PresentationVerified',
    connectionId,
    verification: { issuersChecked: false, checks: expect.any(Array), credentials: expect.any(Array) },
  })
  const provers = (await ask('GET', `/${it.provers}`, undefined, prover)).body
  expect(provers).toEqual({ ...both, ...ids(it.provers), role: 'Prover', status: 'PresentationSent' })
  expect(JSON.parse(provers['requestData'][0])).toMatchObject({ options })
  expect(provers['requestData']).toEqual(verifiers['requestData'])
})

test('a list is paged, and filtered by thread', async () => {
  const tenant = await agent.newTenant('lister')
  const made: { presentationId: string; thid: string }[] = []
  for (let i = 0; i < 3; i++)
    made.push(await tenant.call('POST /present-proof/presentations/invitation', { body: {} }))
  const list = async (query: string) => (await ask('GET', query, undefined, tenant)).body
  const ids = ({ contents }: Record<string, any>) =>
    contents.map(({ presentationId }: { presentationId: string }) => presentationId)
  const path = '/present-proof/presentations'
  const all = await list('')
  expect(ids(all)).toEqual(made.map(({ presentationId }) => presentationId))
  expect(all).toMatchObject({ self: path, kind: 'Collection', pageOf: path })
  const second = await list('?limit=1&offset=1')
  expect([second['next'], second['previous'], ids(second)]).toEqual([
    `${path}?limit=1&offset=2`,
    `${path}?limit=1&offset=0`,
    [made[1]!.presentationId],
  ])
  expect(ids(await list(`?thid=${made[2]!.thid}`))).toEqual([made[2]!.presentationId])
  expect((await list('?thid=none'))['contents']).toEqual([])
  for (const query of ['?limit=0', '?limit=1001', '?offset=-1', '?limit=x'])
    expect((await ask('GET', query, undefined, tenant)).status).toBe(400)
})
