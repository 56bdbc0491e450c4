/** Trust Ping, Discover Features, Basic Message, Empty and Revocation Notification, over connections only. */
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { getRecord } from '../../src/exchange/engine/find.ts'
import { issueCredential } from '../../src/exchange/issuance/model.ts'
import { enqueueRevocation } from '../../src/exchange/issuance/revocation-notification.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { connect, connectionIn, credentialIn, refusal, until, type Tenant } from '../support/tenants.ts'
import { openParty } from '../support/party.ts'
import { startWithCredential, startWithParty } from './_steps.ts'
import { startAgent, startPair } from '../support/agent-from-sources.ts'

const ping = 'https://didcomm.org/trust-ping/2.0/ping'
const pingResponse = 'https://didcomm.org/trust-ping/2.0/ping-response'
const queries = 'https://didcomm.org/discover-features/2.0/queries'
const disclose = 'https://didcomm.org/discover-features/2.0/disclose'
const basic = 'https://didcomm.org/basicmessage/2.0/message'
const empty = 'https://didcomm.org/empty/1.0/empty'
const revoke = 'https://atalaprism.io/revocation_notification/1.0/revoke'
const report = 'https://didcomm.org/report-problem/2.0/problem-report'
const connectionResponse = 'https://atalaprism.io/mercury/connections/1.0/response'

const rows = (agent: Awaited<ReturnType<typeof startAgent>>, { walletId }: Tenant) =>
  agent.agent.wallets.use(walletId, async ({ db }) => ({
    outbox: await db.selectFrom('job').select(['queue', 'kind', 'body']).execute(),
    inbox: await db.selectFrom('inbox').select('id').execute(),
    messages: await db.selectFrom('message').selectAll().execute(),
    records: await db.selectFrom('record').selectAll().execute(),
    events: await db.selectFrom('event').selectAll().execute(),
  }))

test('a ping is answered in its thread if it requests a response', async () => {
  await using scene = await startWithParty()
  const { party, say } = scene
  for (const body of [
    {},
    { response_requested: true },
    { response_requested: null },
    { response_requested: 'maybe' },
  ]) {
    const id = randomUUID()
    expect((await say({ type: ping, id, body })).status).toBe(200)
    expect(await party.next(pingResponse)).toMatchObject({ thid: id, body: {}, from: scene.theirDid })
  }
  expect((await say({ type: ping, body: { response_requested: false } })).status).toBe(200)
  expect((await say({ type: ping, id: 'last' })).status).toBe(200)
  expect((await party.next(pingResponse)).thid).toBe('last')
  expect(party.inbox.filter(({ message }) => message.type === pingResponse)).toHaveLength(5)
})

test('a feature query is answered with the features of the agent', async () => {
  await using scene = await startWithParty()
  const { party, say } = scene
  const asked = [
    { 'feature-type': 'protocol', match: '.*routing.*' },
    { 'feature-type': 'protocol', match: 'https://didcomm.org/trust-ping/2.*' },
    { 'feature-type': 'goal-code', match: '*' },
  ]
  await say({ type: queries, id: 'q', body: { queries: asked } })
  expect(await party.next(disclose)).toMatchObject({
    thid: 'q',
    body: {
      disclosures: [
        { 'feature-type': 'protocol', id: 'https://didcomm.org/routing/2.0', roles: ['sender'] },
        {
          'feature-type': 'protocol',
          id: 'https://didcomm.org/trust-ping/2.0',
          roles: ['sender', 'receiver'],
        },
      ],
    },
  })
  await say({ type: queries, body: { queries: [] } })
  expect((await party.next(disclose)).body).toEqual({ disclosures: [] })
  for (const body of [
    {},
    { queries: 'all' },
    { queries: [{ match: '*' }] },
    { queries: Array(101).fill(asked[0]) },
  ]) {
    expect((await say({ type: queries, body })).status).toBe(422)
  }
})

test('both sides store messages in order and list them by connection and page', async () => {
  await using pair = await startPair()
  const third = await pair.agent.newTenant('third')
  const { inviterConnectionId, inviteeConnectionId } = await connect(pair.issuer, pair.holder)
  const other = await connect(third, pair.holder)
  const texts = ['hello', 'Ärger \u{1F600}\u0000', 'x'.repeat(50_000)]
  for (const content of texts) {
    const sent = await pair.issuer.call('POST /messages', {
      body: { connectionId: inviterConnectionId, content },
    })
    expect(sent).toMatchObject({ connectionId: inviterConnectionId, direction: 'sent', content })
    expect(sent).not.toHaveProperty('sentAt')
  }
  await third.call('POST /messages', {
    body: { connectionId: other.inviterConnectionId, content: 'from a third' },
  })
  const read = (call: Tenant['call'], connectionId?: string) => () =>
    call('GET /messages', { query: { ...(connectionId !== undefined && { connectionId }) } })
  const arrived = await until(
    'the arrival of all messages',
    read(pair.holder.call, inviteeConnectionId),
    ({ contents }) => contents.length === 3,
  )
  expect(arrived.contents.map(({ content, direction }) => [content, direction])).toEqual(
    texts.map((text) => [text, 'received']),
  )
  for (const { sentAt } of arrived.contents) expect(sentAt).toMatch(/^20\d\d-/)
  await until('all of them', read(pair.holder.call), ({ contents }) => contents.length === 4)
  const mine = await until('their delivery', read(pair.issuer.call), ({ contents }) =>
    contents.every(({ sentAt }) => sentAt !== undefined),
  )
  expect(mine.contents).toHaveLength(3)
  const page = await pair.holder.call('GET /messages', {
    query: { offset: 1, limit: 2, connectionId: inviteeConnectionId },
  })
  expect(page.contents).toEqual(arrived.contents.slice(1))
  expect(page.previous).toContain(`connectionId=${inviteeConnectionId}`)
  expect(
    (await third.call('GET /messages', { query: { connectionId: inviterConnectionId } })).contents,
  ).toEqual([])
})

test('a message needs content and a complete connection of the tenant', async () => {
  await using pair = await startPair()
  const { inviteeConnectionId, inviterConnectionId } = await connect(pair.issuer, pair.holder)
  const { connectionId: open } = await pair.issuer.call('POST /connections', { body: {} })
  const send = (body: object) => refusal(pair.issuer.call('POST /messages', { body: body as never }))
  const cases: [object, number][] = [
    [{ connectionId: inviteeConnectionId, content: 'x' }, 404],
    [{ connectionId: randomUUID(), content: 'x' }, 404],
    [{ connectionId: open, content: 'x' }, 400],
    [{ connectionId: inviterConnectionId }, 400],
    [{ connectionId: inviterConnectionId, content: '' }, 400],
    [{ connectionId: inviterConnectionId, content: 'x'.repeat(100_001) }, 400],
    [{ connectionId: 'mine', content: 'x' }, 400],
  ]
  for (const [body, status] of cases)
    expect((await send(body)).status, JSON.stringify(body).slice(0, 100)).toBe(status)
  expect((await pair.issuer.call('GET /messages')).contents).toEqual([])
})

test('a message that the other side refuses has the reason', async () => {
  await using agent = await startAgent()
  const tenant = await agent.newTenant()
  await using party = await openParty({
    answer: (response, count) => response.writeHead(count === 1 ? 200 : 410).end(),
  })
  const { connectionId } = await party.connect(tenant)
  await tenant.call('POST /messages', { body: { connectionId, content: 'is anybody there?' } })
  const read = () => tenant.call('GET /messages')
  const { contents } = await until(
    'the refusal',
    read,
    ({ contents: [first] }) => first?.failure !== undefined,
  )
  expect(contents[0]).toMatchObject({ direction: 'sent', failure: expect.stringContaining('410') })
  expect(contents[0]).not.toHaveProperty('sentAt')
})

test('a received message is stored unchanged, regardless of its timestamp', async () => {
  await using scene = await startWithParty()
  const { tenant, say } = scene
  const times = [1_700_000_000, 1_700_000_000.5, -1, 1e300, 0, undefined]
  for (const created_time of times) {
    expect(
      (
        await say({
          type: basic,
          body: { content: 'x', lang: 'en' },
          ...(created_time !== undefined && { created_time }),
        })
      ).status,
    ).toBe(200)
  }
  for (const body of [{}, { content: 1 }, { content: 'x', lang: 'e'.repeat(101) }])
    expect((await say({ type: basic, body })).status).toBe(422)
  const { contents } = await tenant.call('GET /messages')
  expect(contents.map(({ sentAt }) => sentAt)).toEqual([
    '2023-11-14T22:13:20.000Z',
    '2023-11-14T22:13:20.500Z',
    ...Array(4).fill(undefined),
  ])
  expect(contents[0]).toMatchObject({
    content: 'x',
    lang: 'en',
    direction: 'received',
    connectionId: scene.connectionId,
  })
})

test('an empty message is accepted, an unknown type is not', async () => {
  await using scene = await startWithParty()
  expect((await scene.say({ type: empty, ack: ['1'] })).status).toBe(200)
  expect((await scene.say({ type: 'https://didcomm.org/empty/1.0/full' })).status).toBe(422)
})

test('queued messages survive a restart and keep their order', async () => {
  await using folder = await temporaryFolder()
  let isUp = true
  await using party = await openParty({ answer: (response) => response.writeHead(isUp ? 200 : 503).end() })
  {
    await using agent = await startAgent({}, { dataDir: folder.path })
    const tenant = await agent.newTenant()
    const { connectionId, theirDid } = await party.connect(tenant)
    isUp = false
    await tenant.call('POST /messages', { body: { connectionId, content: 'one' } })
    await party.send(theirDid, { type: ping, id: 'p' })
    await tenant.call('POST /messages', { body: { connectionId, content: 'two' } })
    const { outbox } = await rows(agent, tenant)
    expect(outbox.map(({ queue, body }) => [queue, JSON.parse(body).protocol])).toEqual([
      [`notices:${connectionId}`, 'basic-message'],
      [`notices:${connectionId}`, 'trust-ping'],
      [`notices:${connectionId}`, 'basic-message'],
    ])
  }
  const attempts = party.envelopes.length
  isUp = true
  await using again = await startAgent({}, { dataDir: folder.path })
  const after = () =>
    party.inbox.slice(attempts).map(({ message }) => message.body['content'] ?? message.thid)
  await until(
    'all of them',
    async () => (await party.open(), after()),
    (contents) => contents.length === 3,
  )
  expect(after()).toEqual(['one', 'p', 'two'])
  expect(again.url).toMatch(/^http/)
})

test('undelivered replies do not accumulate', async () => {
  await using agent = await startAgent()
  const tenant = await agent.newTenant()
  await using party = await openParty({
    answer: (response, count) => response.writeHead(count === 1 ? 200 : 503).end(),
  })
  const { theirDid } = await party.connect(tenant)
  for (let n = 0; n < 30; n++) expect((await party.send(theirDid, { type: ping })).status).toBe(200)
  expect((await rows(agent, tenant)).outbox).toHaveLength(20)
})

test('a revocation notice is stored with the holder’s record, once', async () => {
  await using pair = await startWithCredential({}, undefined, startAgent)
  const { issuerRecordId, recordId, thid } = pair
  await credentialIn(pair.issuer.call, thid, 'CredentialSent')
  const notify = (comment: string) =>
    pair.agent.agent.wallets.use(pair.issuer.walletId, (wallet) =>
      wallet.transaction(async (tx) =>
        enqueueRevocation(tx, await getRecord(tx, issueCredential, issuerRecordId), comment),
      ),
    )
  const read = () =>
    pair.agent.agent.wallets.use(pair.holder.walletId, ({ db }) => getRecord(db, issueCredential, recordId))
  await notify('lost')
  const { revocation, state } = await until('the note', read, (record) => record.revocation !== undefined)
  expect([revocation, state]).toEqual([{ at: expect.any(String), comment: 'lost' }, 'CredentialReceived'])
  await notify('lost again')
  await until(
    'the delivery of the notice',
    () => rows(pair.agent, pair.issuer),
    ({ outbox }) => outbox.length === 0,
  )
  expect((await read()).revocation).toEqual(revocation)
})

test('messages from unknown senders, other tenants and forged senders change nothing and create no rows', async () => {
  await using pair = await startWithCredential({}, undefined, startAgent)
  const { connectionId, connectionThid, thid } = pair
  const third = await pair.agent.newTenant('third')
  const asked = await pair.issuer.call('POST /present-proof/presentations', { body: { connectionId } })
  const { myDid: holderDid, theirDid: issuerDid } = await connectionIn(
    pair.holder.call,
    connectionThid,
    'ConnectionResponseReceived',
  )
  // The other side of another tenant's connection.
  await using acquaintance = await openParty()
  await acquaintance.connect(third)
  await acquaintance.next(connectionResponse)
  await using other = await openParty()
  const { theirDid: otherDid } = await other.connect(pair.holder)
  await other.next(connectionResponse)
  await using stranger = await openParty()

  const bodies: [string, Record<string, unknown>][] = [
    [ping, { response_requested: true }],
    [pingResponse, {}],
    [queries, { queries: [{ 'feature-type': 'protocol', match: '*' }] }],
    [basic, { content: 'boo' }],
    [empty, {}],
    [revoke, { issueCredentialProtocolThreadId: thid }],
    [report, { code: 'e.p.xfer', comment: 'stop' }],
  ]
  await until(
    'an idle worker',
    () => rows(pair.agent, pair.holder),
    ({ outbox }) => outbox.length === 0,
  )
  const before = [await rows(pair.agent, pair.holder), await rows(pair.agent, third)]
  for (const [type, body] of bodies) {
    for (const about of [thid, asked.thid, connectionThid, randomUUID()]) {
      const message = { type, body, thid: about, pthid: about }
      const asIssuer = { ...message, from: issuerDid! }
      const asOther = { ...message, from: other.did }
      const attempts = {
        'a stranger': await stranger.send(holderDid!, message),
        'a stranger as the other side': await stranger.send(holderDid!, asIssuer, 'forged authcrypt'),
        'anoncrypt as the other side': await stranger.send(holderDid!, asIssuer, 'anoncrypt'),
        'another tenant’s other side': await acquaintance.send(holderDid!, message),
        'another connection of the wallet': await other.send(holderDid!, message),
        'another connection’s DID': await stranger.send(otherDid, asOther, 'anoncrypt'),
      }
      for (const [who, { status }] of Object.entries(attempts))
        expect(status, `${type} from ${who}`).toBe(422)
    }
  }
  expect([await rows(pair.agent, pair.holder), await rows(pair.agent, third)]).toEqual(before)
  expect([stranger, acquaintance, other].flatMap(({ envelopes }) => envelopes.slice(1))).toEqual([])

  // Over another connection of the same sender a message is accepted and changes nothing.
  for (const [type, body] of bodies.filter(([name]) => name === revoke || name === report)) {
    expect((await other.send(otherDid, { type, body, pthid: thid, thid })).status).toBe(200)
  }
  const after = await rows(pair.agent, pair.holder)
  expect([after.records, after.events]).toEqual([before[0]!.records, before[0]!.events])
})
