/** Wallets behind mediators: the envelopes that the agent sends, and retries. */
import { expect, test } from 'vitest'
import { keysFor } from '../../src/did/document.ts'
import { resolvePeerDid } from '../../src/did/peer.ts'
import { readRetryAfter } from '../../src/exchange/engine/send.ts'
import { startPair, until } from '../support/tenants.ts'
import { addressOf, openMediator, openParty, post } from '../support/party.ts'

const messageType = 'https://didcomm.org/basicmessage/2.0/message'
const requestType = 'https://atalaprism.io/mercury/connections/1.0/request'
const responseType = 'https://atalaprism.io/mercury/connections/1.0/response'

test('a wallet behind a mediator gets its messages through it, and the mediator does not learn the sender', async () => {
  await using pair = await startPair()
  await using mediator = await openMediator({ uris: (own) => ['ws://127.0.0.1:1/ws', own] })
  await using wallet = await openParty({ uris: () => [mediator.did] })
  mediator.serve(wallet.did, wallet.url)
  const { connectionId, theirDid } = await wallet.connect(pair.issuer)
  await wallet.next(responseType)
  await pair.issuer.call('POST /messages', { body: { connectionId, content: 'through the mediator' } })
  expect((await wallet.next(messageType)).body).toEqual({ content: 'through the mediator' })
  expect(wallet.inbox.map(({ authenticated, message }) => [authenticated, message.from])).toEqual([
    [true, theirDid],
    [true, theirDid],
  ])
  expect(mediator.forwards).toEqual([
    { next: wallet.did, from: undefined },
    { next: wallet.did, from: undefined },
  ])
  const header = JSON.parse(mediator.envelopes[0]!) as { recipients: { header: { kid: string } }[] }
  expect(header.recipients.map(({ header: { kid } }) => kid)).toEqual([
    keysFor(resolvePeerDid(mediator.did), 'keyAgreement')[0]!.id,
  ])
})

test('through two mediators a message is wrapped twice', async () => {
  await using pair = await startPair()
  await using outer = await openMediator()
  await using inner = await openMediator({ uris: () => [outer.did] })
  await using wallet = await openParty({ uris: () => [inner.did] })
  outer.serve(inner.did, inner.url)
  inner.serve(wallet.did, wallet.url)
  const { theirDid } = await wallet.connect(pair.issuer)
  expect(await wallet.next(responseType)).toMatchObject({ from: theirDid, to: [wallet.did] })
  expect([outer.forwards, inner.forwards]).toEqual([
    [{ next: inner.did, from: undefined }],
    [{ next: wallet.did, from: undefined }],
  ])
})

test('every attempt sends a new envelope with the same message', async () => {
  await using pair = await startPair()
  let refusals = 2
  await using wallet = await openParty({
    answer: (response) => response.writeHead(refusals-- > 0 ? 503 : 200).end(),
  })
  const { connectionId } = await wallet.connect(pair.issuer)
  await wallet.next(responseType)
  expect(wallet.envelopes).toHaveLength(3)
  const parts = wallet.envelopes.map((envelope) => JSON.parse(envelope) as { ciphertext: string; iv: string })
  expect(new Set(parts.map(({ ciphertext }) => ciphertext)).size).toBe(3)
  await pair.issuer.call('POST /messages', { body: { connectionId, content: 'x' } })
  await wallet.next(messageType)
  expect(new Set(wallet.inbox.slice(0, 3).map(({ message }) => message.id)).size).toBe(1)
})

/** The connection of a wallet whose endpoint answers with a status. */
async function connectTo(
  answer: number,
  {
    variables = {},
    headers = {},
  }: { variables?: Record<string, string>; headers?: Record<string, string> } = {},
) {
  const pair = await startPair(variables)
  const wallet = await openParty({ answer: (response) => response.writeHead(answer, headers).end() })
  const { connectionId, thid, invitation } = await pair.issuer.call('POST /connections', { body: {} })
  await wallet.send(invitation.from, { type: requestType, thid, pthid: thid })
  return {
    read: () => pair.issuer.call('GET /connections/{connectionId}', { path: { connectionId } }),
    jobs: () =>
      pair.agent.agent.wallets.use(pair.issuer.walletId, ({ db }) =>
        db.selectFrom('job').select(['attempts', 'due_at']).execute(),
      ),
    wallet,
    async [Symbol.asyncDispose]() {
      await wallet[Symbol.asyncDispose]()
      await pair[Symbol.asyncDispose]()
    },
  }
}

test.each([400, 404, 410, 422])(
  '%i is a permanent failure: the record has the reason, and the job is deleted',
  async (status) => {
    await using scene = await connectTo(status)
    const given = await until('the end of the flow', scene.read, ({ metaRetries }) => metaRetries === 0)
    expect(given).toMatchObject({
      state: 'ConnectionResponsePending',
      metaLastFailure: { detail: expect.stringContaining(String(status)) },
    })
    expect(await scene.jobs()).toEqual([])
    expect(scene.wallet.envelopes).toHaveLength(1)
  },
)

test.each([408, 425, 429, 500, 502, 503])('%i is retried', async (status) => {
  await using scene = await connectTo(status)
  await until(
    'a second attempt',
    () => Promise.resolve(scene.wallet.envelopes.length),
    (count) => count >= 2,
  )
  const [job] = await until('its job', scene.jobs, (jobs) => jobs.length > 0 && jobs[0]!.attempts > 0)
  expect(Date.parse(job!.due_at)).toBeGreaterThan(0)
})

test('a message that is not accepted for MESSAGE_RETRY_FOR is abandoned, and the record stores why', async () => {
  await using scene = await connectTo(503, { variables: { MESSAGE_RETRY_FOR: '1' } })
  const given = await until(
    'the end of the flow',
    scene.read,
    ({ metaLastFailure }) => metaLastFailure?.detail?.startsWith('Abandoned') ?? false,
  )
  expect(given).toMatchObject({ state: 'ConnectionResponsePending', metaRetries: 0 })
  expect(given.metaLastFailure?.detail).toMatch(/^Abandoned after \d+ attempts since .*503/)
  expect(await scene.jobs()).toEqual([])
  expect(scene.wallet.envelopes.length).toBeGreaterThanOrEqual(2)
})

test('Retry-After is seconds or a date, limited to one hour', () => {
  const now = Date.parse('2026-01-01T00:00:00Z')
  const read = (value?: string) => readRetryAfter(value, now)
  expect([read('0'), read('120'), read('Thu, 01 Jan 2026 00:00:30 GMT')]).toEqual([0, 120_000, 30_000])
  expect([read('86400'), read('9999999999'), read('Fri, 01 Jan 2027 00:00:00 GMT')]).toEqual([
    3_600_000, 3_600_000, 3_600_000,
  ])
  expect([
    read(),
    read(''),
    read('soon'),
    read('-5'),
    read('1.5e9'),
    read('Wed, 31 Dec 2025 00:00:00 GMT'),
  ]).toEqual(Array(6).fill(undefined))
})

test('an endpoint with Retry-After gets no request before that time', async () => {
  await using scene = await connectTo(503, { headers: { 'retry-after': '600' } })
  const [job] = await until('the attempt', scene.jobs, ([first]) => first !== undefined && first.attempts > 0)
  const waitMs = Date.parse(job!.due_at) - Date.now()
  expect(waitMs).toBeGreaterThan(500_000)
  expect(waitMs).toBeLessThanOrEqual(600_000)
})

test('a message to a DID without a route is abandoned at once, and no did:web is requested', async () => {
  await using pair = await startPair()
  for (const uri of ['did:web:127.0.0.1', 'ws://127.0.0.1:1/ws', 'did:peer:2.Ez6LSbad']) {
    await using wallet = await openParty({ uris: () => [uri] })
    const { connectionId, thid, invitation } = await pair.issuer.call('POST /connections', { body: {} })
    expect(
      (
        await post(
          addressOf(invitation.from),
          wallet.pack(invitation.from, { type: requestType, thid, pthid: thid }),
        )
      ).status,
    ).toBe(200)
    const read = () => pair.issuer.call('GET /connections/{connectionId}', { path: { connectionId } })
    const given = await until('the end of the flow', read, ({ metaRetries }) => metaRetries === 0)
    expect(given.metaLastFailure?.detail, uri).toMatch(/does not resolve|no DIDComm service/)
  }
})
