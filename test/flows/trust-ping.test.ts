/** Pings over a connection and to any DID: only the pinged DID can reply, and stored pings are limited. */
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { generateKey, toPublic } from '../../src/foundation/crypto/keys.ts'
import { createPeerDid } from '../../src/did/peer.ts'
import { toLongForm } from '../../src/did/prism/did.ts'
import { encryptedType } from '../../src/exchange/didcomm/jwe.ts'
import { packAuthcrypt } from '../../src/exchange/didcomm/pack.ts'
import { pingLimit, sendPing } from '../../src/exchange/protocols/trust-ping/flow.ts'
import type { SendPing } from '../../src/exchange/protocols/trust-ping/model.ts'
import { createBytes, key, masterKey } from '../did/prism/_make.ts'
import { sharedAgent, startAgent, type TestAgent } from '../support/agent.ts'
import { connect, refusal, startPair, until, type Tenant } from '../support/tenants.ts'
import { addressOf, openMediator, openParty, post, recipientOf, typesOf } from '../support/party.ts'
import { expectRefusal } from './_steps.ts'

const ping = 'https://didcomm.org/trust-ping/2.0/ping'
const pingResponse = 'https://didcomm.org/trust-ping/2.0/ping-response'

const send = ({ call }: Tenant, body: { did: string } | { connectionId: string }) =>
  call('POST /didcomm/pings', { body })
const read = ({ call }: Tenant, id: string) => call('GET /didcomm/pings/{id}', { path: { id } })
const answered = (tenant: Tenant, id: string) =>
  until(
    'the answer',
    () => read(tenant, id),
    ({ answeredAt }) => answeredAt !== undefined,
  )

async function startScene(variables = {}) {
  const agent = await startAgent(variables)
  return { agent, tenant: await agent.newTenant(), [Symbol.asyncDispose]: () => agent[Symbol.asyncDispose]() }
}

const rows = ({ agent }: TestAgent, { walletId }: Tenant) =>
  agent.wallets.use(walletId, async ({ db }) => ({
    pings: await db
      .selectFrom('ping')
      .select(['id', 'thid', 'answered_at', 'failure'])
      .orderBy('sequence')
      .execute(),
    peerDids: await db.selectFrom('peer_did').select(['did', 'record_id']).execute(),
    outbox: await db.selectFrom('job').select('id').execute(),
    inbox: await db.selectFrom('inbox').select('id').execute(),
    records: await db.selectFrom('record').selectAll().execute(),
    events: await db.selectFrom('event').selectAll().execute(),
  }))

/** A did:peer with an unreachable endpoint. */
function newPeer(serviceUri: string | string[]): string {
  return createPeerDid({
    keyAgreement: toPublic(generateKey('X25519')),
    authentication: toPublic(generateKey('Ed25519')),
    serviceUri,
  })
}

test('the first reply of the other side answers a ping over a connection', async () => {
  await using scene = await startScene()
  const { tenant } = scene
  await using party = await openParty()
  const { connectionId, theirDid } = await party.connect(tenant)
  const sent = await send(tenant, { connectionId })
  expect(sent).toEqual({
    id: expect.any(String),
    thid: expect.any(String),
    connectionId,
    did: party.did,
    sentAt: expect.any(String),
  })
  expect(await party.next(ping)).toMatchObject({
    id: sent.thid,
    from: theirDid,
    body: { response_requested: true },
  })
  await using stranger = await openParty()
  expect((await stranger.send(theirDid, { type: pingResponse, thid: sent.thid })).status).toBe(422)
  expect((await party.send(theirDid, { type: pingResponse, thid: randomUUID() })).status).toBe(200)
  expect(await read(tenant, sent.id)).toEqual(sent)
  expect((await party.send(theirDid, { type: pingResponse, thid: sent.thid })).status).toBe(200)
  const first = await read(tenant, sent.id)
  expect(first).toEqual({ ...sent, answeredAt: expect.any(String) })
  expect((await party.send(theirDid, { type: pingResponse, thid: sent.thid })).status).toBe(200)
  expect(await read(tenant, sent.id)).toEqual(first)
})

test('a reply over another connection is ignored', async () => {
  await using scene = await startScene()
  const { tenant } = scene
  await using asked = await openParty()
  await using other = await openParty()
  const { connectionId, theirDid } = await asked.connect(tenant)
  const { theirDid: otherDid } = await other.connect(tenant)
  const sent = await send(tenant, { connectionId })
  expect((await other.send(otherDid, { type: pingResponse, thid: sent.thid })).status).toBe(200)
  expect((await other.send(theirDid, { type: pingResponse, thid: sent.thid })).status).toBe(422)
  expect(await read(tenant, sent.id)).toEqual(sent)
})

test('two agents ping each other over a connection', async () => {
  await using pair = await startPair()
  const { inviterConnectionId, inviteeConnectionId } = await connect(pair.issuer, pair.holder)
  for (const [tenant, connectionId] of [
    [pair.issuer, inviterConnectionId],
    [pair.holder, inviteeConnectionId],
  ] as const) {
    await answered(tenant, (await send(tenant, { connectionId })).id)
  }
})

test('an agent replies to the holder of an unanswered invitation, and only to the connection after the answer', async () => {
  await using pair = await startPair()
  const { invitation } = await pair.issuer.call('POST /connections', { body: {} })
  const sent = await send(pair.holder, { did: invitation.from })
  expect(sent).toMatchObject({ did: invitation.from })
  expect(sent).not.toHaveProperty('connectionId')
  await answered(pair.holder, sent.id)
  expect((await rows(pair.agent, pair.holder)).records).toEqual([])

  await using party = await openParty()
  const { theirDid } = await party.connect(pair.issuer)
  const late = await send(pair.holder, { did: theirDid })
  const refused = await until(
    'the refusal',
    () => read(pair.holder, late.id),
    ({ failure }) => failure !== undefined,
  )
  expect(refused).toEqual({ ...late, failure: expect.stringContaining('422') })
})

test('a mediator answers pings, and forwards pings to the DIDs behind it', async () => {
  const host = await sharedAgent({ AGENT_MEDIATOR: 'true' })
  await using scene = await startScene()
  const { tenant } = scene
  await answered(tenant, (await send(tenant, { did: host.agent.mediator!.did })).id)

  await using mediator = await openMediator()
  await using party = await openParty({ uris: () => [mediator.did] })
  mediator.serve(party.did, party.url)
  const { id } = await send(tenant, { did: party.did })
  const { from, id: thid } = await party.next(ping)
  await party.send(from!, { type: pingResponse, thid })
  await answered(tenant, id)
})

test('every ping to a DID has a new sender DID, and only the pinged DID can answer it', async () => {
  await using scene = await startScene()
  const { agent, tenant } = scene
  await using party = await openParty()
  await using stranger = await openParty()
  const [one, two] = [await send(tenant, { did: party.did }), await send(tenant, { did: party.did })]
  const asked = [await party.next(ping), await party.next(ping)]
  const [{ from }, { from: otherFrom }] = [
    asked.find(({ id }) => id === one.thid)!,
    asked.find(({ id }) => id === two.thid)!,
  ]
  expect(from).not.toBe(otherFrom)

  const message = { type: pingResponse, thid: one.thid }
  const isIdle = ({ outbox }: { outbox: unknown[] }) => outbox.length === 0
  const before = await until('the jobs of the pings to be done', () => rows(agent, tenant), isIdle)
  const attempts = {
    'a stranger': await stranger.send(from!, message),
    'a stranger as the one asked': await stranger.send(
      from!,
      { ...message, from: party.did },
      'forged authcrypt',
    ),
    'anoncrypt as the pinged DID': await stranger.send(from!, { ...message, from: party.did }, 'anoncrypt'),
    'the one asked, without a proof': await party.send(from!, message, 'anoncrypt'),
    'the one asked, to another DID': await party.send(otherFrom!, message),
    'the one asked, about something else': await party.send(from!, { ...message, thid: randomUUID() }),
    'the one asked, with another message': await party.send(from!, { type: ping }),
  }
  for (const [who, { status }] of Object.entries(attempts)) expect(status, who).toBe(422)
  expect(await rows(agent, tenant)).toEqual(before)
  expect((await party.send(from!, message)).status).toBe(200)
  expect((await party.send(from!, message)).status).toBe(200)
  expect(await read(tenant, one.id)).toHaveProperty('answeredAt')
  expect(await read(tenant, two.id)).toEqual(two)
  expect((await rows(agent, tenant)).events).toEqual([])
})

test('a did:prism is pinged, and its reply is accepted only at the sender DID of that ping', async () => {
  await using scene = await startScene()
  const { tenant } = scene
  await using receiver = await openParty()
  const privateJwk = generateKey('X25519')
  const services = [{ id: 'didcomm', type: 'DIDCommMessaging', serviceEndpoint: receiver.url }]
  const agreement = { id: 'agree', usage: 'keyAgreement' as const, publicKey: toPublic(privateJwk) }
  const did = toLongForm(
    createBytes({ publicKeys: [masterKey, key('auth', 'authentication'), agreement], services }),
  )
  const sent = await send(tenant, { did })
  const { skid } = await until(
    'the ping',
    async () =>
      receiver.envelopes.map((envelope) =>
        JSON.parse(Buffer.from(JSON.parse(envelope).protected, 'base64url').toString()),
      ),
    (headers) => headers.length === 1,
  ).then(([header]) => header as { skid: string })
  const from = skid.split('#')[0]!
  const answer = (to: string) => {
    const message = { id: randomUUID(), type: pingResponse, from: did, to: [to], thid: sent.thid, body: {} }
    const sender = { kid: `${did}#agree`, privateJwk }
    return post(addressOf(to), packAuthcrypt(message, { sender, recipients: [recipientOf(to)] }))
  }
  const { invitation } = await tenant.call('POST /connections', { body: {} })
  expect(await answer(invitation.from)).toMatchObject({
    status: 422,
    detail: expect.stringContaining('did:peer'),
  })
  expect((await answer(from)).status).toBe(200)
  expect(await read(tenant, sent.id)).toEqual({ ...sent, answeredAt: expect.any(String) })
})

test('a target that cannot be pinged is refused with the reason, and no rows are created', async () => {
  await using scene = await startScene()
  const { agent, tenant } = scene
  const { connectionId: open } = await tenant.call('POST /connections', { body: {} })
  const before = await rows(agent, tenant)
  const prism = toLongForm(createBytes())
  const cases: [object, number, string][] = [
    [{ did: 'alice' }, 422, 'not a DID'],
    [{ did: 'did:peer:2.nonsense' }, 422, 'cannot be pinged'],
    [{ did: 'did:example:alice' }, 422, 'did:example is not supported'],
    [{ did: `did:prism:${'0'.repeat(64)}` }, 422, 'not published'],
    [{ did: newPeer([]) }, 422, 'no DIDComm service'],
    [{ did: newPeer('ws://127.0.0.1:1/ws') }, 422, 'no DIDComm service'],
    [{ did: prism }, 422, 'no X25519 key'],
    [{ connectionId: open }, 400, 'InvitationGenerated'],
    [{ connectionId: randomUUID() }, 404, 'does not exist'],
    [{ connectionId: 'mine' }, 400, 'connectionId'],
    [{}, 400, 'one of connectionId and did'],
    [{ connectionId: open, did: prism }, 400, 'one of connectionId and did'],
  ]
  for (const [body, status, reason] of cases) {
    const { status: found, detail } = await refusal(tenant.call('POST /didcomm/pings', { body }))
    expect([found, detail], JSON.stringify(body).slice(0, 100)).toEqual([
      status,
      expect.stringContaining(reason),
    ])
  }
  expect(await rows(agent, tenant)).toEqual(before)
  expect(await refusal(read(tenant, randomUUID()))).toMatchObject({ status: 404 })
})

test('a ping is visible to its own tenant only', async () => {
  await using pair = await startPair()
  const { id } = await send(pair.issuer, { did: newPeer('http://127.0.0.1:1') })
  expect(await refusal(read(pair.holder, id))).toMatchObject({ status: 404 })
})

test('old unanswered pings are deleted with their DIDs and messages, and late replies change nothing', async () => {
  await using scene = await startScene()
  const { agent, tenant } = scene
  await using party = await openParty({ answer: (response) => void response.writeHead(503).end() })
  const { inviterConnectionId: connectionId } = await connect(tenant, await agent.newTenant())
  const before = await rows(agent, tenant)
  const first = await send(tenant, { did: party.did })
  const { from } = await party.next(ping)
  // Without the worker: no job runs or is abandoned.
  await agent.agent.worker[Symbol.asyncDispose]()
  const sendMany = (body: SendPing) =>
    agent.agent.wallets.use(tenant.walletId, async (wallet) => {
      wallet.disown()
      for (let n = 0; n < pingLimit; n++) await sendPing(wallet, body)
    })
  await sendMany({ did: newPeer('http://127.0.0.1:1') })
  const after = await rows(agent, tenant)
  expect([after.pings.length, after.outbox.length]).toEqual([pingLimit, pingLimit])
  expect(after.peerDids).toHaveLength(before.peerDids.length + pingLimit)
  await expectRefusal(read(tenant, first.id), 404, String(pingLimit))
  expect((await party.send(from!, { type: pingResponse, thid: first.thid })).status).toBe(422)
  expect(await rows(agent, tenant)).toEqual(after)

  // Pings over a connection are deleted like all others, and the connection stays.
  await sendMany({ connectionId })
  const last = await rows(agent, tenant)
  expect([last.pings.length, last.outbox.length]).toEqual([pingLimit, pingLimit])
  await send(tenant, { connectionId })
  const end = await rows(agent, tenant)
  expect([end.peerDids, end.records]).toEqual([before.peerDids, before.records])
})

test('a reply counts even if the ping was abandoned', async () => {
  await using scene = await startScene({ MESSAGE_RETRY_FOR: '0' })
  const { tenant } = scene
  await using party = await openParty({ answer: (response) => void response.writeHead(503).end() })
  const sent = await send(tenant, { did: party.did })
  const failed = await until(
    'the end of the flow',
    () => read(tenant, sent.id),
    ({ failure }) => failure !== undefined,
  )
  expect(failed).toEqual({ ...sent, failure: expect.stringContaining('503') })
  const { from, id: thid } = await party.next(ping)
  expect((await party.send(from!, { type: pingResponse, thid })).status).toBe(200)
  expect(await read(tenant, sent.id)).toEqual({ ...sent, answeredAt: expect.any(String) })
})

test('pings from unknown senders are limited per minute by address and by invitation; connections have no limit', async () => {
  await using scene = await startScene({
    INVITATION_REPLIES_PER_MINUTE: '3',
    MEDIATOR_TRUST_PROXY: 'true',
    AGENT_ALLOW_PRIVATE_NETWORK: 'true',
  })
  const { tenant } = scene
  await using stranger = await openParty()
  const invite = async () => (await tenant.call('POST /connections', { body: {} })).invitation.from
  const pingFrom = async (address: string, to: string) => {
    const headers = { 'content-type': encryptedType, 'x-forwarded-for': address }
    return fetch(addressOf(to), { method: 'POST', headers, body: stranger.pack(to, { type: ping }) })
  }
  const [first, second] = [await invite(), await invite()]
  for (let count = 0; count < 3; count++) expect((await pingFrom('192.0.2.1', first)).status).toBe(200)
  // The limit of the address applies to every invitation, and the limit of the invitation to every address.
  for (const [address, to] of [
    ['192.0.2.1', second],
    ['192.0.2.2', first],
  ] as const) {
    const refused = await pingFrom(address, to)
    expect([refused.status, await refused.json()]).toEqual([
      429,
      expect.objectContaining({ type: 'TooManyRequests' }),
    ])
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
  }
  expect((await pingFrom('192.0.2.2', second)).status).toBe(200)
  await expect.poll(async () => (await stranger.open(), stranger.inbox.length)).toBe(4)

  const { theirDid } = await stranger.connect(tenant)
  for (let count = 0; count < 5; count++) expect((await pingFrom('192.0.2.1', theirDid)).status).toBe(200)
})

test('an unknown sender gets a limited number of reports per minute', async () => {
  await using scene = await startScene({ INVITATION_REPLIES_PER_MINUTE: '2' })
  await using first = await openParty()
  const { theirDid, thid } = await first.connect(scene.tenant)
  await using stranger = await openParty()
  const statuses: number[] = []
  for (let count = 0; count < 4; count++)
    statuses.push(
      (await stranger.send(theirDid, { type: typesOf.connectionRequest, thid, pthid: thid })).status,
    )
  expect(statuses).toEqual([400, 400, 429, 429])
  await expect.poll(async () => (await stranger.open(), stranger.inbox.length)).toBe(2)
})
