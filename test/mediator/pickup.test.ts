/**
 * Message Pickup 3.0 and Routing 2.0: forwarded messages are queued, delivered at least once, and deleted
 * when acknowledged.
 */
import { randomUUID } from 'node:crypto'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openSqlite } from '../../src/storage/sqlite.ts'
import {
  deliveredIn,
  forwardOf,
  forwardType,
  mediation2,
  newWallet,
  packFor,
  pickup,
  problemReport,
  refusalOf,
  startMediator,
  type TestMediator,
  type TestWallet,
} from './_mediator.ts'

const deliver = async (
  house: TestMediator,
  wallet: TestWallet,
  body: Record<string, unknown> = { limit: 10 },
) => deliveredIn(await house.ask(wallet, `${pickup}/delivery-request`, body))

async function withAlias(house: TestMediator) {
  const [wallet, alias] = [await house.enrolled(), newWallet(house.did)]
  await house.ask(wallet, `${mediation2}/keylist-update`, {
    updates: [{ recipient_did: alias.did, action: 'add' }],
  })
  return { wallet, alias }
}

test('a forwarded message is delivered as it came, again until it is acknowledged, and then no more', async () => {
  await using house = await startMediator()
  const { wallet, alias } = await withAlias(house)
  const packed = await house.forward(alias.did, 'for the alias')
  for (const _ of [1, 2]) {
    const answer = await house.ask(wallet, `${pickup}/delivery-request`, { limit: 10 }, { id: 'the-request' })
    expect(answer).toMatchObject({ type: `${pickup}/delivery`, thid: 'the-request', body: {} })
    const [message, ...more] = deliveredIn(answer)
    expect(more).toEqual([])
    expect(JSON.parse(message!.packed)).toEqual(JSON.parse(packed))
    expect((await alias.open(message!.packed)).message.body).toEqual({ content: 'for the alias' })
  }
  const [{ id } = { id: '' }] = await deliver(house, wallet)
  const status = await house.ask(wallet, `${pickup}/messages-received`, {
    message_id_list: [id, 'no such id'],
  })
  expect(status).toMatchObject({
    type: `${pickup}/status`,
    body: { message_count: 0, total_bytes: 0, live_delivery: false },
  })
  const empty = await house.ask(wallet, `${pickup}/delivery-request`, { limit: 10 })
  expect(empty).toMatchObject({ type: `${pickup}/status`, body: { message_count: 0 } })
})

test('a status counts what waits, for all DIDs or for one', async () => {
  await using house = await startMediator()
  const { wallet, alias } = await withAlias(house)
  const first = await house.forward(alias.did)
  house.advance(60)
  const second = await house.forward(wallet.did, 'a longer one')
  house.advance(30)
  const all = await house.ask(wallet, `${pickup}/status-request`)
  expect(all?.body).toEqual({
    message_count: 2,
    total_bytes: first.length + second.length,
    longest_waited_seconds: 90,
    oldest_received_time: Date.parse('2026-01-01T00:00:00Z') / 1_000,
    newest_received_time: Date.parse('2026-01-01T00:01:00Z') / 1_000,
    live_delivery: false,
  })
  const one = await house.ask(wallet, `${pickup}/status-request`, { recipient_did: alias.did })
  expect(one?.body).toMatchObject({ recipient_did: alias.did, message_count: 1, total_bytes: first.length })
})

test('a delivery may be asked for one DID, and holds no more than asked for, the oldest first', async () => {
  await using house = await startMediator()
  const { wallet, alias } = await withAlias(house)
  const sent = []
  for (const content of ['1', '2', '3']) sent.push(await house.forward(alias.did, content))
  await house.forward(wallet.did, 'for the wallet')
  const answer = await house.ask(wallet, `${pickup}/delivery-request`, { limit: 2, recipient_did: alias.did })
  expect(answer?.body).toEqual({ recipient_did: alias.did })
  expect(deliveredIn(answer).map(({ packed }) => JSON.parse(packed).tag)).toEqual(
    sent.slice(0, 2).map((packed) => JSON.parse(packed).tag),
  )
  expect(await deliver(house, wallet)).toHaveLength(4)
  for (const limit of [0, -1, 'many']) {
    expect((await house.ask(wallet, `${pickup}/delivery-request`, { limit }))?.body).toMatchObject({
      code: 'e.p.msg',
    })
  }
})

test('a delivery stays below the size that peers read, but is never empty', async () => {
  await using house = await startMediator()
  const wallet = await house.enrolled()
  for (const size of [300_000, 200_000, 10]) await house.forward(wallet.did, 'x'.repeat(size))
  const lengths = []
  for (let left = await deliver(house, wallet); left.length > 0; left = await deliver(house, wallet)) {
    lengths.push(left.length)
    await house.ask(wallet, `${pickup}/messages-received`, { message_id_list: left.map(({ id }) => id) })
  }
  expect(lengths).toEqual([1, 2])
})

test('an account cannot see, pick up or delete messages of another', async () => {
  await using house = await startMediator()
  const [victim, other, stranger] = [await house.enrolled(), await house.enrolled(), newWallet()]
  await house.forward(victim.did)
  const [{ id } = { id: '' }] = await deliver(house, victim)
  for (const attacker of [other, stranger]) {
    for (const type of ['status-request', 'delivery-request']) {
      const report = await house.ask(attacker, `${pickup}/${type}`, { limit: 1, recipient_did: victim.did })
      expect(report).toMatchObject({ type: problemReport, body: { code: 'e.p.req.not_enroll' } })
    }
    await house.ask(attacker, `${pickup}/messages-received`, { message_id_list: [id] })
  }
  for (const type of ['status-request', 'delivery-request', 'messages-received']) {
    const report = await house.ask(stranger, `${pickup}/${type}`, { limit: 1, message_id_list: [] })
    expect(report?.body).toMatchObject({ code: 'e.p.req.not_enroll', args: [stranger.did] })
  }
  expect(await deliver(house, victim)).toHaveLength(1)
})

test('a forward may come from a wallet, hold base64, and name a key of the recipient', async () => {
  await using house = await startMediator()
  const [wallet, sender] = [await house.enrolled(), newWallet()]
  const packed = packFor(wallet.did, { type: 'x:y' })
  const encodings = [Buffer.from(packed).toString('base64'), Buffer.from(packed).toString('base64url')]
  const forwards = [
    forwardOf(wallet.own.kid, packed),
    ...encodings.map((base64) => forwardOf(wallet.did, packed, [{ id: randomUUID(), data: { base64 } }])),
    { ...forwardOf(wallet.did, packed), type: 'https://didcomm.org/routing/2.1/forward' },
  ]
  for (const forward of forwards) {
    expect(await house.take(sender.pack(house.did, { ...forward, return_route: 'none' }))).toBeUndefined()
    const [message] = await deliver(house, wallet)
    expect(JSON.parse(message!.packed)).toEqual(JSON.parse(packed))
    await house.ask(wallet, `${pickup}/messages-received`, { message_id_list: [message!.id] })
  }
})

test('one message that is forwarded twice waits once', async () => {
  await using house = await startMediator()
  const wallet = await house.enrolled()
  const packed = packFor(wallet.did, { type: 'x:y' })
  for (const _ of [1, 2]) await house.take(packFor(house.did, forwardOf(wallet.did, packed)))
  expect(await deliver(house, wallet)).toHaveLength(1)
})

test('a forward to an unknown recipient: a problem report for an authenticated sender, an error for others', async () => {
  await using house = await startMediator()
  const [sender, next] = [newWallet(), newWallet().did]
  const forward = forwardOf(next, packFor(next, { type: 'x:y' }))
  const report = await house.ask(sender, forwardType, forward.body, { attachments: forward.attachments })
  expect(report).toMatchObject({ type: problemReport, body: { code: 'e.p.req.not_enroll', args: [next] } })
  for (const from of [undefined, sender.did]) {
    const problem = await refusalOf(
      house.take(packFor(house.did, { ...forward, return_route: 'all', ...(from && { from }) })),
    )
    expect([problem.type, problem.status]).toEqual(['error:MediatorError:NotEnrolled', 422])
  }
})

test('after a removal no messages are queued for a DID, and those in the queue can be picked up', async () => {
  await using house = await startMediator()
  const { wallet, alias } = await withAlias(house)
  await house.forward(alias.did)
  await house.ask(wallet, `${mediation2}/keylist-update`, {
    updates: [{ recipient_did: alias.did, action: 'remove' }],
  })
  expect((await refusalOf(house.forward(alias.did))).type).toBe('error:MediatorError:NotEnrolled')
  expect(await deliver(house, wallet, { limit: 10, recipient_did: alias.did })).toHaveLength(1)
})

const envelope = packFor(newWallet().did, { type: 'x:y' })

test.each([
  ['no attachment', { attachments: [] }],
  [
    'two attachments',
    { attachments: [...forwardOf('', envelope).attachments, ...forwardOf('', envelope).attachments] },
  ],
  ['a plaintext', { attachments: [{ data: { json: { id: '1', type: 'x:y', body: {} } } }] }],
  [
    'an envelope without recipients',
    { attachments: [{ data: { json: { ...JSON.parse(envelope), recipients: [] } } }] },
  ],
  ['no base64', { attachments: [{ data: { base64: '*' } }] }],
  ['base64 of no JSON', { attachments: [{ data: { base64: 'aGVsbG8' } }] }],
  ['a link', { attachments: [{ data: { links: ['http://127.0.0.1/x'], hash: 'x' } }] }],
  ['no next', { body: {} }],
  ['a next that is no DID', { body: { next: 'alice' } }],
  ['a next that is a list', { body: { next: ['did:x:y'] } }],
])('a forward with %s is refused', async (_, parts) => {
  await using house = await startMediator()
  const wallet = await house.enrolled()
  const problem = await refusalOf(
    house.take(packFor(house.did, { ...forwardOf(wallet.did, envelope), ...parts })),
  )
  expect(problem.type).toBe('error:MediatorError:MalformedMessage')
  expect(await deliver(house, wallet)).toEqual([])
})

test('a forward inside of forwards to this mediator arrives, an endless one does not', async () => {
  await using house = await startMediator()
  const wallet = await house.enrolled()
  let packed = packFor(
    house.did,
    forwardOf(wallet.did, packFor(wallet.did, { type: 'x:y', body: { content: 'deep' } })),
  )
  for (let depth = 1; depth <= 4; depth++) packed = packFor(house.did, forwardOf(house.did, packed))
  expect(await house.take(packed)).toBeUndefined()
  const [message] = await deliver(house, wallet)
  expect((await wallet.open(message!.packed)).message.body).toEqual({ content: 'deep' })
  expect((await refusalOf(house.take(packFor(house.did, forwardOf(house.did, packed))))).type).toBe(
    'error:MediatorError:MalformedMessage',
  )
})

test('a forward for a wallet behind another mediator waits for that mediator, which passes it on', async () => {
  await using outer = await startMediator({ url: 'http://outer.example' })
  await using inner = await startMediator({ url: 'http://inner.example' })
  // The inner mediator is reached through an account of its operator at the outer one.
  const operator = await outer.enrolled()
  await outer.ask(operator, `${mediation2}/keylist-update`, {
    updates: [{ recipient_did: inner.did, action: 'add' }],
  })
  const wallet = await inner.enrolled()
  const packed = packFor(wallet.did, { type: 'x:y', body: { content: 'two mediators' } })
  const forInner = packFor(inner.did, forwardOf(wallet.did, packed))
  await outer.take(packFor(outer.did, forwardOf(inner.did, forInner)))
  for (const { packed: passedOn } of await deliver(outer, operator)) await inner.take(passedOn)
  const [message] = await deliver(inner, wallet)
  expect((await wallet.open(message!.packed)).message.body).toEqual({ content: 'two mediators' })
})

test('what comes in a forward has no answer for the one who posted it', async () => {
  await using house = await startMediator()
  const wallet = await house.enrolled('http://wallet.example/inbox')
  const inner = wallet.pack(house.did, { type: `${mediation2}/keylist-query` })
  expect(await house.take(packFor(house.did, forwardOf(house.did, inner)))).toBeUndefined()
  expect((await wallet.open(house.posts[0]!.body)).message.type).toBe(`${mediation2}/keylist`)
})

test('a full queue refuses messages, loses none, and accepts more once there is room', async () => {
  await using house = await startMediator({ limits: { queue: 2 } })
  const { wallet, alias } = await withAlias(house)
  for (const content of ['1', '2']) await house.forward(alias.did, content)
  const extra = packFor(house.did, forwardOf(alias.did, packFor(alias.did, { type: 'x:y' })))
  const problem = await refusalOf(house.take(extra))
  expect([problem.type, problem.status]).toEqual(['error:MediatorError:QueueFull', 507])
  const sender = newWallet('http://sender.example')
  const forward = forwardOf(alias.did, packFor(alias.did, { type: 'x:y' }))
  const told = await house.ask(sender, forwardType, forward.body, { attachments: forward.attachments })
  expect(told).toMatchObject({ type: problemReport, body: { code: 'e.p.me.res.storage' } })
  const quiet = house.ask(sender, forwardType, forward.body, {
    attachments: forward.attachments,
    return_route: 'none',
  })
  expect((await refusalOf(quiet)).status).toBe(507)
  expect(house.posts).toEqual([])
  await house.forward(wallet.did, 'another DID has its own room')
  const waiting = await deliver(house, wallet, { limit: 10, recipient_did: alias.did })
  expect(waiting).toHaveLength(2)
  await house.ask(wallet, `${pickup}/messages-received`, { message_id_list: [waiting[0]!.id] })
  expect(await house.take(extra)).toBeUndefined()
  expect(await deliver(house, wallet, { limit: 10, recipient_did: alias.did })).toHaveLength(2)
})

test('an account holds no more bytes than it may, over all of its DIDs, and another has its own', async () => {
  await using house = await startMediator({ limits: { queueBytes: 12_000 } })
  const { wallet, alias } = await withAlias(house)
  const other = await house.enrolled()
  await house.forward(alias.did, 'x'.repeat(6_000))
  expect((await refusalOf(house.forward(wallet.did, 'x'.repeat(6_000)))).type).toBe(
    'error:MediatorError:QueueFull',
  )
  await house.forward(other.did, 'x'.repeat(6_000))
  await house.forward(wallet.did, 'short')
  expect(await deliver(house, wallet)).toHaveLength(2)
})

test('the queue, the accounts and the DID outlive a restart', async () => {
  await using house = await startMediator()
  const { wallet, alias } = await withAlias(house)
  await house.forward(alias.did, 'before')
  const before = house.did
  await house.restart()
  expect(house.did).toBe(before)
  await house.forward(alias.did, 'after')
  const bodies = []
  for (const { packed } of await deliver(house, wallet))
    bodies.push((await alias.open(packed)).message.body['content'])
  expect(bodies).toEqual(['before', 'after'])
})

test('messages that are not picked up are deleted after their lifetime, and not before', async () => {
  await using house = await startMediator({ limits: { lifetime: 100 } })
  const wallet = await house.enrolled()
  await house.forward(wallet.did, 'old')
  house.advance(99)
  await house.forward(wallet.did, 'young')
  await house.mediator.sweep()
  expect(await deliver(house, wallet)).toHaveLength(2)
  house.advance(2)
  await house.restart()
  const [left, ...more] = await deliver(house, wallet)
  expect(more).toEqual([])
  expect((await wallet.open(left!.packed)).message.body).toEqual({ content: 'young' })
})

test('keys are sealed on disk, and only the owner can read the file', async () => {
  await using house = await startMediator()
  const path = join(house.path, 'mediator.db')
  expect(statSync(path).mode & 0o777).toBe(0o600)
  const db = openSqlite(path, { readonly: true })
  const { keys } = db.prepare('select keys from identity').get() as { keys: string }
  db.close()
  expect(keys).toMatch(/^[\w-]+$/)
  expect(Buffer.from(keys, 'base64url').toString('latin1')).not.toContain('"d"')
})

test('a hundred forwards at once are all kept, in one piece', async () => {
  await using house = await startMediator()
  const wallet = await house.enrolled()
  await Promise.all(Array.from({ length: 100 }, (_, n) => house.forward(wallet.did, `${n}`)))
  const contents = new Set<unknown>()
  for (const { packed } of await deliver(house, wallet, { limit: 100 }))
    contents.add((await wallet.open(packed)).message.body['content'])
  expect(contents.size).toBe(100)
})
