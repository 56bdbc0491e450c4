/** Coordinate Mediation 2.0 and 3.0, Trust Ping, Discover Features, and problem reports. */
import { expect, test } from 'vitest'
import { resolvePeerDid } from '../../../src/did/peer.ts'
import {
  deliveredIn,
  mediateGrant,
  mediateRequest,
  mediation2,
  mediation3,
  newWallet,
  packFor,
  pickup,
  problemReport,
  refusalOf,
  startMediator,
  trustPing,
} from './_mediator.ts'

test('the mediator’s DID has an HTTP service, followed by a WebSocket service', async () => {
  await using mediator = await startMediator({ url: 'https://mediator.example:8090' })
  const uris = resolvePeerDid(mediator.did).service!.map(
    ({ serviceEndpoint }) => (serviceEndpoint as { uri: string }).uri,
  )
  expect(uris).toEqual(['https://mediator.example:8090', 'wss://mediator.example:8090/ws'])
})

test('2.0: a request is granted with one routing DID, on the thread of the request', async () => {
  await using mediator = await startMediator()
  const wallet = newWallet()
  const grant = await mediator.ask(wallet, mediateRequest, {}, { id: 'the-request' })
  expect(grant).toMatchObject({
    type: mediateGrant,
    thid: 'the-request',
    from: mediator.did,
    to: [wallet.did],
    body: { routing_did: mediator.did },
  })
  expect((await mediator.ask(wallet, mediateRequest))?.type).toBe(mediateGrant)
})

test('3.0: the routing DIDs of a grant are a list', async () => {
  await using mediator = await startMediator()
  const grant = await mediator.ask(newWallet(), `${mediation3}/mediate-request`)
  expect(grant).toMatchObject({ type: `${mediation3}/mediate-grant`, body: { routing_did: [mediator.did] } })
})

test('a later minor version is read as the known one', async () => {
  await using mediator = await startMediator()
  const grant = await mediator.ask(
    newWallet(),
    'https://didcomm.org/coordinate-mediation/2.7/mediate-request',
  )
  expect(grant?.type).toBe(mediateGrant)
})

test('at the limit of accounts a new wallet is denied, and enrolled ones stay', async () => {
  await using mediator = await startMediator({ MEDIATOR_ACCOUNT_LIMIT: 1 })
  const first = await mediator.enrolled()
  expect(await mediator.ask(newWallet(), mediateRequest)).toMatchObject({
    type: `${mediation2}/mediate-deny`,
    body: {},
  })
  expect((await mediator.ask(newWallet(), `${mediation3}/mediate-request`))?.type).toBe(
    `${mediation3}/mediate-deny`,
  )
  expect((await mediator.ask(first, mediateRequest))?.type).toBe(mediateGrant)
})

const names = [
  {
    version: '2.0',
    family: mediation2,
    update: 'keylist-update',
    query: 'keylist-query',
    list: 'keylist',
    items: 'keys',
  },
  {
    version: '3.0',
    family: mediation3,
    update: 'recipient-update',
    query: 'recipient-query',
    list: 'recipient',
    items: 'dids',
  },
]

test.each(names)(
  '$version: recipients are added and removed, each with its result',
  async ({ family, update, query, list, items }) => {
    await using mediator = await startMediator({ MEDIATOR_RECIPIENT_LIMIT: 3 })
    const [wallet, other] = [await mediator.enrolled(), await mediator.enrolled()]
    const [a, b, registered, one] = [newWallet().did, newWallet().did, newWallet().did, newWallet().did]
    await mediator.ask(other, `${family}/${update}`, {
      updates: [{ recipient_did: registered, action: 'add' }],
    })
    const updates = [
      [a, 'add', 'success'],
      [a, 'add', 'no_change'],
      [wallet.did, 'add', 'no_change'],
      [registered, 'add', 'client_error'],
      [registered, 'remove', 'no_change'],
      [mediator.did, 'add', 'client_error'],
      ['not a DID', 'add', 'client_error'],
      [b, 'exchange', 'client_error'],
      [b, 'add', 'success'],
      [one, 'add', 'server_error'],
      [b, 'remove', 'success'],
      [b, 'remove', 'no_change'],
    ].map(([recipient_did, action, result]) => ({ recipient_did, action, result }))
    const answer = await mediator.ask(wallet, `${family}/${update}`, {
      updates: updates.map(({ recipient_did, action }) => ({ recipient_did, action })),
    })
    expect(answer).toMatchObject({ type: `${family}/${update}-response`, body: { updated: updates } })
    const all = await mediator.ask(wallet, `${family}/${query}`)
    expect(all?.type).toBe(`${family}/${list}`)
    expect(all?.body).toEqual({
      [items]: expect.arrayContaining([{ recipient_did: wallet.did }, { recipient_did: a }]),
    })
    expect(all?.body[items]).toHaveLength(2)
    const page = await mediator.ask(wallet, `${family}/${query}`, { paginate: { limit: 1, offset: 0 } })
    expect(page?.body).toEqual({
      [items]: [expect.anything()],
      pagination: { count: 1, offset: 0, remaining: 1 },
    })
  },
)

test.each(names)(
  '$version: without an account, an update gets a problem report, and a query no answer',
  async ({ family, update, query }) => {
    await using mediator = await startMediator()
    const stranger = newWallet()
    const report = await mediator.ask(
      stranger,
      `${family}/${update}`,
      { updates: [{ recipient_did: stranger.did, action: 'add' }] },
      { thid: 'the-thread' },
    )
    expect(report).toMatchObject({
      type: problemReport,
      pthid: 'the-thread',
      body: { code: 'e.p.req.not_enroll', args: [stranger.did] },
    })
    expect(await mediator.ask(stranger, `${family}/${query}`)).toBeUndefined()
  },
)

test('an account that proves a DID receives its messages, even if another account registered the DID', async () => {
  await using mediator = await startMediator()
  const [thief, owner] = [await mediator.enrolled(), newWallet()]
  await mediator.register(thief, owner.did)
  await mediator.ask(owner, mediateRequest)
  await mediator.forward(owner.did)
  expect(deliveredIn(await mediator.ask(owner, `${pickup}/delivery-request`, { limit: 1 }))).toHaveLength(1)
  expect((await mediator.ask(thief, `${pickup}/status-request`))?.body).toMatchObject({ message_count: 0 })
})

test('queued messages for a DID move to the account that proves it, once, and no others do', async () => {
  await using mediator = await startMediator()
  const [thief, owner, other] = [await mediator.enrolled(), newWallet(), newWallet().did]
  const updates = [owner.did, other].map((recipient_did) => ({ recipient_did, action: 'add' }))
  await mediator.ask(thief, `${mediation2}/keylist-update`, { updates })
  await mediator.forward(owner.did)
  await mediator.forward(owner.did)
  await mediator.forward(other)
  await mediator.ask(owner, mediateRequest)
  expect(deliveredIn(await mediator.ask(owner, `${pickup}/delivery-request`, { limit: 10 }))).toHaveLength(2)
  expect((await mediator.ask(thief, `${pickup}/status-request`))?.body).toMatchObject({ message_count: 1 })
  const list = await mediator.ask(thief, `${mediation2}/keylist-query`)
  expect(list?.body['keys']).not.toContainEqual({ recipient_did: owner.did })
})

test('an account can register its own DID again after another account registered it', async () => {
  await using mediator = await startMediator()
  const [owner, thief] = [await mediator.enrolled(), await mediator.enrolled()]
  const update = (wallet: typeof owner, action: string) =>
    mediator.ask(wallet, `${mediation2}/keylist-update`, { updates: [{ recipient_did: owner.did, action }] })
  await update(owner, 'remove')
  expect((await update(thief, 'add'))?.body).toMatchObject({ updated: [{ result: 'success' }] })
  await mediator.forward(owner.did)
  expect((await update(owner, 'add'))?.body).toMatchObject({ updated: [{ result: 'success' }] })
  expect((await update(thief, 'add'))?.body).toMatchObject({ updated: [{ result: 'client_error' }] })
  expect((await mediator.ask(owner, `${pickup}/status-request`))?.body).toMatchObject({ message_count: 1 })
  expect((await mediator.ask(thief, `${pickup}/status-request`))?.body).toMatchObject({ message_count: 0 })
})

test('a ping is answered unless it requests no response', async () => {
  await using mediator = await startMediator()
  const wallet = newWallet()
  expect(await mediator.ask(wallet, trustPing, { response_requested: true }, { id: 'a-ping' })).toMatchObject(
    {
      type: 'https://didcomm.org/trust-ping/2.0/ping-response',
      thid: 'a-ping',
      body: {},
    },
  )
  expect((await mediator.ask(wallet, trustPing))?.type).toBe(
    'https://didcomm.org/trust-ping/2.0/ping-response',
  )
  expect(await mediator.ask(wallet, trustPing, { response_requested: false })).toBeUndefined()
})

test.each([
  ['https://didcomm.org/routing/2.0', ['https://didcomm.org/routing/2.0']],
  ['.*routing.*', ['https://didcomm.org/routing/2.0']],
  [
    'https://didcomm.org/coordinate-mediation/*',
    ['https://didcomm.org/coordinate-mediation/2.0', 'https://didcomm.org/coordinate-mediation/3.0'],
  ],
  ['*mediation*3.0', ['https://didcomm.org/coordinate-mediation/3.0']],
  ['https://didcomm.org/routing', []],
  ['https://didcomm.org/routing/2.0*/2.0', []],
])('discovery: %s', async (match, found) => {
  await using mediator = await startMediator()
  const answer = await mediator.ask(newWallet(), 'https://didcomm.org/discover-features/2.0/queries', {
    queries: [
      { 'feature-type': 'protocol', match },
      { 'feature-type': 'goal-code', match: '*' },
    ],
  })
  expect(answer?.type).toBe('https://didcomm.org/discover-features/2.0/disclose')
  expect((answer!.body['disclosures'] as { id: string }[]).map(({ id }) => id)).toEqual(found)
})

test.each([
  ['an unknown protocol', 'https://example.org/chess/1.0/move', {}, 'e.p.msg.unsupported'],
  [
    'an unknown major version',
    'https://didcomm.org/coordinate-mediation/9.0/mediate-request',
    {},
    'e.p.msg.unsupported',
  ],
  ['the mediator’s own role', mediateGrant, {}, 'e.p.msg.unsupported'],
  ['a body without its member', `${mediation2}/keylist-update`, {}, 'e.p.msg'],
  [
    'too many updates',
    `${mediation2}/keylist-update`,
    { updates: Array.from({ length: 501 }, () => ({ recipient_did: 'did:x:y', action: 'add' })) },
    'e.p.msg',
  ],
  ['a type named like a property of every object', 'constructor', {}, 'e.p.msg.unsupported'],
])('a problem report for %s', async (_, type, body, code) => {
  await using mediator = await startMediator()
  const wallet = await mediator.enrolled()
  const report = await mediator.ask(wallet, type, body, { id: 'the-message' })
  expect(report).toMatchObject({
    type: problemReport,
    pthid: 'the-message',
    body: { code, comment: expect.any(String) },
  })
})

test('problem reports, ping responses and empty messages get no reply', async () => {
  await using mediator = await startMediator()
  const wallet = newWallet()
  for (const type of [
    problemReport,
    'https://didcomm.org/trust-ping/2.0/ping-response',
    'https://didcomm.org/empty/1.0/empty',
  ]) {
    expect(await mediator.ask(wallet, type)).toBeUndefined()
  }
})

test('a repeated envelope is refused; the same message in a new envelope is not', async () => {
  await using mediator = await startMediator()
  const wallet = await mediator.enrolled()
  const message = { id: 'once', type: trustPing }
  const packed = wallet.pack(mediator.did, message)
  expect((await wallet.open((await mediator.take(packed))!)).message.type).toMatch(/ping-response$/)
  const { recipients, ...rest } = JSON.parse(packed)
  for (const again of [packed, JSON.stringify({ recipients, more: 'members', ...rest }, null, 2)]) {
    const report = (await wallet.open((await mediator.take(again))!)).message
    expect(report).toMatchObject({
      type: problemReport,
      pthid: 'once',
      body: { code: 'e.p.crypto.message.dejavu' },
    })
  }
  await mediator.restart()
  expect((await wallet.open((await mediator.take(packed))!)).message.body).toMatchObject({
    code: 'e.p.crypto.message.dejavu',
  })
  expect(
    (await wallet.open((await mediator.take(wallet.pack(mediator.did, message)))!)).message.type,
  ).toMatch(/ping-response$/)
})

test('a refused envelope is refused as a repetition the second time', async () => {
  await using mediator = await startMediator()
  const wallet = newWallet()
  const packed = wallet.pack(mediator.did, { type: 'https://example.org/chess/1.0/move' })
  const codes = []
  for (const _ of [1, 2]) codes.push((await wallet.open((await mediator.take(packed))!)).message.body['code'])
  expect(codes).toEqual(['e.p.msg.unsupported', 'e.p.crypto.message.dejavu'])
})

test('a replayed update changes nothing', async () => {
  await using mediator = await startMediator()
  const [wallet, alias] = [await mediator.enrolled(), newWallet().did]
  const update = (action: string) => ({
    type: `${mediation2}/keylist-update`,
    body: { updates: [{ recipient_did: alias, action }] },
  })
  const added = wallet.pack(mediator.did, update('add'))
  await mediator.take(added)
  await mediator.take(wallet.pack(mediator.did, update('remove')))
  await mediator.take(added)
  const { body } = (await mediator.ask(wallet, `${mediation2}/keylist-query`))!
  expect(body['keys']).toEqual([{ recipient_did: wallet.did }])
})

test('a sender that does not prove a DID can only forward', async () => {
  await using mediator = await startMediator()
  const wallet = await mediator.enrolled()
  const types = [mediateRequest, `${mediation2}/keylist-query`, `${pickup}/delivery-request`, trustPing]
  for (const type of types) {
    for (const from of [{}, { from: wallet.did }]) {
      const packed = packFor(mediator.did, { type, body: { limit: 1 }, return_route: 'all', ...from })
      expect((await refusalOf(mediator.take(packed))).type, type).toBe(
        'error:DIDCommControllerError:SenderNotAllowed',
      )
    }
  }
})

test('a reply without return_route is posted to the sender’s HTTP endpoint, except for a status', async () => {
  await using mediator = await startMediator()
  const [reachable, unreachable] = [
    await mediator.enrolled('http://wallet.example/inbox'),
    await mediator.enrolled(),
  ]
  const later = { return_route: 'none' }
  expect(await mediator.ask(reachable, `${mediation2}/keylist-query`, {}, later)).toBeUndefined()
  expect(await mediator.ask(unreachable, `${mediation2}/keylist-query`, {}, later)).toBeUndefined()
  expect(await mediator.ask(reachable, `${pickup}/status-request`, {}, later)).toBeUndefined()
  expect(mediator.posts.map(({ url }) => url)).toEqual(['http://wallet.example/inbox'])
  expect((await reachable.open(mediator.posts[0]!.body)).message.type).toBe(`${mediation2}/keylist`)
})

test('a return_route that is not a string counts as absent', async () => {
  await using mediator = await startMediator()
  const wallet = await mediator.enrolled('http://wallet.example/inbox')
  for (const return_route of [{ toString: 1, valueOf: 1 }, ['all'], 1, null])
    expect(await mediator.ask(wallet, `${mediation2}/keylist-query`, {}, { return_route })).toBeUndefined()
  expect(mediator.posts).toHaveLength(4)
})

test('a reply goes to the first HTTP endpoint in the sender’s DID', async () => {
  await using mediator = await startMediator()
  const wallet = await mediator.enrolled([
    mediator.did,
    'wss://wallet.example/ws',
    'http://wallet.example/inbox',
    'http://wallet.example/other',
  ])
  await mediator.ask(wallet, `${mediation2}/keylist-query`, {}, { return_route: 'none' })
  expect(mediator.posts.map(({ url }) => url)).toEqual(['http://wallet.example/inbox'])
})

test('a refusal without return_route is posted if possible, otherwise thrown', async () => {
  await using mediator = await startMediator()
  const [type, later] = ['https://example.org/chess/1.0/move', { return_route: 'none' }]
  const reachable = newWallet('http://wallet.example/inbox')
  expect(await mediator.ask(reachable, type, {}, later)).toBeUndefined()
  expect((await reachable.open(mediator.posts[0]!.body)).message.body).toMatchObject({
    code: 'e.p.msg.unsupported',
  })
  for (const wallet of [newWallet(), newWallet(mediator.did)]) {
    expect((await refusalOf(mediator.ask(wallet, type, {}, later))).status).toBe(422)
  }
  expect(mediator.posts).toHaveLength(1)
})

test('with another URL the mediator has another DID, and answers for both', async () => {
  await using mediator = await startMediator()
  const [wallet, before] = [await mediator.enrolled(), mediator.did]
  await mediator.restart('https://elsewhere.example')
  expect(mediator.did).not.toBe(before)
  const list = await mediator.ask(wallet, `${mediation2}/keylist-query`, {}, { to: [before] })
  expect(list).toMatchObject({ from: before, body: { keys: [{ recipient_did: wallet.did }] } })
  expect((await mediator.ask(wallet, mediateRequest))?.body).toEqual({
    routing_did: mediator.did,
  })
  await mediator.restart('http://mediator.example')
  expect(mediator.did).toBe(before)
})
