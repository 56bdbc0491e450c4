/** The endpoints of the enterprise suite over HTTP: statuses, bodies and errors. */
import { describe, expect, test } from 'vitest'
import { sharedAgent, startAgent } from '../../support/agent.ts'
import { ask, type Reply } from '../../support/ask.ts'
import { bareUuid, keyOf, newHolder, signed } from './_suite.ts'
import { untilEnd } from '../../support/shared.ts'

const agent = await untilEnd(startAgent({ ENTERPRISE_SUBMISSIONS_PER_MINUTE: '100000' }))
const apiKey = keyOf(agent)
const foreignKey = (await agent.newTenant()).apiKey

const holder = newHolder()
const uuid = expect.stringMatching(bareUuid)
const timestamp = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/)

const asTenant = (key: string, body?: unknown) => ask(agent, key, { apiKey, body })
const submit = (endpoint: string, body: unknown, type?: string) =>
  ask(agent, `POST ${endpoint}`, { body, ...(type && { type }) })

const products = {
  onboard: {
    collection: '/onboard/did-requests',
    begin: async (body?: unknown) => (await asTenant('POST /onboard/did-requests', body)).body,
    endpoint: (made: any): string => made.didRequest.onboardEndpoint,
    answer: (_made: any): unknown => ({ did: holder.did }),
    notFound: { type: '/errors/onboard/did-request-not-found', title: 'DID request not found', status: 404 },
    gone: { type: '/errors/onboard/did-request-expired', title: 'DID request expired', status: 410 },
    refused: { type: '/errors/onboard/invalid-did', title: 'Invalid DID', status: 400 },
    accepted: { title: 'DID received', detail: expect.any(String), status: 200 },
  },
  authenticate: {
    collection: '/did-authentication/challenges',
    begin: async (body?: unknown) => (await asTenant('POST /did-authentication/challenges', body)).body,
    endpoint: (made: any): string => made.challenge.submissionEndpoint,
    answer: (made: any): unknown => holder.answer(made.challenge.nonce),
    notFound: { type: '/errors/authenticate/challenge-not-found', title: 'Challenge not found', status: 404 },
    gone: { type: '/errors/authenticate/challenge-expired', title: 'Session expired', status: 410 },
    refused: {
      type: '/errors/authenticate/invalid-challenge-response',
      title: 'Invalid challenge response submitted',
      status: 400,
    },
    accepted: { title: 'Authentication successful', detail: expect.any(String), status: 200 },
  },
} as const

/** A problem has exactly these five members. */
function expectProblem(
  { status, body, headers }: Reply,
  problem: { type: string; title: string; status: number },
  detail?: RegExp,
) {
  expect({ status, body }).toEqual({
    status: problem.status,
    body: { ...problem, detail: expect.any(String), instance: uuid },
  })
  expect(headers.get('content-type')).toBe('application/json')
  if (detail) expect(body.detail).toMatch(detail)
}

const badRequest = { type: '/errors/common/bad-request', title: 'Bad request', status: 400 }
const unauthorized = { type: '/errors/common/unauthorized', title: 'Unauthorized', status: 401 }

test('a DID request has exactly the documented fields', async () => {
  const made = await asTenant('POST /onboard/did-requests', { from: 'Acme' })
  expect(made.status).toBe(200)
  const { id } = made.body
  expect(made.body).toEqual({
    self: `${agent.url}/did-requests/${id}`,
    kind: 'DidRequestState',
    shortUrl: expect.stringMatching(/\/i\?_oobid=[\w-]{16}$/),
    id: expect.any(String),
    didRequest: {
      type: 'https://atalaprism.io/did-request',
      onboardEndpoint: expect.stringMatching(
        new RegExp(`^${agent.url}/onboard/[1-9A-HJ-NP-Za-km-z]{50,60}$`),
      ),
      from: 'Acme',
    },
    did: null,
    state: 'pending',
    createdAt: timestamp,
    updatedAt: timestamp,
  })
  expect(made.body.didRequest.onboardEndpoint).not.toContain(id)
  expect((await ask(agent, `GET ${made.body.self}`, { apiKey })).body).toEqual(made.body)
})

test('a challenge has exactly the documented fields', async () => {
  const made = await asTenant('POST /did-authentication/challenges', { from: 'Acme' })
  expect(made.status).toBe(200)
  const { id, challenge, createdAt } = made.body
  expect(made.body).toEqual({
    self: `${agent.url}/did-authentication/challenges/${id}`,
    kind: 'AuthenticationChallengeState',
    shortUrl: expect.stringMatching(/\/i\?_oobid=[\w-]{16}$/),
    id: expect.any(String),
    challenge: {
      type: 'https://atalaprism.io/authentication-challenge',
      submissionEndpoint: expect.stringMatching(
        new RegExp(`^${agent.url}/did-authentication/challenge-submissions/[1-9A-HJ-NP-Za-km-z]{50,60}$`),
      ),
      nonce: expect.stringMatching(/^authenticate-[A-Za-z0-9+/]+={0,2}$/),
      from: 'Acme',
      expireAt: timestamp,
    },
    did: null,
    state: 'pending',
    createdAt: timestamp,
    updatedAt: timestamp,
  })
  expect(Date.parse(challenge.expireAt) - Date.parse(createdAt)).toBe(120_000)
  expect(challenge.submissionEndpoint).not.toContain(id)
  const said = JSON.parse(Buffer.from(challenge.nonce.slice('authenticate-'.length), 'base64').toString())
  expect(said).toEqual({ id: uuid, aud: agent.url, from: 'Acme' })
  expect((await ask(agent, `GET ${made.body.self}`, { apiKey })).body).toEqual(made.body)
})

describe.each(Object.entries(products))('%s', (name, product) => {
  const { collection, begin, endpoint, answer, notFound, gone, refused, accepted } = product
  const read = async (id: string) => (await asTenant(`GET ${collection}/${id}`)).body

  test('create: accepts no body, an empty body, and null; `from` is optional', async () => {
    for (const body of [undefined, '', 'null', '{}', '{"from":null}', '{"other":1}']) {
      const made = await asTenant(`POST ${collection}`, body)
      expect(made, String(body)).toMatchObject({ status: 200, body: { state: 'pending', did: null } })
      expect('from' in (made.body.didRequest ?? made.body.challenge)).toBe(false)
    }
  })

  test('create: `from` has at most 1000 characters, of any kind', async () => {
    for (const from of ['a'.repeat(1_000), '💶'.repeat(1_000), '']) {
      const { didRequest, challenge } = await begin({ from })
      expect((didRequest ?? challenge).from).toBe(from)
    }
    for (const from of ['a'.repeat(1_001), 7, ['Acme'], '\ud83d'])
      expectProblem(await asTenant(`POST ${collection}`, { from }), badRequest, /from: /)
    expectProblem(await asTenant(`POST ${collection}`, '{"from"'), badRequest)
    expectProblem(await ask(agent, `POST ${collection}`, { apiKey, body: '{}', type: 'text/plain' }), {
      type: '/errors/common/unsupported-media-type',
      title: 'Unsupported media type',
      status: 415,
    })
  })

  test('list: a paged collection of the tenant’s records in order of creation', async () => {
    const made = [(await begin()).id, (await begin()).id]
    const { status, body } = await asTenant(`GET ${collection}?limit=1000`)
    const self = `${agent.url}${collection.replace('/onboard', '')}`
    expect({ status, body }).toEqual({
      status: 200,
      body: { self, kind: 'Collection', pageOf: self, contents: expect.any(Array) },
    })
    expect(body.contents.map(({ id }: any) => id).slice(-2)).toEqual(made)
    const page = (await asTenant(`GET ${collection}?limit=1`)).body
    expect(page).toMatchObject({ next: `${self}?offset=1&limit=1`, contents: [{ id: body.contents[0].id }] })
    expect((await ask(agent, `GET ${page.next}`, { apiKey })).body.contents).toEqual([body.contents[1]])
    expectProblem(await asTenant(`GET ${collection}?limit=0`), badRequest, /limit/)
    expect((await ask(agent, `GET ${collection}`, { apiKey: foreignKey })).body.contents).toEqual([])
  })

  test('a valid answer changes pending to success, and later answers are refused', async () => {
    const made = await begin()
    const answered = await submit(endpoint(made), answer(made))
    expect(answered).toMatchObject({ status: 200 })
    expect(answered.body).toEqual(accepted)
    const now = await read(made.id)
    expect(now).toEqual({ ...made, did: holder.did, state: 'success', updatedAt: timestamp })
    expect(now.updatedAt >= made.updatedAt).toBe(true)
    expectProblem(await submit(endpoint(made), answer(made)), gone)
    expectProblem(await submit(endpoint(made), null), gone)
    expect(await read(made.id)).toEqual(now)
  })

  test('an invalid answer changes pending to error, and later answers are refused', async () => {
    for (const body of [
      'null',
      '',
      '{}',
      '[]',
      '{"did":null}',
      '{"did":',
      'did',
      '{"did":7}',
      '[{"did":1}]',
      `${'['.repeat(90)}${']'.repeat(90)}`,
    ]) {
      const made = await begin()
      expectProblem(await submit(endpoint(made), body), refused)
      expect(await read(made.id), body).toEqual({ ...made, state: 'error', updatedAt: timestamp })
      expectProblem(await submit(endpoint(made), answer(made)), gone)
    }
  })

  test('a body that is too large or cannot be decompressed is an invalid answer', async () => {
    const made = await begin()
    expectProblem(await submit(endpoint(made), JSON.stringify({ did: 'x'.repeat(1_100_000) })), refused)
    expect(await read(made.id)).toMatchObject({ state: 'error' })
    const second = await begin()
    const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' }
    expect((await fetch(endpoint(second), { method: 'POST', headers, body: 'not gzip' })).status).toBe(400)
    expect(await read(second.id)).toMatchObject({ state: 'error' })
  })

  test('JSON is accepted as text/plain and other generic content types', async () => {
    for (const type of [
      'text/plain',
      'text/plain; charset=UTF-8',
      'application/x-www-form-urlencoded',
      'application/octet-stream',
    ]) {
      const made = await begin()
      expect(await submit(endpoint(made), JSON.stringify(answer(made)), type), type).toMatchObject({
        status: 200,
      })
    }
  })

  test('a DID has at most 4000 characters', async () => {
    const made = await begin()
    expectProblem(
      await submit(endpoint(made), { ...(answer(made) as object), did: `did:example:${'a'.repeat(3_989)}` }),
      refused,
      /did: .*4000/,
    )
  })

  test('delete: removes the record and its link', async () => {
    const made = await begin()
    const deleted = await asTenant(`DELETE ${collection}/${made.id}`)
    expect(deleted).toMatchObject({ status: 200 })
    expect(deleted.body).toEqual({
      title: expect.stringMatching(/deleted$/),
      detail: expect.stringContaining(made.id),
      status: 200,
    })
    expectProblem(await asTenant(`DELETE ${collection}/${made.id}`), notFound, new RegExp(made.id))
    expectProblem(await asTenant(`GET ${collection}/${made.id}`), notFound, new RegExp(made.id))
    expectProblem(await submit(endpoint(made), answer(made)), gone)
  })

  test('a missing record and another tenant’s record get the same 404', async () => {
    const made = await begin()
    for (const method of ['GET', 'DELETE']) {
      expectProblem(await asTenant(`${method} ${collection}/nothing`), notFound)
      const foreign = await ask(agent, `${method} ${collection}/${made.id}`, { apiKey: foreignKey })
      expectProblem(foreign, notFound)
      expect(foreign.body.detail).toMatch(/^There is no [A-Za-z ]+ \S+\.$/)
    }
    expect(await read(made.id)).toEqual(made)
  })

  test('ids in paths have at most 100 characters', async () => {
    const long = 'x'.repeat(101)
    const ids = name === 'onboard' ? notFound : badRequest
    expectProblem(await asTenant(`GET ${collection}/${long}`), ids)
    expectProblem(await asTenant(`DELETE ${collection}/${long}`), notFound)
    const link = endpoint(await begin())
    expectProblem(await submit(link.replace(/[^/]+$/, long), {}), badRequest)
    expectProblem(await submit(link.replace(/[^/]+$/, 'x'.repeat(100)), {}), notFound)
  })

  test('a link that the agent did not issue is 404: invented, altered, or of the other product', async () => {
    const made = await begin()
    const link = endpoint(made)
    const changed = link.slice(0, -1) + (link.endsWith('1') ? '2' : '1')
    const others = products[name === 'onboard' ? 'authenticate' : 'onboard']
    const other = others.endpoint(await others.begin())
    for (const wrong of [
      changed,
      link.replace(/[^/]+$/, other.split('/').at(-1)!),
      link.replace(/[^/]+$/, made.id),
    ])
      expectProblem(await submit(wrong, answer(made)), notFound, /did not issue the link/)
    expect(await read(made.id)).toEqual(made)
  })

  test('protected operations require an `apikey` and refuse in the suite’s format; answers need no key', async () => {
    const made = await begin()
    for (const key of [
      `POST ${collection}`,
      `GET ${collection}`,
      `GET ${collection}/${made.id}`,
      `DELETE ${collection}/${made.id}`,
    ]) {
      expectProblem(await ask(agent, key), unauthorized, /apikey/i)
      expectProblem(await ask(agent, key, { apiKey: 'unknown' }), unauthorized)
    }
    expect(await submit(endpoint(made), answer(made))).toMatchObject({ status: 200 })
  })

  test('every operation is available under /enterprise, DID requests also without /onboard, and nothing else is', async () => {
    for (const base of [
      '/enterprise',
      '/cloud-agent',
      '/prism-agent',
      '/cloud-agent/enterprise',
      '/',
      '//cloud-agent///enterprise/',
    ]) {
      for (const path of [collection, `${collection}/`, collection.replace('/onboard', '')]) {
        const made = await asTenant(`POST ${base}${path}`)
        expect(made, base + path).toMatchObject({ status: 200 })
        expect(await asTenant(`GET ${base}${path.replace(/\/$/, '')}/${made.body.id}`)).toMatchObject({
          status: 200,
          body: made.body,
        })
        const link = endpoint(made.body).slice(agent.url.length)
        expect(await submit(`${base}${link}`, answer(made.body))).toMatchObject({ status: 200 })
        expect(await asTenant(`DELETE ${base}${path.replace(/\/$/, '')}/${made.body.id}`)).toMatchObject({
          status: 200,
        })
      }
    }
    for (const path of [
      '/enterprise/connections',
      '/enterprise',
      '/enterprise/wallets',
      '/enterprise/did-registrar/dids',
    ])
      expect(await asTenant(`GET ${path}`)).toMatchObject({
        status: 404,
        body: { type: 'error:ResourcePathNotFound' },
      })
  })
})

test('two challenges have different nonces, and an answer to one is not valid for the other', async () => {
  const [first, second] = [await products.authenticate.begin(), await products.authenticate.begin()]
  expect(first.challenge.nonce).not.toBe(second.challenge.nonce)
  expectProblem(
    await submit(second.challenge.submissionEndpoint, holder.answer(first.challenge.nonce)),
    products.authenticate.refused,
  )
})

test('the nonce contains the requester’s name, so an answer to one requester is not valid for another', async () => {
  const { challenge } = await products.authenticate.begin({ from: 'Acme' })
  const forged = Buffer.from(challenge.nonce.slice('authenticate-'.length), 'base64')
    .toString()
    .replace('Acme', 'Evil')
  const signature = signed(holder.key, `authenticate-${Buffer.from(forged).toString('base64')}`)
  expectProblem(
    await submit(challenge.submissionEndpoint, { did: holder.did, signature }),
    products.authenticate.refused,
  )
})

test('an internal failure is 500 with the suite’s body and reveals no details', async () => {
  const broken = await sharedAgent()
  const { id, challenge } = await broken.tenant('POST /did-authentication/challenges')
  const request = await broken.tenant('POST /onboard/did-requests')
  const [walletId] = await broken.agent.wallets.ids()
  await broken.agent.wallets.use(walletId!, (wallet) =>
    wallet.db.schema.dropTable('enterprise_session').execute(),
  )
  const internal = { type: '/errors/common/internal', title: 'Internal', status: 500 }
  for (const key of [
    'POST /onboard/did-requests',
    'GET /onboard/did-requests',
    `GET /onboard/did-requests/${request.id}`,
    `DELETE /onboard/did-requests/${request.id}`,
    `POST ${request.didRequest.onboardEndpoint}`,
    'POST /did-authentication/challenges',
    'GET /did-authentication/challenges',
    `GET /did-authentication/challenges/${id}`,
    `DELETE /did-authentication/challenges/${id}`,
    `POST ${challenge.submissionEndpoint}`,
  ]) {
    const reply = await ask(broken, key, { apiKey: keyOf(broken) })
    expectProblem(reply, internal)
    expect(reply.body.detail).not.toContain('enterprise_session')
  }
})
