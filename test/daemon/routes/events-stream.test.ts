/** `/events/stream`: every event once and in order, from the position of the reader. */
import { createConnection } from 'node:net'
import { once } from 'node:events'
import { expect, test } from 'vitest'
import { appendEvent } from '../../../src/wallet/events/event.ts'
import { adminToken, startAgent, type TestAgent } from '../../support/agent.ts'
import { Daemon } from '../../support/daemon.ts'
import { follow } from '../../support/events.ts'
import { connect, until } from '../../support/tenants.ts'

type Tenant = Awaited<ReturnType<TestAgent['newTenant']>>
const type = 'ConnectionUpdated'
const make = async ({ call }: Tenant, count: number) => {
  const ids: string[] = []
  for (let n = 0; n < count; n++) ids.push((await call('POST /events/test', { body: { type } })).id)
  return ids
}
const idsOf = (events: { id: string }[]) => events.map(({ id }) => id)

test('a stream begins with the next event, and has the envelopes of the log', async () => {
  await using agent = await startAgent()
  const [inviter, invitee] = [await agent.newTenant(), await agent.newTenant()]
  const [last] = await make(inviter, 1)
  const stream = await follow(agent.url, { apikey: inviter.apiKey })
  expect(stream.lastEventId).toBe(last)
  await connect(inviter, invitee)
  const events = await stream.take(4)
  expect(events.map(({ data }) => data.state)).toEqual([
    'InvitationGenerated',
    'ConnectionRequestReceived',
    'ConnectionResponsePending',
    'ConnectionResponseSent',
  ])
  expect(events).toEqual((await inviter.call('GET /events', { query: { after: last } })).contents)
  stream.close()
})

test('at the transition from logged to live events, none is missing and none is repeated', async () => {
  await using agent = await startAgent()
  const tenant = await agent.newTenant()
  const empty = await follow(agent.url, { apikey: tenant.apiKey })
  const logged = await make(tenant, 50)
  const making = make(tenant, 100)
  // Opened while events are created, so that each has another transition.
  const streams = []
  for (let n = 0; n < 10; n++)
    streams.push(await follow(agent.url, { apikey: tenant.apiKey }, { lastEventId: logged[n]! }))
  const all = [...logged, ...(await making)]
  for (const [n, stream] of streams.entries())
    expect(idsOf(await stream.take(149 - n))).toEqual(all.slice(n + 1))
  expect(idsOf(await empty.take(150))).toEqual(all)
  for (const { close } of [...streams, empty]) close()
})

test('a reader that reconnects continues after its last id', async () => {
  await using agent = await startAgent()
  const tenant = await agent.newTenant()
  const making = make(tenant, 60)
  const seen: string[] = []
  let lastEventId = '00000000-0000-0000-0000-000000000000'
  while (seen.length < 60) {
    const stream = await follow(agent.url, { apikey: tenant.apiKey }, { lastEventId })
    seen.push(...idsOf(await stream.take(Math.min(7, 60 - seen.length))))
    stream.close()
    lastEventId = seen.at(-1)!
  }
  expect(seen).toEqual(await making)
})

test('a stream can be limited to one type or one thread', async () => {
  await using agent = await startAgent()
  const tenant = await agent.newTenant()
  const [byType, byThread] = [
    await follow(agent.url, { apikey: tenant.apiKey }, { query: { type: 'PresentationUpdated' } }),
    await follow(agent.url, { apikey: tenant.apiKey }, { query: { thid: 'unknown' } }),
  ]
  await make(tenant, 25)
  const { id } = await tenant.call('POST /events/test', { body: { type: 'PresentationUpdated' } })
  expect(idsOf(await byType.take(1))).toEqual([id])
  agent.agent.notifier.close()
  expect([await byType.rest(), await byThread.rest()]).toEqual([[], []])
})

test('a tenant does not receive events of others; the administrator follows all wallets live, or one from any position', async () => {
  await using agent = await startAgent()
  const admin = { 'x-admin-api-key': adminToken }
  const [one, two] = [await agent.newTenant(), await agent.newTenant()]
  const earlier = [...(await make(one, 2)), ...(await make(two, 1))]
  const [all, ofOne] = [
    await follow(agent.url, admin),
    await follow(agent.url, admin, { query: { walletId: one.walletId }, lastEventId: earlier[0]! }),
  ]
  const own = await follow(agent.url, { apikey: two.apiKey })
  const three = await agent.newTenant()
  const later = [...(await make(one, 25)), ...(await make(two, 1)), ...(await make(three, 1))]
  const seen = await all.take(27)
  expect(idsOf(seen).toSorted()).toEqual(later)
  expect(idsOf(seen.filter(({ walletId }) => walletId === one.walletId))).toEqual(later.slice(0, 25))
  expect(idsOf(await ofOne.take(26))).toEqual([earlier[1], ...later.slice(0, 25)])
  expect(idsOf(await own.take(1))).toEqual([later[25]])
  expect(all.lastEventId).toBeUndefined()
  for (const { close } of [all, ofOne, own]) close()
})

test('an invalid start is refused', async () => {
  await using agent = await startAgent()
  const [one, two] = [await agent.newTenant(), await agent.newTenant()]
  const [id] = await make(one, 1)
  const problem = (status: number, detail: string) => ({
    problem: { status, detail: expect.stringContaining(detail) },
  })
  const headers = { apikey: two.apiKey }
  await expect(follow(agent.url, headers, { lastEventId: id! })).rejects.toMatchObject(
    problem(400, 'after: there is no event'),
  )
  await expect(follow(agent.url, headers, { lastEventId: 'x' })).rejects.toMatchObject(
    problem(400, 'last-event-id: '),
  )
  await expect(follow(agent.url, headers, { query: { walletId: one.walletId } })).rejects.toMatchObject(
    problem(404, one.walletId),
  )
  await expect(follow(agent.url, { apikey: 'unknown' })).rejects.toMatchObject(problem(401, ''))
  const admin = { 'x-admin-api-key': adminToken }
  await expect(follow(agent.url, admin, { lastEventId: id! })).rejects.toMatchObject(
    problem(400, 'walletId: '),
  )
})

test('the streams of a wallet are limited, and closing one makes room', async () => {
  await using agent = await startAgent()
  const tenant = await agent.newTenant()
  const open = () => follow(agent.url, { apikey: tenant.apiKey })
  const streams = []
  for (let n = 0; n < 50; n++) streams.push(await open())
  await expect(open()).rejects.toMatchObject({ problem: { status: 429, type: 'TooManyRequests' } })
  streams[7]!.close()
  const room = await until(
    'room for a stream',
    () => open().catch(() => undefined),
    (stream) => stream !== undefined,
  )
  for (const { close } of [...streams, room!]) close()
})

test('revoking a key ends its stream', async () => {
  await using agent = await startAgent()
  const { entityId, apiKey, call } = await agent.newTenant()
  const stream = await follow(agent.url, { apikey: apiKey })
  const other = 'another-key-of-the-same-tenant'
  await agent.admin('POST /iam/apikey-authentication', { body: { entityId, apiKey: other } })
  await call('POST /events/test', { body: { type } })
  await stream.take(1)
  await agent.admin('DELETE /iam/apikey-authentication', { body: { entityId, apiKey } })
  await agent.send('POST', '/events/test', { headers: { apikey: other }, body: JSON.stringify({ type }) })
  expect(await stream.rest()).toEqual([])
})

test('a reader that does not read delays no other reader, and no stop', async () => {
  const agent = await startAgent()
  const tenant = await agent.newTenant()
  const data = { filler: 'x'.repeat(100_000) }
  const first = await make(tenant, 1)
  const socket = createConnection(Number(new URL(agent.url).port), '127.0.0.1')
  await once(socket, 'connect')
  socket.pause()
  socket.write(
    `GET /events/stream?after=${first[0]} HTTP/1.1\r\nhost: localhost\r\napikey: ${tenant.apiKey}\r\n\r\n`,
  )
  await agent.agent.wallets.use(tenant.walletId, async (wallet) => {
    for (let n = 0; n < 300; n++)
      await wallet.transaction((tx) => appendEvent(tx, { type, subject: 'thread', data }))
  })
  // Other readers are not delayed.
  const stream = await follow(agent.url, { apikey: tenant.apiKey }, { lastEventId: first[0]! })
  expect(await stream.take(300)).toHaveLength(300)
  stream.close()
  await agent[Symbol.asyncDispose]()
  socket.destroy()
})

test('a stopping daemon ends its streams at once, and a reader continues at the next daemon', async () => {
  await using daemon = await Daemon.start({ DEFAULT_WALLET_AUTH_API_KEY: 'key-of-the-tests' })
  const headers = { apikey: 'key-of-the-tests' }
  const trigger = async () =>
    (await daemon.call('POST /events/test', { apiKey: headers.apikey, body: { type } })).body.id as string
  const made = [await trigger()]
  const before = await follow(daemon.url, headers)
  made.push(await trigger(), await trigger())
  const seen = idsOf(await before.take(1))
  const [exitCode] = await Promise.all([daemon.stop(), before.rest()])
  expect(exitCode).toBe(0)
  await daemon.start()
  made.push(await trigger())
  const after = await follow(daemon.url, headers, { lastEventId: seen[0]! })
  made.push(await trigger())
  seen.push(...idsOf(await after.take(3)))
  expect(seen).toEqual(made.slice(1))
  await daemon.stop('SIGKILL')
  await expect(after.rest()).rejects.toMatchObject({ name: 'DaemonUnreachable' })
})
