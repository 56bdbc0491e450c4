/**
 * The answering side of the enterprise suite: a wallet of this agent answers a DID request or challenge of
 * another agent.
 */
import { expect, test } from 'vitest'
import { startAgent } from '../../support/agent.ts'
import { newDid } from '../../support/tenants.ts'
import { Webhook } from '../../support/webhook.ts'
import { untilEnd } from '../../support/shared.ts'

const acme = await untilEnd(startAgent({ AUTH_DID_METHODS: 'peer, prism, web' }))
const theirs = await untilEnd(startAgent())
const alice = await theirs.newTenant()

const request = async (from?: string) => acme.tenant('POST /onboard/did-requests', { body: { from } })
const challenge = async (from?: string) =>
  acme.tenant('POST /did-authentication/challenges', { body: { from } })
const requestState = (didRequestId: string) =>
  acme.tenant('GET /onboard/did-requests/{didRequestId}', { path: { didRequestId } })
const challengeState = (challengeId: string) =>
  acme.tenant('GET /did-authentication/challenges/{challengeId}', { path: { challengeId } })
const peers = () =>
  theirs.agent.wallets
    .use(alice.walletId, (wallet) => wallet.db.selectFrom('peer_did').select('did').execute())
    .then((rows) => rows.length)

test('a new DID is submitted, and then signs in', async () => {
  const asked = await request('Acme')
  const answered = await alice.call('POST /onboard/answers', { body: { didRequest: asked.didRequest } })
  expect(answered).toEqual({
    endpoint: asked.didRequest.onboardEndpoint,
    from: 'Acme',
    did: expect.stringMatching(/^did:peer:2\.E[^.]+\.V[^.]+$/),
  })
  expect(await requestState(asked.id)).toMatchObject({ state: 'success', did: answered.did })
  const made = await challenge('Acme')
  const did = answered.did!
  expect(
    await alice.call('POST /did-authentication/answers', { body: { challenge: made.challenge, did } }),
  ).toMatchObject({ did })
  expect(await challengeState(made.id)).toMatchObject({ state: 'success', did })
  // No other wallet of the agent has it.
  const other = await theirs.newTenant()
  const body = { challenge: (await challenge()).challenge, did }
  await expect(other.call('POST /did-authentication/answers', { body })).rejects.toMatchObject({
    problem: { status: 404, type: '/errors/authenticate/did-not-in-wallet' },
  })
  await expect(
    other.call('POST /onboard/answers', { body: { ...(await request()), did } }),
  ).rejects.toMatchObject({
    problem: { status: 404, type: '/errors/onboard/did-not-in-wallet' },
  })
})

test.each(['secp256k1', 'Ed25519'] as const)(
  'a did:prism of the wallet signs in on %s where the method is allowed',
  async (curve) => {
    const { did } = await newDid(alice, 'authentication', curve)
    const asked = await request()
    expect(
      await alice.call('POST /onboard/answers', { body: { didRequest: asked.didRequest, did } }),
    ).toMatchObject({
      did: expect.any(String),
    })
    const made = await challenge()
    const answered = await alice.call('POST /did-authentication/answers', {
      body: { challenge: made.challenge, did },
    })
    expect(await challengeState(made.id)).toMatchObject({ state: 'success', did: answered.did })
    expect((await requestState(asked.id)).did).toBe(answered.did)
  },
)

test('a did:web of the wallet signs in; its document is fetched', async () => {
  const login = { id: 'login', purpose: 'authentication' as const, curve: 'Ed25519' as const }
  const body = {
    method: 'web' as const,
    name: 'alice',
    documentTemplate: { publicKeys: [login], services: [] },
  }
  const { longFormDid: did } = await alice.call('POST /did-registrar/dids', { body })
  expect(did).toMatch(/^did:web:127\.0\.0\.1%3A\d+:web:alice$/)
  const made = await challenge()
  await alice.call('POST /did-authentication/answers', { body: { challenge: made.challenge, did } })
  expect(await challengeState(made.id)).toMatchObject({ state: 'success', did })
})

test('a request is declined', async () => {
  const asked = await request()
  const answered = await alice.call('POST /onboard/answers', {
    body: { didRequest: asked.didRequest, decline: true },
  })
  expect(answered).toEqual({ endpoint: asked.didRequest.onboardEndpoint, did: null })
  expect(await requestState(asked.id)).toMatchObject({ state: 'error', did: null })
  const before = await peers()
  await expect(
    alice.call('POST /onboard/answers', { body: { didRequest: asked.didRequest } }),
  ).rejects.toMatchObject({
    problem: {
      status: 422,
      type: '/errors/onboard/submission-refused',
      detail: expect.stringContaining('used already'),
    },
  })
  // The DID that was created for it is deleted.
  expect(await peers()).toBe(before)
})

test('a challenge that another site presents as its own is not signed', async () => {
  const { challenge: made, id } = await challenge('Acme')
  const { did } = await alice.call('POST /onboard/answers', {
    body: { didRequest: (await request()).didRequest },
  })
  await using evil = await Webhook.open()
  for (const relayed of [
    { ...made, from: 'Bank' },
    { ...made, from: undefined },
    { ...made, submissionEndpoint: `${evil.url}/did-authentication/challenge-submissions/x` },
  ])
    await expect(
      alice.call('POST /did-authentication/answers', { body: { challenge: relayed, did: did! } }),
    ).rejects.toMatchObject({
      problem: {
        status: 400,
        type: '/errors/authenticate/foreign-challenge',
        detail: expect.stringContaining('Nothing was signed'),
      },
    })
  expect(await challengeState(id)).toMatchObject({ state: 'pending' })
  expect(evil.events).toEqual([])
})

test('an unreachable address is reported, and a public agent calls no private address', async () => {
  const didRequest = { onboardEndpoint: 'http://127.0.0.1:9/onboard/x' }
  const failure = { problem: { status: 502, type: '/errors/common/unreachable' } }
  await expect(
    alice.call('POST /onboard/answers', { body: { didRequest, decline: true } }),
  ).rejects.toMatchObject(failure)
  for (const onboardEndpoint of ['http://169.254.169.254/latest', 'http://10.0.0.1/x'])
    await expect(
      alice.call('POST /onboard/answers', { body: { didRequest: { onboardEndpoint }, decline: true } }),
    ).rejects.toMatchObject(failure)
  for (const body of [{ didRequest: { onboardEndpoint: 'ftp://example.com' } }, { didRequest: {} }, {}])
    expect(
      (
        await theirs.send('POST', '/onboard/answers', {
          headers: { apikey: alice.apiKey },
          body: JSON.stringify(body),
        })
      ).status,
    ).toBe(400)
})
