/** Coordinate Mediation 2.0 and 3.0, Trust Ping, Discover Features, and problem reports. */
import { expect, test } from 'vitest'
import { resolvePeerDid } from '../../src/did/peer.ts'
import {
  deliveredIn,
  mediation2,
  mediation3,
  newWallet,
  packFor,
  pickup,
  problemReport,
  refusalOf,
  startMediator,
} from './_mediator.ts'

test('the mediator’s DID has an HTTP service first and a WebSocket one after it', async () => {
  await using house = await startMediator({ url: 'https://mediator.example:8090' })
  const uris = resolvePeerDid(house.did).service!.map(
    ({ serviceEndpoint }) => (serviceEndpoint as { uri: string }).uri,
  )
  expect(uris).toEqual(['https://mediator.example:8090', 'wss://mediator.example:8090/ws'])
})

test('2.0: a request is granted with one routing DID, on the thread of the request', async () => {
  await using house = await startMediator()
  const wallet = newWallet()
  const grant = await house.ask(wallet, `${mediation2}/mediate-request`, {}, { id: 'the-request' })
  expect(grant).toMatchObject({
    type: `${mediation2}/mediate-grant`,
    thid: 'the-request',
    from: house.did,
    to: [wallet.did],
    body: { routing_did: house.did },
  })
  expect((await house.ask(wallet, `${mediation2}/mediate-request`))?.type).toBe(`${mediation2}/mediate-grant`)
})

test('3.0: the routing DIDs of a grant are a list', async () => {
  await using house = await startMediator()
  const grant = await house.ask(newWallet(), `${mediation3}/mediate-request`)
  expect(grant).toMatchObject({ type: `${mediation3}/mediate-grant`, body: { routing_did: [house.did] } })
})

test('a later minor version is read as the one we know', async () => {
  await using house = await startMediator()
  const grant = await house.ask(newWallet(), 'https://didcomm.org/coordinate-mediation/2.7/mediate-request')
  expect(grant?.type).toBe(`${mediation2}/mediate-grant`)
})

test('at the limit of accounts a new wallet is denied, and enrolled ones stay', async () => {
  await using house = await startMediator({ limits: { accounts: 1 } })
  const first = await house.enrolled()
  expect(await house.ask(newWallet(), `${mediation2}/mediate-request`)).toMatchObject({
    type: `${mediation2}/mediate-deny`,
    body: {},
  })
  expect((await house.ask(newWallet(), `${mediation3}/mediate-request`))?.type).toBe(
    `${mediation3}/mediate-deny`,
  )
  expect((await house.ask(first, `${mediation2}/mediate-request`))?.type).toBe(`${mediation2}/mediate-grant`)
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
    await using house = await startMediator({ limits: { recipients: 3 } })
    const [wallet, other] = [await house.enrolled(), await house.enrolled()]
    const [a, b, taken, one] = [newWallet().did, newWallet().did, newWallet().did, newWallet().did]
    await house.ask(other, `${family}/${update}`, { updates: [{ recipient_did: taken, action: 'add' }] })
    const updates = [
      [a, 'add', 'success'],
      [a, 'add', 'no_change'],
      [wallet.did, 'add', 'no_change'],
      [taken, 'add', 'client_error'],
      [taken, 'remove', 'no_change'],
      [house.did, 'add', 'client_error'],
      ['not a DID', 'add', 'client_error'],
      [b, 'exchange', 'client_error'],
      [b, 'add', 'success'],
      [one, 'add', 'server_error'],
      [b, 'remove', 'success'],
      [b, 'remove', 'no_change'],
    ].map(([recipient_did, action, result]) => ({ recipient_did, action, result }))
    const answer = await house.ask(wallet, `${family}/${update}`, {
      updates: updates.map(({ recipient_did, action }) => ({ recipient_did, action })),
    })
    expect(answer).toMatchObject({ type: `${family}/${update}-response`, body: { updated: updates } })
    const all = await house.ask(wallet, `${family}/${query}`)
    expect(all?.type).toBe(`${family}/${list}`)
    expect(all?.body).toEqual({
      [items]: expect.arrayContaining([{ recipient_did: wallet.did }, { recipient_did: a }]),
    })
    expect(all?.body[items]).toHaveLength(2)
    const page = await house.ask(wallet, `${family}/${query}`, { paginate: { limit: 1, offset: 0 } })
    expect(page?.body).toEqual({
      [items]: [expect.anything()],
      pagination: { count: 1, offset: 0, remaining: 1 },
    })
  },
)

test.each(names)(
  '$version: a stranger’s update is refused by a report, a stranger’s query gets no answer',
  async ({ family, update, query }) => {
    await using house = await startMediator()
    const stranger = newWallet()
    const report = await house.ask(
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
    expect(await house.ask(stranger, `${family}/${query}`)).toBeUndefined()
  },
)

test('who proves a DID gets its messages, though another account had registered it', async () => {
  await using house = await startMediator()
  const [thief, owner] = [await house.enrolled(), newWallet()]
  await house.ask(thief, `${mediation2}/keylist-update`, {
    updates: [{ recipient_did: owner.did, action: 'add' }],
  })
  await house.ask(owner, `${mediation2}/mediate-request`)
  await house.forward(owner.did)
  expect(deliveredIn(await house.ask(owner, `${pickup}/delivery-request`, { limit: 1 }))).toHaveLength(1)
  expect((await house.ask(thief, `${pickup}/status-request`))?.body).toMatchObject({ message_count: 0 })
})

test('the messages queued for a DID move to the account that proves it, once, and no others', async () => {
  await using house = await startMediator()
  const [thief, owner, other] = [await house.enrolled(), newWallet(), newWallet().did]
  const updates = [owner.did, other].map((recipient_did) => ({ recipient_did, action: 'add' }))
  await house.ask(thief, `${mediation2}/keylist-update`, { updates })
  await house.forward(owner.did)
  await house.forward(owner.did)
  await house.forward(other)
  await house.ask(owner, `${mediation2}/mediate-request`)
  expect(deliveredIn(await house.ask(owner, `${pickup}/delivery-request`, { limit: 10 }))).toHaveLength(2)
  expect((await house.ask(thief, `${pickup}/status-request`))?.body).toMatchObject({ message_count: 1 })
  const list = await house.ask(thief, `${mediation2}/keylist-query`)
  expect(list?.body['keys']).not.toContainEqual({ recipient_did: owner.did })
})

test('an account registers its own DID again, though another account has registered it meanwhile', async () => {
  await using house = await startMediator()
  const [owner, thief] = [await house.enrolled(), await house.enrolled()]
  const update = (wallet: typeof owner, action: string) =>
    house.ask(wallet, `${mediation2}/keylist-update`, { updates: [{ recipient_did: owner.did, action }] })
  await update(owner, 'remove')
  expect((await update(thief, 'add'))?.body).toMatchObject({ updated: [{ result: 'success' }] })
  await house.forward(owner.did)
  expect((await update(owner, 'add'))?.body).toMatchObject({ updated: [{ result: 'success' }] })
  expect((await update(thief, 'add'))?.body).toMatchObject({ updated: [{ result: 'client_error' }] })
  expect((await house.ask(owner, `${pickup}/status-request`))?.body).toMatchObject({ message_count: 1 })
  expect((await house.ask(thief, `${pickup}/status-request`))?.body).toMatchObject({ message_count: 0 })
})

test('a ping is answered unless no answer is wanted', async () => {
  await using house = await startMediator()
  const [wallet, ping] = [newWallet(), 'https://didcomm.org/trust-ping/2.0/ping']
  expect(await house.ask(wallet, ping, { response_requested: true }, { id: 'a-ping' })).toMatchObject({
    type: 'https://didcomm.org/trust-ping/2.0/ping-response',
    thid: 'a-ping',
    body: {},
  })
  expect((await house.ask(wallet, ping))?.type).toBe('https://didcomm.org/trust-ping/2.0/ping-response')
  expect(await house.ask(wallet, ping, { response_requested: false })).toBeUndefined()
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
  await using house = await startMediator()
  const answer = await house.ask(newWallet(), 'https://didcomm.org/discover-features/2.0/queries', {
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
  ['the mediator’s own role', `${mediation2}/mediate-grant`, {}, 'e.p.msg.unsupported'],
  ['a body without its member', `${mediation2}/keylist-update`, {}, 'e.p.msg'],
  [
    'too many updates',
    `${mediation2}/keylist-update`,
    { updates: Array.from({ length: 501 }, () => ({ recipient_did: 'did:x:y', action: 'add' })) },
    'e.p.msg',
  ],
  ['a name of every object', 'constructor', {}, 'e.p.msg.unsupported'],
])('a report says what is wrong with %s', async (_, type, body, code) => {
  await using house = await startMediator()
  const wallet = await house.enrolled()
  const report = await house.ask(wallet, type, body, { id: 'the-message' })
  expect(report).toMatchObject({
    type: problemReport,
    pthid: 'the-message',
    body: { code, comment: expect.any(String) },
  })
})

test('problem reports, ping responses and empty messages get no reply', async () => {
  await using house = await startMediator()
  const wallet = newWallet()
  for (const type of [
    problemReport,
    'https://didcomm.org/trust-ping/2.0/ping-response',
    'https://didcomm.org/empty/1.0/empty',
  ]) {
    expect(await house.ask(wallet, type)).toBeUndefined()
  }
})

test('an envelope that comes again is refused; the same message packed anew is not', async () => {
  await using house = await startMediator()
  const wallet = await house.enrolled()
  const message = { id: 'once', type: 'https://didcomm.org/trust-ping/2.0/ping' }
  const packed = wallet.pack(house.did, message)
  expect((await wallet.open((await house.take(packed))!)).message.type).toMatch(/ping-response$/)
  const { recipients, ...rest } = JSON.parse(packed)
  for (const again of [packed, JSON.stringify({ recipients, more: 'members', ...rest }, null, 2)]) {
    const report = (await wallet.open((await house.take(again))!)).message
    expect(report).toMatchObject({
      type: problemReport,
      pthid: 'once',
      body: { code: 'e.p.crypto.message.dejavu' },
    })
  }
  await house.restart()
  expect((await wallet.open((await house.take(packed))!)).message.body).toMatchObject({
    code: 'e.p.crypto.message.dejavu',
  })
  expect((await wallet.open((await house.take(wallet.pack(house.did, message)))!)).message.type).toMatch(
    /ping-response$/,
  )
})

test('an envelope that was refused is refused as a repetition when it comes again', async () => {
  await using house = await startMediator()
  const wallet = newWallet()
  const packed = wallet.pack(house.did, { type: 'https://example.org/chess/1.0/move' })
  const codes = []
  for (const _ of [1, 2]) codes.push((await wallet.open((await house.take(packed))!)).message.body['code'])
  expect(codes).toEqual(['e.p.msg.unsupported', 'e.p.crypto.message.dejavu'])
})

test('a replayed update changes nothing', async () => {
  await using house = await startMediator()
  const [wallet, alias] = [await house.enrolled(), newWallet().did]
  const update = (action: string) => ({
    type: `${mediation2}/keylist-update`,
    body: { updates: [{ recipient_did: alias, action }] },
  })
  const added = wallet.pack(house.did, update('add'))
  await house.take(added)
  await house.take(wallet.pack(house.did, update('remove')))
  await house.take(added)
  const { body } = (await house.ask(wallet, `${mediation2}/keylist-query`))!
  expect(body['keys']).toEqual([{ recipient_did: wallet.did }])
})

test('who does not prove a DID can only forward', async () => {
  await using house = await startMediator()
  const wallet = await house.enrolled()
  const types = [
    `${mediation2}/mediate-request`,
    `${mediation2}/keylist-query`,
    `${pickup}/delivery-request`,
    'https://didcomm.org/trust-ping/2.0/ping',
  ]
  for (const type of types) {
    for (const from of [{}, { from: wallet.did }]) {
      const packed = packFor(house.did, { type, body: { limit: 1 }, return_route: 'all', ...from })
      expect((await refusalOf(house.take(packed))).type, type).toBe(
        'error:DIDCommControllerError:SenderNotAllowed',
      )
    }
  }
})

test('a reply without return_route is posted to the sender’s HTTP endpoint, except for a status', async () => {
  await using house = await startMediator()
  const [reachable, unreachable] = [
    await house.enrolled('http://wallet.example/inbox'),
    await house.enrolled(),
  ]
  const later = { return_route: 'none' }
  expect(await house.ask(reachable, `${mediation2}/keylist-query`, {}, later)).toBeUndefined()
  expect(await house.ask(unreachable, `${mediation2}/keylist-query`, {}, later)).toBeUndefined()
  expect(await house.ask(reachable, `${pickup}/status-request`, {}, later)).toBeUndefined()
  expect(house.posts.map(({ url }) => url)).toEqual(['http://wallet.example/inbox'])
  expect((await reachable.open(house.posts[0]!.body)).message.type).toBe(`${mediation2}/keylist`)
})

test('a return_route that is no text asks for nothing', async () => {
  await using house = await startMediator()
  const wallet = await house.enrolled('http://wallet.example/inbox')
  for (const return_route of [{ toString: 1, valueOf: 1 }, ['all'], 1, null])
    expect(await house.ask(wallet, `${mediation2}/keylist-query`, {}, { return_route })).toBeUndefined()
  expect(house.posts).toHaveLength(4)
})

test('of several addresses in the sender’s DID the first one that is reached over HTTP gets the answer', async () => {
  await using house = await startMediator()
  const wallet = await house.enrolled([
    house.did,
    'wss://wallet.example/ws',
    'http://wallet.example/inbox',
    'http://wallet.example/other',
  ])
  await house.ask(wallet, `${mediation2}/keylist-query`, {}, { return_route: 'none' })
  expect(house.posts.map(({ url }) => url)).toEqual(['http://wallet.example/inbox'])
})

test('a refusal without return_route is posted if possible, otherwise thrown', async () => {
  await using house = await startMediator()
  const [type, later] = ['https://example.org/chess/1.0/move', { return_route: 'none' }]
  const reachable = newWallet('http://wallet.example/inbox')
  expect(await house.ask(reachable, type, {}, later)).toBeUndefined()
  expect((await reachable.open(house.posts[0]!.body)).message.body).toMatchObject({
    code: 'e.p.msg.unsupported',
  })
  for (const wallet of [newWallet(), newWallet(house.did)]) {
    expect((await refusalOf(house.ask(wallet, type, {}, later))).status).toBe(422)
  }
  expect(house.posts).toHaveLength(1)
})

test('at another address the mediator has another DID, and answers under both', async () => {
  await using house = await startMediator()
  const [wallet, before] = [await house.enrolled(), house.did]
  await house.restart('https://elsewhere.example')
  expect(house.did).not.toBe(before)
  const list = await house.ask(wallet, `${mediation2}/keylist-query`, {}, { to: [before] })
  expect(list).toMatchObject({ from: before, body: { keys: [{ recipient_did: wallet.did }] } })
  expect((await house.ask(wallet, `${mediation2}/mediate-request`))?.body).toEqual({ routing_did: house.did })
  await house.restart('http://mediator.example')
  expect(house.did).toBe(before)
})
