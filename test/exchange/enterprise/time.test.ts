/** Expiry of links, waiting callers, token exchange, events and rate limits of the enterprise suite. */
import { createLocalJWKSet, createRemoteJWKSet, decodeProtectedHeader, jwtVerify } from 'jose'
import { afterEach, expect, test, vi } from 'vitest'
import { sharedAgent, startAgent, type TestAgent } from '../../support/agent.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { ask } from '../../support/ask.ts'
import { keyOf, newHolder } from './_suite.ts'

const holder = newHolder()

afterEach(() => vi.useRealTimers())

const post = async (url: string, body: unknown) =>
  (await fetch(url, { method: 'POST', body: JSON.stringify(body) })).status
const begin = (agent: TestAgent) => agent.tenant('POST /did-authentication/challenges')
const request = (agent: TestAgent) => agent.tenant('POST /onboard/did-requests')
const readRequest = (agent: TestAgent, didRequestId: string, wait = 0) =>
  agent.tenant('GET /onboard/did-requests/{didRequestId}', { path: { didRequestId }, query: { wait } })
const readChallenge = (agent: TestAgent, challengeId: string, wait = 0) =>
  agent.tenant('GET /did-authentication/challenges/{challengeId}', { path: { challengeId }, query: { wait } })

test('an expired link accepts no answer, and its record does not change', async () => {
  const agent = await sharedAgent({ AUTH_CHALLENGE_EXPIRY: '0', DID_REQUEST_EXPIRY: '0' })
  const made = await begin(agent)
  expect(await post(made.challenge.submissionEndpoint, holder.answer(made.challenge.nonce))).toBe(410)
  expect(await post(made.challenge.submissionEndpoint, null)).toBe(410)
  expect(await readChallenge(agent, made.id)).toEqual(made)
  const requested = await request(agent)
  expect(await post(requested.didRequest.onboardEndpoint, { did: holder.did })).toBe(410)
  expect(await readRequest(agent, requested.id)).toEqual(requested)
  // Waiting for it returns at once.
  expect(await readChallenge(agent, made.id, 55)).toEqual(made)
})

test('setting the clock neither expires a link nor keeps it open', async () => {
  const agent = await sharedAgent({ AUTH_CHALLENGE_EXPIRY: '2 hours' })
  const made = await begin(agent)
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 86_400_000 })
  expect(await post(made.challenge.submissionEndpoint, holder.answer(made.challenge.nonce))).toBe(200)
  const { id } = made
  await agent.agent.wallets.use((await agent.agent.wallets.ids())[0]!, async (wallet) => {
    const set = (values: object) =>
      wallet.transaction((tx) =>
        tx.updateTable('enterprise_session').set(values).where('id', '=', id).execute(),
      )
    await set({ state: 'pending', submitted_at: null, ends: new Date(0).toISOString() })
    expect(await post(made.challenge.submissionEndpoint, holder.answer(made.challenge.nonce))).toBe(410)
    // Simulates a clock that was set back before this process started.
    await set({ begins: '2999-01-01T00:00:00.000Z', ends: '2999-01-01T02:00:00.000Z' })
    expect(await post(made.challenge.submissionEndpoint, holder.answer(made.challenge.nonce))).toBe(410)
  })
})

test('a waiting caller is notified when the answer arrives, not before', async () => {
  // Longer than a timer of the platform can run.
  const agent = await sharedAgent({ DID_REQUEST_EXPIRY: '30 days', AUTH_CHALLENGE_EXPIRY: '30 days' })
  const [made, requested] = [await begin(agent), await request(agent)]
  const waiting = [
    readChallenge(agent, made.id, 55),
    readChallenge(agent, made.id, 55),
    readRequest(agent, requested.id, 55),
  ]
  expect(
    await Promise.race([...waiting, new Promise((resolve) => setTimeout(resolve, 100, 'pending'))]),
  ).toBe('pending')
  expect(await post(made.challenge.submissionEndpoint, holder.answer(made.challenge.nonce))).toBe(200)
  expect(await post(requested.didRequest.onboardEndpoint, null)).toBe(400)
  expect(await Promise.all(waiting)).toMatchObject([
    { state: 'success', did: holder.did },
    { state: 'success' },
    { state: 'error', did: null },
  ])
  expect(await readChallenge(agent, made.id, 55)).toMatchObject({ state: 'success' })
})

test('a wait ends at its timeout, when the link expires, when the record is deleted, and when the agent stops', async () => {
  const agent = await sharedAgent({ AUTH_CHALLENGE_EXPIRY: '1' })
  const brief = await begin(agent)
  expect(await readChallenge(agent, brief.id, 55)).toEqual(brief)
  const requested = await request(agent)
  expect(await readRequest(agent, requested.id, 1)).toEqual(requested)
  await expect(readRequest(agent, requested.id, 56)).rejects.toMatchObject({
    problem: { type: '/errors/common/bad-request', detail: expect.stringContaining('wait') },
  })
  const { id: didRequestId } = await request(agent)
  const deleted = expect(readRequest(agent, didRequestId, 55)).rejects.toMatchObject({
    problem: { status: 404 },
  })
  await new Promise((resolve) => setTimeout(resolve, 50))
  await agent.tenant('DELETE /onboard/did-requests/{didRequestId}', { path: { didRequestId } })
  await deleted
  const stopped = readRequest(agent, requested.id, 55)
  await new Promise((resolve) => setTimeout(resolve, 50))
  agent.agent.notifier.close()
  expect(await stopped).toEqual(requested)
})

test('a success is exchanged once, by its own tenant, for a token that the published keys verify', async () => {
  const agent = await sharedAgent({
    AUTH_TOKEN_AUDIENCE: 'https://shop.example',
    AUTH_TOKEN_LIFETIME: '60',
  })
  const apiKey = keyOf(agent)
  const made = await begin(agent)
  const exchange = (key = apiKey) =>
    ask(agent, `POST /did-authentication/challenges/${made.id}/token`, { apiKey: key })
  expect(await exchange()).toMatchObject({
    status: 400,
    body: {
      type: '/errors/authenticate/challenge-not-successful',
      title: 'Challenge not successful',
      detail: expect.stringMatching(/pending/),
    },
  })
  expect(await post(made.challenge.submissionEndpoint, holder.answer(made.challenge.nonce))).toBe(200)
  const stranger = await agent.newTenant()
  expect(await exchange(stranger.apiKey)).toMatchObject({
    status: 404,
    body: { type: '/errors/authenticate/challenge-not-found' },
  })
  const { status, body } = await exchange()
  expect(status).toBe(200)
  const issuer = body.issuer as string
  expect(body).toEqual({
    token: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/),
    tokenType: 'Bearer',
    issuer: expect.stringMatching(new RegExp(`^${agent.url}/wallets/[0-9a-f-]{36}$`)),
    audience: 'https://shop.example',
    subject: holder.did,
    expireAt: expect.any(String),
  })
  const keys = createRemoteJWKSet(new URL(`${agent.url}/.well-known/jwks.json`))
  const { payload, protectedHeader } = await jwtVerify(body.token, keys, {
    issuer,
    audience: 'https://shop.example',
    algorithms: ['EdDSA'],
  })
  expect(payload).toMatchObject({ sub: holder.did, jti: expect.any(String) })
  expect(payload.exp! - payload.iat!).toBe(60)
  expect(protectedHeader).toMatchObject({ alg: 'EdDSA', typ: 'JWT', kid: expect.any(String) })

  expect(await exchange()).toMatchObject({
    status: 410,
    body: { type: '/errors/authenticate/token-expired' },
  })
  const inAnHour = new Date(Date.now() + 3_600_000)
  await expect(jwtVerify(body.token, keys, { issuer, currentDate: inAnHour })).rejects.toThrow(/exp/)
  await expect(
    jwtVerify(body.token, keys, { issuer: `${agent.url}/wallets/${stranger.walletId}` }),
  ).rejects.toThrow(/iss/)
  await expect(jwtVerify(body.token, keys, { issuer, audience: 'https://other.example' })).rejects.toThrow(
    /aud/,
  )

  const set = await ask(agent, 'GET /enterprise/.well-known/jwks.json')
  expect(set.headers.get('cache-control')).toBe('public, max-age=300')
  expect(set.body).toEqual({
    keys: [
      {
        kty: 'OKP',
        crv: 'Ed25519',
        x: expect.any(String),
        kid: decodeProtectedHeader(body.token).kid,
        alg: 'EdDSA',
        use: 'sig',
      },
    ],
  })
  expect((await jwtVerify(body.token, createLocalJWKSet(set.body), { issuer })).payload.sub).toBe(holder.did)
})

test('of concurrent exchanges, exactly one gets a token', async () => {
  const agent = await sharedAgent()
  const made = await begin(agent)
  await post(made.challenge.submissionEndpoint, holder.answer(made.challenge.nonce))
  const exchange = () =>
    ask(agent, `POST /did-authentication/challenges/${made.id}/token`, { apiKey: keyOf(agent) })
  const all = await Promise.all(Array.from({ length: 10 }, exchange))
  expect(all.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([
    200,
    ...Array.from({ length: 9 }, () => 410),
  ])
})

test('the key that signs tokens survives a restart, and each agent has its own', async () => {
  const keysAt = async (dataDir: string) => {
    await using agent = await startAgent({}, { dataDir })
    return (await ask(agent, 'GET /.well-known/jwks.json')).body.keys[0].x
  }
  await using folder = await temporaryFolder()
  await using another = await temporaryFolder()
  const first = await keysAt(folder.path)
  expect(await keysAt(folder.path)).toBe(first)
  expect(await keysAt(another.path)).not.toBe(first)
})

test('a token can be exchanged for a limited time only, and never for failed or deleted records', async () => {
  const agent = await sharedAgent()
  const exchange = (id: string) =>
    ask(agent, `POST /did-authentication/challenges/${id}/token`, { apiKey: keyOf(agent) })
  const [late, failed] = [await begin(agent), await begin(agent)]
  expect(await post(late.challenge.submissionEndpoint, holder.answer(late.challenge.nonce))).toBe(200)
  expect(await post(failed.challenge.submissionEndpoint, {})).toBe(400)
  expect(await exchange(failed.id)).toMatchObject({
    status: 400,
    body: { detail: expect.stringMatching(/error/) },
  })
  const [walletId] = await agent.agent.wallets.ids()
  const until = (ms: number) =>
    agent.agent.wallets.use(walletId!, (wallet) =>
      wallet.transaction((tx) =>
        tx
          .updateTable('enterprise_session')
          .set({ token_until: new Date(ms).toISOString() })
          .where('id', '=', late.id)
          .execute(),
      ),
    )
  await until(Date.now() - 60_000)
  expect(await exchange(late.id)).toMatchObject({ status: 410 })
  // Simulates a clock that was set back before this process started.
  await until(Date.now() + 3_600_000)
  expect(await exchange(late.id)).toMatchObject({ status: 410 })
  await until(Date.now() + 100_000)
  expect(await exchange(late.id)).toMatchObject({ status: 200 })
  await agent.tenant('DELETE /did-authentication/challenges/{challengeId}', {
    path: { challengeId: late.id },
  })
  expect(await exchange(late.id)).toMatchObject({ status: 404 })
})

test.each([
  [
    'true',
    [
      'DidRequestUpdated pending',
      'DidRequestUpdated success',
      'AuthenticationChallengeUpdated pending',
      'AuthenticationChallengeUpdated error',
    ],
  ],
  ['false', []],
])('ENTERPRISE_EVENTS=%s', async (ENTERPRISE_EVENTS, expected) => {
  await using agent = await startAgent({ ENTERPRISE_EVENTS })
  const requested = await request(agent)
  await post(requested.didRequest.onboardEndpoint, { did: holder.did })
  const challenge = await begin(agent)
  await post(challenge.challenge.submissionEndpoint, {})
  const [walletId] = await agent.agent.wallets.ids()
  const rows = await agent.agent.wallets.use(walletId!, (wallet) =>
    wallet.db.selectFrom('event').selectAll().orderBy('sequence').execute(),
  )
  expect(rows.map(({ type, data }) => `${type} ${JSON.parse(data).state}`)).toEqual(expected)
  if (rows.length > 0) {
    expect(JSON.parse(rows[1]!.data)).toEqual(await readRequest(agent, requested.id))
    expect(rows[3]!.subject).toBe(challenge.id)
  }
})

test('answers are rate-limited per address and per link', async () => {
  const agent = await sharedAgent({ ENTERPRISE_SUBMISSIONS_PER_MINUTE: '40' })
  const link = (await begin(agent)).challenge.submissionEndpoint
  const statuses: number[] = []
  for (let n = 0; n < 31; n++) statuses.push(await post(link, {}))
  expect(statuses).toEqual([400, ...Array.from({ length: 29 }, () => 410), 429])
  const made = await begin(agent)
  for (let n = 0; n < 9; n++) await post(`${agent.url}/onboard/guess`, {})
  const refused = await ask(agent, `POST ${made.challenge.submissionEndpoint}`, {
    body: holder.answer(made.challenge.nonce),
  })
  expect(refused).toMatchObject({
    status: 429,
    body: { type: '/errors/common/too-many-requests', title: 'Too many requests' },
  })
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
  // Answers above the limit have no effect.
  expect(await readChallenge(agent, made.id)).toMatchObject({ state: 'pending' })
})

test('behind a proxy, the client address is taken from the forwarded header', async () => {
  const agent = await sharedAgent({ ENTERPRISE_SUBMISSIONS_PER_MINUTE: '1', AGENT_TRUST_PROXY: 'true' })
  const from = async (address: string) => {
    const headers = { 'x-forwarded-for': `1.2.3.4, ${address}` }
    return (await fetch(`${agent.url}/onboard/guess`, { method: 'POST', headers })).status
  }
  expect([await from('203.0.113.1'), await from('203.0.113.2'), await from('203.0.113.1')]).toEqual([
    404, 404, 429,
  ])
})
