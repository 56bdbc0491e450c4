/** Message Pickup 3.0, live mode: the WebSocket of an agent's DIDComm port. */
import { once } from 'node:events'
import { connect } from 'node:net'
import { expect, test, vi } from 'vitest'
import { readConfig } from '../../../src/foundation/config/config.ts'
import { soleOwnership } from '../../../src/cluster/ownership.ts'
import { openLog } from '../../../src/foundation/log.ts'
import { createScheduler, schedulerLimits } from '../../../src/foundation/scheduler.ts'
import { sharedAgent, startAgent } from '../../support/agent.ts'
import { Daemon } from '../../support/daemon.ts'
import {
  type TestWallet,
  deliveredIn,
  forwardOf,
  mediateGrant,
  mediateRequest,
  mediation2,
  newWallet,
  packFor,
  pickup,
  problemReport,
  startMediator,
  trustPing,
} from './_mediator.ts'
import { openSocket, type TestSocket } from './_socket.ts'
import { built } from '../../support/built.ts'

const { bind, stop, urlOf, serveSockets } = built

async function start(variables: Record<string, string> = {}) {
  const host = await startAgent({ AGENT_MEDIATOR: 'true', ...variables })
  const { did } = host.agent.mediator!
  return {
    host,
    did,
    url: host.didcommUrl,
    open: (wallet: TestWallet, path?: string) => openSocket(host.didcommUrl, wallet, path),
    /** Forwards over HTTP, anonymously. */
    async forward(next: string, content: string) {
      const packed = packFor(next, { type: 'x:y', body: { content } })
      const body = packFor(did, forwardOf(next, packed))
      const { status } = await fetch(host.didcommUrl, {
        method: 'POST',
        headers: { 'content-type': 'application/didcomm-encrypted+json' },
        body,
      })
      expect(status).toBe(202)
    },
    async ask(socket: TestSocket, wallet: TestWallet, type: string, body: Record<string, unknown> = {}) {
      socket.send(wallet.pack(did, { type, body }))
      return socket.next()
    },
    [Symbol.asyncDispose]: () => host[Symbol.asyncDispose](),
  }
}

const contentsOf = async (wallet: TestWallet, message: Parameters<typeof deliveredIn>[0]) => {
  const contents = []
  for (const { packed } of deliveredIn(message))
    contents.push((await wallet.open(packed)).message.body['content'])
  return contents
}

test('a socket accepts every protocol as text or binary, and carries the replies', async () => {
  await using mediator = await start()
  const wallet = newWallet()
  using socket = await mediator.open(wallet)
  // No return route is requested: replies use the socket anyway.
  socket.send(Buffer.from(wallet.pack(mediator.did, { type: mediateRequest, return_route: undefined })))
  expect(await socket.next()).toMatchObject({
    type: mediateGrant,
    body: { routing_did: mediator.did },
  })
  expect((await mediator.ask(socket, wallet, `${pickup}/status-request`)).body).toMatchObject({
    message_count: 0,
    live_delivery: false,
  })
  expect(await mediator.ask(socket, wallet, 'x:y')).toMatchObject({
    type: problemReport,
    body: { code: 'e.p.msg.unsupported' },
  })
})

test('in live mode a message is delivered on arrival, and stays queued until it is acknowledged', async () => {
  await using mediator = await start()
  const [wallet, alias] = [newWallet(), newWallet(mediator.did)]
  using socket = await mediator.open(wallet)
  await mediator.ask(socket, wallet, mediateRequest)
  await mediator.ask(socket, wallet, `${mediation2}/keylist-update`, {
    updates: [{ recipient_did: alias.did, action: 'add' }],
  })
  await mediator.forward(alias.did, 'before live mode')
  const status = await mediator.ask(socket, wallet, `${pickup}/live-delivery-change`, { live_delivery: true })
  expect(status).toMatchObject({ type: `${pickup}/status`, body: { message_count: 1, live_delivery: true } })

  await mediator.forward(alias.did, 'live')
  const live = await socket.next()
  expect(live).toMatchObject({
    type: `${pickup}/delivery`,
    from: mediator.did,
    to: [wallet.did],
    thid: expect.any(String),
  })
  expect(await contentsOf(alias, live)).toEqual(['live'])

  const all = await mediator.ask(socket, wallet, `${pickup}/delivery-request`, { limit: 10 })
  expect(await contentsOf(alias, all)).toEqual(['before live mode', 'live'])
  const ids = deliveredIn(all).map(({ id }) => id)
  expect(ids).toContain(deliveredIn(live)[0]!.id)
  const after = await mediator.ask(socket, wallet, `${pickup}/messages-received`, { message_id_list: ids })
  expect(after.body).toMatchObject({ message_count: 0, live_delivery: true })

  expect(
    (await mediator.ask(socket, wallet, `${pickup}/live-delivery-change`, { live_delivery: false })).body,
  ).toMatchObject({
    live_delivery: false,
  })
  await mediator.forward(alias.did, 'after live mode')
  expect((await mediator.ask(socket, wallet, `${pickup}/status-request`)).body).toMatchObject({
    message_count: 1,
  })
})

test('closing a connection loses no message, and ends live mode', async () => {
  await using mediator = await start()
  const wallet = newWallet()
  {
    using socket = await mediator.open(wallet)
    await mediator.ask(socket, wallet, mediateRequest)
    await mediator.ask(socket, wallet, `${pickup}/live-delivery-change`, { live_delivery: true })
  }
  await mediator.forward(wallet.did, 'the wallet is offline')
  using socket = await mediator.open(wallet)
  expect((await mediator.ask(socket, wallet, `${pickup}/status-request`)).body).toMatchObject({
    message_count: 1,
    live_delivery: false,
  })
  expect(
    await contentsOf(wallet, await mediator.ask(socket, wallet, `${pickup}/delivery-request`, { limit: 1 })),
  ).toEqual(['the wallet is offline'])
})

test('live messages go to every subscribed connection of the account, and to no other', async () => {
  await using mediator = await start()
  const [wallet, other, stranger] = [newWallet(), newWallet(), newWallet()]
  using phone = await mediator.open(wallet)
  using tablet = await mediator.open(wallet)
  using others = await mediator.open(other)
  using strangers = await mediator.open(stranger)
  await mediator.ask(phone, wallet, mediateRequest)
  await mediator.ask(others, other, mediateRequest)
  for (const [socket, who] of [
    [phone, wallet],
    [tablet, wallet],
    [others, other],
  ] as const) {
    await mediator.ask(socket, who, `${pickup}/live-delivery-change`, { live_delivery: true })
  }
  const refused = await mediator.ask(strangers, stranger, `${pickup}/live-delivery-change`, {
    live_delivery: true,
  })
  expect(refused.body).toMatchObject({ code: 'e.p.req.not_enroll' })
  await mediator.forward(wallet.did, 'for one')
  for (const socket of [phone, tablet])
    expect(await contentsOf(wallet, await socket.next())).toEqual(['for one'])
  // A message sent to the others would arrive before this reply.
  expect((await mediator.ask(others, other, `${pickup}/status-request`)).type).toBe(`${pickup}/status`)
  expect((await mediator.ask(strangers, stranger, trustPing)).type).toMatch(/ping-response$/)
})

test('invalid messages are ignored, and the socket stays open', async () => {
  await using mediator = await start()
  const [wallet, unknownDid] = [newWallet(), newWallet().did]
  using socket = await mediator.open(wallet)
  const forward = forwardOf(unknownDid, packFor(unknownDid, { type: 'x:y' }))
  for (const garbage of [
    '',
    'hello',
    '{}',
    packFor(unknownDid, { type: 'x:y' }),
    packFor(mediator.did, { type: 'x:y' }),
    packFor(mediator.did, forward),
  ]) {
    socket.send(garbage)
  }
  expect((await mediator.ask(socket, wallet, trustPing)).type).toMatch(/ping-response$/)
})

test('an oversized message closes the socket', async () => {
  await using mediator = await start()
  using socket = await mediator.open(newWallet())
  socket.send('x'.repeat(1_048_577))
  expect(await socket.closed()).toBe(1009)
})

test('many messages at once are answered in order', async () => {
  await using mediator = await start()
  const wallet = newWallet()
  using socket = await mediator.open(wallet)
  const ids = Array.from({ length: 200 }, (_, n) => `ping ${n}`)
  for (const id of ids) socket.send(wallet.pack(mediator.did, { id, type: trustPing }))
  const answered = []
  for (const _ of ids) answered.push((await socket.next()).thid)
  expect(answered).toEqual(ids)
})

test('sockets are accepted at /ws only, and only by a mediator', async () => {
  await using mediator = await start()
  await expect(mediator.open(newWallet(), '/')).rejects.toThrow('404')
  await expect(mediator.open(newWallet(), '/wss')).rejects.toThrow('404')
  const plain = await sharedAgent()
  await expect(openSocket(plain.didcommUrl, newWallet())).rejects.toThrow()
})

test('an agent that stops closes its sockets', async () => {
  const mediator = await start()
  using socket = await mediator.open(newWallet())
  await mediator[Symbol.asyncDispose]()
  expect(await socket.closed()).toBe(1006)
})

test('a socket without a valid message in time is closed; one with a valid message stays open', async () => {
  await using mediator = await startMediator()
  const server = await bind('127.0.0.1', 0, 'AGENT_DIDCOMM_PORT')
  const config = readConfig({})
  const agent = {
    mediator: mediator.mediator,
    config,
    env: { ownership: soleOwnership },
    log: openLog('silent'),
    scheduler: createScheduler(schedulerLimits(config)),
  }
  const closeSockets = serveSockets([server], agent, { patienceMs: 2_000 })
  const url = urlOf(server, '127.0.0.1')
  const wallet = newWallet()
  const ping = () => wallet.pack(mediator.did, { type: trustPing })
  try {
    using used = await openSocket(url, wallet)
    used.send(ping())
    await used.next()
    using silent = await openSocket(url, wallet)
    using noisy = await openSocket(url, wallet)
    for (const garbage of [
      'hello',
      packFor(wallet.did, { type: 'x:y' }),
      packFor(mediator.did, { type: 'x:y' }),
    ])
      noisy.send(garbage)
    expect([await silent.closed(), await noisy.closed()]).toEqual([1008, 1008])
    used.send(ping())
    expect((await used.next()).type).toMatch(/ping-response$/)
  } finally {
    closeSockets()
    await stop(server)
  }
})

test('the number of sockets of an address is limited, and closing one makes room', async () => {
  await using mediator = await start({ MEDIATOR_SOCKETS_PER_ADDRESS: '2' })
  const wallet = newWallet()
  using first = await mediator.open(wallet)
  const second = await mediator.open(wallet)
  await expect(mediator.open(wallet)).rejects.toThrow('429')
  second[Symbol.dispose]()
  await second.closed()
  // The other side notices it later.
  using third = await vi.waitFor(() => mediator.open(wallet), 60_000)
  for (const socket of [first, third])
    expect((await mediator.ask(socket, wallet, 'x:y')).type).toBe(problemReport)
})

test('a socket with too many messages is closed with "try again later"', async () => {
  await using mediator = await start({ MEDIATOR_MESSAGES_PER_MINUTE: '3' })
  const wallet = newWallet()
  using socket = await mediator.open(wallet)
  for (let n = 0; n < 50; n++) socket.send(wallet.pack(mediator.did, { type: trustPing }))
  expect(await socket.closed()).toBe(1013)
  expect(socket.arrived).toHaveLength(3)
})

test('a connection that ends during the handshake has no effect', async () => {
  await using daemon = await Daemon.start({ AGENT_MEDIATOR: 'true' })
  const { hostname, port } = new URL(daemon.didcommUrl)
  const handshake = [
    'GET /elsewhere HTTP/1.1',
    'Host: localhost',
    'Connection: Upgrade',
    'Upgrade: websocket',
    '',
    '',
  ].join('\r\n')
  for (let n = 0; n < 20; n++) {
    const socket = connect(Number(port), hostname)
    socket.on('error', () => undefined)
    await once(socket, 'connect')
    socket.write(handshake, () => socket.resetAndDestroy())
    await once(socket, 'close')
  }
  expect((await fetch(`${daemon.didcommUrl}/did`)).status).toBe(200)
})
