/** `/events`: the paged event log, and test events. */
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { startAgent } from '../../support/agent.ts'
import { connect, refusal } from '../../support/tenants.ts'
import { Webhook } from '../../support/webhook.ts'
import { untilEnd } from '../../support/shared.ts'

const agent = await untilEnd(startAgent())

const nilId = '00000000-0000-0000-0000-000000000000'
const query = (walletId: string) => ({ query: { walletId } })

test('the log has events in order, each with its thread and its type', async () => {
  const [inviter, invitee] = [await agent.newTenant(), await agent.newTenant()]
  const { thid } = await connect(inviter, invitee)
  const { longFormDid } = await inviter.call('POST /did-registrar/dids', {
    body: { documentTemplate: { publicKeys: [{ id: 'key-1', purpose: 'authentication' }] }, method: 'web' },
  })
  const { contents } = await inviter.call('GET /events')
  expect(contents.map(({ type, data }) => [type, data.state ?? data.status])).toEqual([
    ['ConnectionUpdated', 'InvitationGenerated'],
    ['ConnectionUpdated', 'ConnectionRequestReceived'],
    ['ConnectionUpdated', 'ConnectionResponsePending'],
    ['ConnectionUpdated', 'ConnectionResponseSent'],
    ['DIDStatusUpdated', 'PUBLISHED'],
  ])
  expect((await inviter.call('GET /events', { query: { thid } })).contents).toEqual(contents.slice(0, 4))
  expect((await inviter.call('GET /events', { query: { thid: longFormDid } })).contents).toEqual(
    contents.slice(4),
  )
  expect((await inviter.call('GET /events', { query: { type: 'DIDStatusUpdated' } })).contents).toEqual(
    contents.slice(4),
  )
  expect((await inviter.call('GET /events', { query: { type: 'DIDStatusUpdated', thid } })).contents).toEqual(
    [],
  )
  const [first] = contents
  expect(await inviter.call('GET /events/{id}', { path: { id: first!.id } })).toEqual(first)
})

test('pages continue after the last event, and the last page has no next one', async () => {
  const { call, walletId, apiKey } = await agent.newTenant()
  const made = []
  for (let n = 0; n < 5; n++)
    made.push(await call('POST /events/test', { body: { type: 'ConnectionUpdated' } }))
  await call('POST /events/test', { body: { type: 'PresentationUpdated' } })
  const first = await call('GET /events', { query: { limit: 2, type: 'ConnectionUpdated' } })
  expect(first).toEqual({
    self: '/events?limit=2&type=ConnectionUpdated',
    kind: 'EventPage',
    pageOf: '/events?limit=2&type=ConnectionUpdated',
    next: `/events?limit=2&type=ConnectionUpdated&after=${made[1]!.id}`,
    contents: made.slice(0, 2),
  })
  const seen = [...first.contents]
  for (let { next } = first; next !== undefined;) {
    const page = (await (
      await agent.send('GET', next, { headers: { apikey: apiKey } })
    ).json()) as typeof first
    seen.push(...page.contents)
    next = page.next
  }
  expect(seen).toEqual(made)
  const newest = await call('GET /events', { query: { limit: 2, offset: 1, order: 'desc' } })
  expect(newest.contents).toEqual([made[4], made[3]])
  expect(newest.next).toBe(`/events?limit=2&order=desc&after=${made[3]!.id}`)
  const older = await call('GET /events', { query: { after: made[1]!.id, order: 'desc' } })
  expect(older.contents).toEqual([made[0]])
  expect((await call('GET /events', { query: { after: nilId } })).contents).toHaveLength(6)
  expect((await agent.admin('GET /events', query(walletId))).contents).toHaveLength(6)
})

test('a test event is marked, and delivered like all others', async () => {
  await using webhook = await Webhook.open()
  const { call, walletId } = await agent.newTenant()
  await call('POST /events/webhooks', { body: { url: webhook.url } })
  const made = await call('POST /events/test', { body: { type: 'IssueCredentialRecordUpdated' } })
  expect(made).toMatchObject({ type: 'IssueCredentialRecordUpdated', walletId, data: { test: true } })
  expect(await webhook.waitFor('the test event', ({ id }) => id === made.id)).toEqual(made)
  expect(
    (await refusal(call('POST /events/test', { body: { type: 'Nonsense' as 'ConnectionUpdated' } }))).detail,
  ).toMatch(/^type: /)
})

test('a tenant has its own events only, and the administrator gets the wallet id', async () => {
  const [one, two] = [await agent.newTenant(), await agent.newTenant()]
  const { id } = await one.call('POST /events/test', { body: { type: 'ConnectionUpdated' } })
  expect(await refusal(two.call('GET /events/{id}', { path: { id } }))).toMatchObject({
    status: 404,
    type: 'NotFound',
  })
  expect((await two.call('GET /events')).contents).toEqual([])
  expect(await refusal(two.call('GET /events', query(one.walletId)))).toMatchObject({ status: 404 })
  expect(await refusal(two.call('GET /events', { query: { after: id } }))).toMatchObject({ status: 400 })
  expect((await one.call('GET /events', query(one.walletId))).contents).toHaveLength(1)
  expect(await agent.admin('GET /events/{id}', { path: { id }, ...query(one.walletId) })).toMatchObject({
    id,
  })
  expect(await refusal(agent.admin('GET /events'))).toMatchObject({
    status: 400,
    detail: expect.stringContaining('walletId: '),
  })
  expect(await refusal(agent.admin('GET /events', query(randomUUID())))).toMatchObject({ status: 404 })
})

test.each([
  [{ after: randomUUID() }, 'after: there is no event'],
  [{ after: 'x' }, 'after: '],
  [{ type: 'Nonsense' as 'ConnectionUpdated' }, 'type: '],
  [{ limit: 1_001 }, 'limit: '],
])('%j is 400', async (wrong, reason) => {
  expect(await refusal(agent.tenant('GET /events', { query: wrong }))).toMatchObject({
    status: 400,
    detail: expect.stringContaining(reason),
  })
})
