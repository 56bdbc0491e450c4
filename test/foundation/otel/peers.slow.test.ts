/**
 * Trace contexts in messages: only if the operator wants it, across a crash, and none from strangers
 * otherwise.
 */
import { expect, test } from 'vitest'
import { startAgent } from '../../support/agent.ts'
import type { Tenant } from '../../support/api.ts'
import { Daemon } from '../../support/daemon.ts'
import { withProbe } from '../../support/kill-points.ts'
import { openParty } from '../../support/party.ts'
import { until } from '../../support/tenants.ts'
import { Webhook } from '../../support/webhook.ts'
import { exportsTo, newTrace, openCollector } from './_collector.ts'

const response = 'https://atalaprism.io/mercury/connections/1.0/response'
const basic = 'https://didcomm.org/basicmessage/2.0/message'
const ping = 'https://didcomm.org/trust-ping/2.0/ping'
const pong = 'https://didcomm.org/trust-ping/2.0/ping-response'

/**
 * The answer to a ping with a `traceparent`, after a message that a request with one has caused. Fails if the
 * envelope's request has a header.
 */
async function exchange(tenant: Tenant) {
  await using party = await openParty()
  const [ours, theirs] = [newTrace(), newTrace()]
  const { connectionId, theirDid } = await party.connect(ours.of(tenant))
  await party.next(response)
  await ours.of(tenant).call('POST /messages', { body: { connectionId, content: 'hello' } })
  const told = await party.next(basic)
  await party.send(theirDid, { type: ping, traceparent: theirs.traceparent })
  const answer = await party.next(pong)
  expect(party.requests.map(({ headers }) => headers['traceparent'])).toEqual([
    undefined,
    undefined,
    undefined,
  ])
  return { ours, theirs, told, answer }
}

test('without a collector, no message and no event has a context', async () => {
  await using webhook = await Webhook.open()
  await using agent = await startAgent({ GLOBAL_WEBHOOK_URL: webhook.url, TRACE_PEERS: 'true' })
  const tenant = await agent.newTenant()
  const { told, answer } = await exchange(tenant)
  expect([told, answer].filter((message) => 'traceparent' in message)).toEqual([])
  await webhook.waitFor('an event', ({ walletId }) => walletId === tenant.walletId)
  expect(webhook.deliveries.filter(({ headers }) => 'traceparent' in headers)).toEqual([])
})

test('without TRACE_PEERS, contexts stay in the agent, and those of others are ignored', async () => {
  await using collector = await openCollector()
  await using daemon = await Daemon.start(exportsTo(collector, 'agent'))
  const tenant = await daemon.newTenant('a')
  const { ours, theirs, told, answer } = await exchange(tenant)
  expect([told, answer].filter((message) => 'traceparent' in message)).toEqual([])
  const own = await collector.trace(ours.traceId, 'the message', (spans) =>
    spans.some(({ name }) => name === 'send basicmessage/2.0/message'),
  )
  expect(own.map(({ name }) => name)).toContain('POST /messages')
  const find = () => collector.spans.find(({ name }) => name === 'receive trust-ping/2.0/ping')
  const received = await until(
    'the ping',
    () => Promise.resolve(find()),
    (span) => span !== undefined,
  )
  expect(received).toMatchObject({ parentId: '' })
  expect(collector.spans.filter(({ traceId }) => traceId === theirs.traceId)).toEqual([])

  // Writes of several requests share a commit, and keep their traces.
  const traces = Array.from({ length: 20 }, newTrace)
  await Promise.all(traces.map(({ of }) => of(tenant).call('POST /connections', { body: {} })))
  for (const { traceId } of traces) {
    const spans = await collector.trace(traceId, 'the request', (found) =>
      found.some(({ name }) => name === 'POST /connections'),
    )
    const names = ['POST /connections', 'connection InvitationGenerated', 'transaction']
    expect(spans.map(({ name }) => name).toSorted()).toEqual(names)
  }
})

test('with TRACE_PEERS, a peer’s trace is continued in the answer, and a malformed one is dropped', async () => {
  await using collector = await openCollector()
  await using daemon = await Daemon.start({ ...exportsTo(collector, 'agent'), TRACE_PEERS: 'true' })
  const tenant = await daemon.newTenant('a')
  const { ours, theirs, told, answer } = await exchange(tenant)
  expect(told['traceparent']).toMatch(new RegExp(`^00-${ours.traceId}-`))
  expect(answer['traceparent']).toMatch(new RegExp(`^00-${theirs.traceId}-`))
  const [received] = await collector
    .trace(theirs.traceId, 'the ping', (spans) => spans.some(({ name }) => name.startsWith('receive')))
    .then((spans) => spans.filter(({ name }) => name.startsWith('receive')))
  expect(received).toMatchObject({ parentId: theirs.rootId, kind: 5 })

  await using party = await openParty()
  const { theirDid } = await party.connect(tenant)
  const known = new Set([ours.traceId, theirs.traceId])
  for (const traceparent of [
    'nonsense',
    7,
    null,
    `00-${'0'.repeat(32)}-${'1'.repeat(16)}-01`,
    '1'.repeat(5_000),
  ]) {
    expect(await party.send(theirDid, { type: ping, traceparent })).toMatchObject({ status: 200 })
    const { traceparent: own } = await party.next(pong)
    const [, traceId] = String(own).split('-')
    expect(traceId).toMatch(/^[0-9a-f]{32}$/)
    expect(known).not.toContain(traceId)
    known.add(traceId!)
  }
})

test('a message that a crash and a busy receiver delay belongs to the trace of its request', async () => {
  await using collector = await openCollector()
  let isBusy = false
  await using party = await openParty({
    answer: (reply) => {
      reply.writeHead(isBusy ? 503 : 200).end()
      isBusy = false
    },
  })
  await using daemon = await Daemon.start({
    ...exportsTo(collector, 'agent'),
    ...withProbe,
    TRACE_PEERS: 'true',
    FAULTS: JSON.stringify({ awaits: true }),
  })
  const tenant = await daemon.newTenant('a')
  const { connectionId } = await party.connect(tenant)
  await party.next(response)
  const { traceId, rootId, of } = newTrace()
  await daemon.exchange({ type: 'kill', kill: { point: 'message:before', nth: 1 } })
  // The process may die before it has sent the reply.
  await of(tenant)
    .call('POST /messages', { body: { connectionId, content: 'hello' } })
    .catch(() => undefined)
  await daemon.ended
  expect(party.requests).toHaveLength(1)
  isBusy = true
  await daemon.start()

  const told = await party.next(basic)
  const sent = await collector
    .trace(traceId, 'both attempts', (spans) => spans.filter(({ kind }) => kind === 4).length === 2)
    .then((spans) => spans.filter(({ kind }) => kind === 4))
  expect(sent).toMatchObject([
    { name: 'send basicmessage/2.0/message', events: ['rescheduled'], status: 2 },
    { name: 'send basicmessage/2.0/message', events: [], status: 0 },
  ])
  expect(sent[0]!.attributes).toMatchObject({ 'error.type': 'NotDelivered' })
  expect(sent[1]!.attributes).toMatchObject({ 'identity_agent.job.attempt': 2 })
  // Both continue the span that queued the message, which died with the process.
  expect(sent[1]!.parentId).toBe(sent[0]!.parentId)
  expect(sent[1]!.parentId).not.toBe(rootId)
  expect(party.requests).toHaveLength(3)
  expect(told['traceparent']).toBe(`00-${traceId}-${sent[0]!.spanId}-01`)
})
