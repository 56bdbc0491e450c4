/**
 * Message Pickup 3.0 and Routing 2.0: forwarded messages are queued, delivered at least once, and deleted
 * when acknowledged.
 */
import { randomUUID } from 'node:crypto'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openSqlite } from '../../../src/foundation/storage/sqlite.ts'
import {
  type TestMediator,
  type TestWallet,
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
} from './_mediator.ts'

const deliver = async (
  mediator: TestMediator,
  wallet: TestWallet,
  body: Record<string, unknown> = { limit: 10 },
) => deliveredIn(await mediator.ask(wallet, `${pickup}/delivery-request`, body))

async function withAlias(mediator: TestMediator) {
  const [wallet, alias] = [await mediator.enrolled(), newWallet(mediator.did)]
  await mediator.register(wallet, alias.did)
  return { wallet, alias }
}

test('a forwarded message is delivered unchanged, repeatedly until it is acknowledged, and not afterwards', async () => {
  await using mediator = await startMediator()
  const { wallet, alias } = await withAlias(mediator)
  const packed = await mediator.forward(alias.did, 'for the alias')
  for (const _ of [1, 2]) {
    const answer = await mediator.ask(
      wallet,
      `${pickup}/delivery-request`,
      { limit: 10 },
      { id: 'the-request' },
    )
    expect(answer).toMatchObject({ type: `${pickup}/delivery`, thid: 'the-request', body: {} })
    const [message, ...more] = deliveredIn(answer)
    expect(more).toEqual([])
    expect(JSON.parse(message!.packed)).toEqual(JSON.parse(packed))
    expect((await alias.open(message!.packed)).message.body).toEqual({ content: 'for the alias' })
  }
  const [{ id } = { id: '' }] = await deliver(mediator, wallet)
  const status = await mediator.acknowledge(wallet, [id, 'no such id'])
  expect(status).toMatchObject({
    type: `${pickup}/status`,
    body: { message_count: 0, total_bytes: 0, live_delivery: false },
  })
  const empty = await mediator.ask(wallet, `${pickup}/delivery-request`, { limit: 10 })
  expect(empty).toMatchObject({ type: `${pickup}/status`, body: { message_count: 0 } })
})

test('a status counts queued messages, for all DIDs or for one', async () => {
  await using mediator = await startMediator()
  const { wallet, alias } = await withAlias(mediator)
  const first = await mediator.forward(alias.did)
  mediator.advance(60)
  const second = await mediator.forward(wallet.did, 'a longer one')
  mediator.advance(30)
  const all = await mediator.ask(wallet, `${pickup}/status-request`)
  expect(all?.body).toEqual({
    message_count: 2,
    total_bytes: first.length + second.length,
    longest_waited_seconds: 90,
    oldest_received_time: Date.parse('2026-01-01T00:00:00Z') / 1_000,
    newest_received_time: Date.parse('2026-01-01T00:01:00Z') / 1_000,
    live_delivery: false,
  })
  const one = await mediator.ask(wallet, `${pickup}/status-request`, { recipient_did: alias.did })
  expect(one?.body).toMatchObject({ recipient_did: alias.did, message_count: 1, total_bytes: first.length })
})

test('a delivery can be limited to one DID and to a number of messages, the oldest first', async () => {
  await using mediator = await startMediator()
  const { wallet, alias } = await withAlias(mediator)
  const sent = []
  for (const content of ['1', '2', '3']) sent.push(await mediator.forward(alias.did, content))
  await mediator.forward(wallet.did, 'for the wallet')
  const answer = await mediator.ask(wallet, `${pickup}/delivery-request`, {
    limit: 2,
    recipient_did: alias.did,
  })
  expect(answer?.body).toEqual({ recipient_did: alias.did })
  expect(deliveredIn(answer).map(({ packed }) => JSON.parse(packed).tag)).toEqual(
    sent.slice(0, 2).map((packed) => JSON.parse(packed).tag),
  )
  expect(await deliver(mediator, wallet)).toHaveLength(4)
  for (const limit of [0, -1, 'many']) {
    expect((await mediator.ask(wallet, `${pickup}/delivery-request`, { limit }))?.body).toMatchObject({
      code: 'e.p.msg',
    })
  }
})

test('a delivery stays below the size that peers read, but is never empty', async () => {
  await using mediator = await startMediator()
  const wallet = await mediator.enrolled()
  for (const size of [300_000, 200_000, 10]) await mediator.forward(wallet.did, 'x'.repeat(size))
  const lengths = []
  for (let left = await deliver(mediator, wallet); left.length > 0; left = await deliver(mediator, wallet)) {
    lengths.push(left.length)
    await mediator.acknowledge(
      wallet,
      left.map(({ id }) => id),
    )
  }
  expect(lengths).toEqual([1, 2])
})

test('an account cannot see, pick up or delete messages of another', async () => {
  await using mediator = await startMediator()
  const [victim, other, stranger] = [await mediator.enrolled(), await mediator.enrolled(), newWallet()]
  await mediator.forward(victim.did)
  const [{ id } = { id: '' }] = await deliver(mediator, victim)
  for (const attacker of [other, stranger]) {
    for (const type of ['status-request', 'delivery-request']) {
      const report = await mediator.ask(attacker, `${pickup}/${type}`, {
        limit: 1,
        recipient_did: victim.did,
      })
      expect(report).toMatchObject({ type: problemReport, body: { code: 'e.p.req.not_enroll' } })
    }
    await mediator.acknowledge(attacker, [id])
  }
  for (const type of ['status-request', 'delivery-request', 'messages-received']) {
    const report = await mediator.ask(stranger, `${pickup}/${type}`, { limit: 1, message_id_list: [] })
    expect(report?.body).toMatchObject({ code: 'e.p.req.not_enroll', args: [stranger.did] })
  }
  expect(await deliver(mediator, victim)).toHaveLength(1)
})

test('a forward may be authenticated, contain base64, and name a key of the recipient', async () => {
  await using mediator = await startMediator()
  const [wallet, sender] = [await mediator.enrolled(), newWallet()]
  const packed = packFor(wallet.did, { type: 'x:y' })
  const encodings = [Buffer.from(packed).toString('base64'), Buffer.from(packed).toString('base64url')]
  const forwards = [
    forwardOf(wallet.own.kid, packed),
    ...encodings.map((base64) => forwardOf(wallet.did, packed, [{ id: randomUUID(), data: { base64 } }])),
    { ...forwardOf(wallet.did, packed), type: 'https://didcomm.org/routing/2.1/forward' },
  ]
  for (const forward of forwards) {
    expect(
      await mediator.take(sender.pack(mediator.did, { ...forward, return_route: 'none' })),
    ).toBeUndefined()
    const [message] = await deliver(mediator, wallet)
    expect(JSON.parse(message!.packed)).toEqual(JSON.parse(packed))
    await mediator.acknowledge(wallet, [message!.id])
  }
})

test('a message that is forwarded twice is queued once', async () => {
  await using mediator = await startMediator()
  const wallet = await mediator.enrolled()
  const packed = packFor(wallet.did, { type: 'x:y' })
  for (const _ of [1, 2]) await mediator.take(packFor(mediator.did, forwardOf(wallet.did, packed)))
  expect(await deliver(mediator, wallet)).toHaveLength(1)
})

test('all messages of a forward are queued', async () => {
  await using mediator = await startMediator()
  const wallet = await mediator.enrolled()
  const packed = [1, 2].map(() => packFor(wallet.did, { type: 'x:y' }))
  const attachments = packed.flatMap((each) => forwardOf(wallet.did, each).attachments)
  await mediator.take(packFor(mediator.did, forwardOf(wallet.did, packed[0]!, attachments)))
  expect(await deliver(mediator, wallet, { limit: 10 })).toHaveLength(2)
})

test('a forward to an unknown recipient: a problem report for an authenticated sender, an error for others', async () => {
  await using mediator = await startMediator()
  const [sender, next] = [newWallet(), newWallet().did]
  const forward = forwardOf(next, packFor(next, { type: 'x:y' }))
  const report = await mediator.ask(sender, forwardType, forward.body, { attachments: forward.attachments })
  expect(report).toMatchObject({ type: problemReport, body: { code: 'e.p.req.not_enroll', args: [next] } })
  for (const from of [undefined, sender.did]) {
    const problem = await refusalOf(
      mediator.take(packFor(mediator.did, { ...forward, return_route: 'all', ...(from && { from }) })),
    )
    expect([problem.type, problem.status]).toEqual(['error:MediatorError:NotEnrolled', 422])
  }
})

test('after a removal no messages are queued for a DID, and those in the queue can be picked up', async () => {
  await using mediator = await startMediator()
  const { wallet, alias } = await withAlias(mediator)
  await mediator.forward(alias.did)
  await mediator.register(wallet, alias.did, 'remove')
  expect((await refusalOf(mediator.forward(alias.did))).type).toBe('error:MediatorError:NotEnrolled')
  expect(await deliver(mediator, wallet, { limit: 10, recipient_did: alias.did })).toHaveLength(1)
})

const envelope = packFor(newWallet().did, { type: 'x:y' })

test.each([
  ['no attachment', { attachments: [] }],
  [
    'more than ten attachments',
    { attachments: Array.from({ length: 11 }, () => ({ data: { base64: 'e30' } })) },
  ],
  ['a plaintext', { attachments: [{ data: { json: { id: '1', type: 'x:y', body: {} } } }] }],
  [
    'an envelope without recipients',
    { attachments: [{ data: { json: { ...JSON.parse(envelope), recipients: [] } } }] },
  ],
  ['invalid base64', { attachments: [{ data: { base64: '*' } }] }],
  ['base64 of text that is not JSON', { attachments: [{ data: { base64: 'aGVsbG8' } }] }],
  ['a link', { attachments: [{ data: { links: ['http://127.0.0.1/x'], hash: 'x' } }] }],
  ['no next', { body: {} }],
  ['a next that is not a DID', { body: { next: 'alice' } }],
  ['a next that is a list', { body: { next: ['did:x:y'] } }],
])('a forward with %s is refused', async (_, parts) => {
  await using mediator = await startMediator()
  const wallet = await mediator.enrolled()
  const problem = await refusalOf(
    mediator.take(packFor(mediator.did, { ...forwardOf(wallet.did, envelope), ...parts })),
  )
  expect(problem.type).toBe('error:MediatorError:MalformedMessage')
  expect(await deliver(mediator, wallet)).toEqual([])
})

test('nested forwards to this mediator arrive, endless nesting is refused', async () => {
  await using mediator = await startMediator()
  const wallet = await mediator.enrolled()
  let packed = packFor(
    mediator.did,
    forwardOf(wallet.did, packFor(wallet.did, { type: 'x:y', body: { content: 'deep' } })),
  )
  for (let depth = 1; depth <= 4; depth++) packed = packFor(mediator.did, forwardOf(mediator.did, packed))
  expect(await mediator.take(packed)).toBeUndefined()
  const [message] = await deliver(mediator, wallet)
  expect((await wallet.open(message!.packed)).message.body).toEqual({ content: 'deep' })
  expect((await refusalOf(mediator.take(packFor(mediator.did, forwardOf(mediator.did, packed))))).type).toBe(
    'error:MediatorError:MalformedMessage',
  )
})

test('a forward for a wallet behind another mediator is queued for that mediator, which forwards it', async () => {
  await using outer = await startMediator({ url: 'http://outer.example' })
  await using inner = await startMediator({ url: 'http://inner.example' })
  // The operator of the inner mediator has an account at the outer one.
  const operator = await outer.enrolled()
  await outer.register(operator, inner.did)
  const wallet = await inner.enrolled()
  const packed = packFor(wallet.did, { type: 'x:y', body: { content: 'two mediators' } })
  const forInner = packFor(inner.did, forwardOf(wallet.did, packed))
  await outer.take(packFor(outer.did, forwardOf(inner.did, forInner)))
  for (const { packed: passedOn } of await deliver(outer, operator)) await inner.take(passedOn)
  const [message] = await deliver(inner, wallet)
  expect((await wallet.open(message!.packed)).message.body).toEqual({ content: 'two mediators' })
})

test('a message inside a forward causes no reply to the sender of the forward', async () => {
  await using mediator = await startMediator()
  const wallet = await mediator.enrolled('http://wallet.example/inbox')
  const inner = wallet.pack(mediator.did, { type: `${mediation2}/keylist-query` })
  expect(await mediator.take(packFor(mediator.did, forwardOf(mediator.did, inner)))).toBeUndefined()
  expect((await wallet.open(mediator.posts[0]!.body)).message.type).toBe(`${mediation2}/keylist`)
})

test('a full queue refuses messages, loses none, and accepts more once there is room', async () => {
  await using mediator = await startMediator({ MEDIATOR_QUEUE_LIMIT: 2 })
  const { wallet, alias } = await withAlias(mediator)
  for (const content of ['1', '2']) await mediator.forward(alias.did, content)
  const extra = packFor(mediator.did, forwardOf(alias.did, packFor(alias.did, { type: 'x:y' })))
  const problem = await refusalOf(mediator.take(extra))
  expect([problem.type, problem.status]).toEqual(['error:MediatorError:QueueFull', 507])
  const sender = newWallet('http://sender.example')
  const forward = forwardOf(alias.did, packFor(alias.did, { type: 'x:y' }))
  const report = await mediator.ask(sender, forwardType, forward.body, { attachments: forward.attachments })
  expect(report).toMatchObject({ type: problemReport, body: { code: 'e.p.me.res.storage' } })
  const quiet = mediator.ask(sender, forwardType, forward.body, {
    attachments: forward.attachments,
    return_route: 'none',
  })
  expect((await refusalOf(quiet)).status).toBe(507)
  expect(mediator.posts).toEqual([])
  await mediator.forward(wallet.did, 'another DID has its own room')
  const waiting = await deliver(mediator, wallet, { limit: 10, recipient_did: alias.did })
  expect(waiting).toHaveLength(2)
  await mediator.ask(wallet, `${pickup}/messages-received`, { message_id_list: [waiting[0]!.id] })
  expect(await mediator.take(extra)).toBeUndefined()
  expect(await deliver(mediator, wallet, { limit: 10, recipient_did: alias.did })).toHaveLength(2)
})

test('the bytes of an account are limited over all of its DIDs, separately from other accounts', async () => {
  await using mediator = await startMediator({ MEDIATOR_QUEUE_BYTES: 12_000 })
  const { wallet, alias } = await withAlias(mediator)
  const other = await mediator.enrolled()
  await mediator.forward(alias.did, 'x'.repeat(6_000))
  expect((await refusalOf(mediator.forward(wallet.did, 'x'.repeat(6_000)))).type).toBe(
    'error:MediatorError:QueueFull',
  )
  await mediator.forward(other.did, 'x'.repeat(6_000))
  await mediator.forward(wallet.did, 'short')
  expect(await deliver(mediator, wallet)).toHaveLength(2)
})

test('the queue, the accounts and the DID survive a restart', async () => {
  await using mediator = await startMediator()
  const { wallet, alias } = await withAlias(mediator)
  await mediator.forward(alias.did, 'before')
  const before = mediator.did
  await mediator.restart()
  expect(mediator.did).toBe(before)
  await mediator.forward(alias.did, 'after')
  const bodies = []
  for (const { packed } of await deliver(mediator, wallet))
    bodies.push((await alias.open(packed)).message.body['content'])
  expect(bodies).toEqual(['before', 'after'])
})

test('messages that are not picked up are deleted after their lifetime, and not before', async () => {
  await using mediator = await startMediator({ MEDIATOR_MESSAGE_LIFETIME: 100 })
  const wallet = await mediator.enrolled()
  await mediator.forward(wallet.did, 'old')
  mediator.advance(99)
  await mediator.forward(wallet.did, 'young')
  await mediator.mediator.sweep()
  expect(await deliver(mediator, wallet)).toHaveLength(2)
  mediator.advance(2)
  await mediator.restart()
  const [left, ...more] = await deliver(mediator, wallet)
  expect(more).toEqual([])
  expect((await wallet.open(left!.packed)).message.body).toEqual({ content: 'young' })
})

test('keys are sealed on disk, and only the owner can read the file', async () => {
  await using mediator = await startMediator()
  const path = join(mediator.path, 'mediator.db')
  expect(statSync(path).mode & 0o777).toBe(0o600)
  const db = openSqlite(path, { readonly: true })
  const { keys } = db.prepare('select keys from identity').get() as { keys: string }
  db.close()
  expect(keys).toMatch(/^[\w-]+$/)
  expect(Buffer.from(keys, 'base64url').toString('latin1')).not.toContain('"d"')
})

test('a hundred concurrent forwards are all stored unchanged', async () => {
  await using mediator = await startMediator()
  const wallet = await mediator.enrolled()
  await Promise.all(Array.from({ length: 100 }, (_, n) => mediator.forward(wallet.did, `${n}`)))
  const contents = new Set<unknown>()
  for (const { packed } of await deliver(mediator, wallet, { limit: 100 }))
    contents.add((await wallet.open(packed)).message.body['content'])
  expect(contents.size).toBe(100)
})
