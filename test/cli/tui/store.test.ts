/** The store by itself: what it loads, what the events make of it, and that it comes back with the daemon. */
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { createClient } from '../../../daemon/client/client.ts'
import { apply, changedAt, maxEvents, emptyData, type Event } from '../../../cli/tui/data/data.ts'
import { newest } from '../../../cli/tui/data/load.ts'
import { openStore, type Store } from '../../../cli/tui/data/store.ts'
import { sharedAgent } from '../../support/agent.ts'
import { Daemon } from '../../support/daemon.ts'
import { connect, until } from '../../support/tenants.ts'
import { daemonOf } from './_live.ts'

const reaches = (store: Store, what: string, isSo: (data: ReturnType<Store['get']>) => boolean) =>
  until(what, () => Promise.resolve(store.get()), isSo)

test('it loads the wallet and follows its events', async () => {
  const agent = await sharedAgent()
  const [alice, bob] = [await agent.newTenant(), await agent.newTenant()]
  await alice.call('POST /connections', { body: { label: 'before' } })
  const store = await openStore(daemonOf(agent.url, alice))
  try {
    expect(store.get()).toMatchObject({
      link: { is: 'live' },
      connections: [{ label: 'before' }],
      events: [{}],
      hasOlderEvents: false,
    })
    await connect(alice, bob)
    const { connections, events } = await reaches(store, 'the connection', (data) =>
      data.connections.some(({ state }) => state === 'ConnectionResponseSent'),
    )
    expect(connections.map(({ label, state }) => [label, state])).toEqual([
      ['before', 'InvitationGenerated'],
      ['invitee', 'ConnectionResponseSent'],
    ])
    expect(changedAt(connections[1]!.connectionId, store.get())).toBe(events.at(-1)!.ts)
    // The same as a new request returns.
    expect(connections).toEqual((await alice.call('GET /connections')).contents)
    expect(events).toEqual((await alice.call('GET /events')).contents)
  } finally {
    store.close()
  }
})

test('listeners are notified until they unsubscribe', async () => {
  const agent = await sharedAgent()
  const alice = await agent.newTenant()
  const store = await openStore(daemonOf(agent.url, alice))
  let notified = 0
  const leave = store.subscribe(() => notified++)
  await alice.call('POST /connections', { body: {} })
  await until(
    'a word',
    () => Promise.resolve(notified),
    (count) => count > 0,
  )
  leave()
  const before = notified
  await alice.call('POST /connections', { body: {} })
  await reaches(store, 'the second connection', ({ connections }) => connections.length === 2)
  store.close()
  expect(notified).toBe(before)
})

test('after a restart of the daemon the store has the events in between', async () => {
  await using daemon = await Daemon.start()
  const { apiKey, call } = await daemon.newTenant('alice')
  await call('POST /connections', { body: { label: 'first' } })
  const store = await openStore(daemonOf(daemon.url, { apiKey, call }))
  await daemon.stop('SIGKILL')
  await reaches(store, 'the daemon being away', ({ link }) => link.is === 'away')
  expect(store.get().connections).toHaveLength(1)
  await daemon.start()
  await call('POST /connections', { body: { label: 'second' } })
  const { connections } = await reaches(
    store,
    'the second connection',
    ({ link, connections }) => link.is === 'live' && connections.length === 2,
  )
  expect(connections.map(({ label }) => label)).toEqual(['first', 'second'])
  await call('POST /connections', { body: { label: 'third' } })
  await reaches(store, 'the third connection', ({ connections }) => connections.length === 3)
  store.close()
})

test('a rejected key fails before anything is shown', async () => {
  const agent = await sharedAgent()
  const stranger = { apiKey: 'nobody', call: createClient(agent.url, { apikey: 'nobody' }) }
  await expect(openStore(daemonOf(agent.url, stranger))).rejects.toMatchObject({ problem: { status: 401 } })
  await expect(openStore(daemonOf('http://127.0.0.1:1', stranger))).rejects.toMatchObject({
    name: 'DaemonUnreachable',
  })
})

const event = (type: Event['type'], data: object): Event => ({
  type,
  id: randomUUID(),
  ts: '2026-11-20T12:00:00.000Z',
  walletId: randomUUID(),
  data: { ...data },
})

test('an event updates its record, appends a new one, and is not applied twice', () => {
  const first = event('ConnectionUpdated', { connectionId: 'a', state: 'InvitationGenerated' })
  const second = event('ConnectionUpdated', { connectionId: 'a', state: 'ConnectionResponseSent' })
  const other = event('PresentationUpdated', { presentationId: 'b', status: 'RequestSent' })
  const data = [first, second, second, other].reduce(apply, emptyData)
  expect(data.connections).toMatchObject([{ connectionId: 'a', state: 'ConnectionResponseSent' }])
  expect(data.proofs).toMatchObject([{ presentationId: 'b' }])
  expect(data.events).toEqual([first, second, other])
  expect(data.hasOlderEvents).toBe(false)
})

test('a test event is listed and creates no record', () => {
  const data = apply(emptyData, event('IssueCredentialRecordUpdated', { test: true }))
  expect(data.credentials).toEqual([])
  expect(data.events).toHaveLength(1)
})

test('the oldest events are dropped', () => {
  const events = Array.from({ length: maxEvents + 1 }, (_, index) =>
    event('DIDStatusUpdated', { did: `did:example:${index}` }),
  )
  const data = events.reduce(apply, emptyData)
  expect(data.events).toHaveLength(maxEvents)
  expect(data.events.at(-1)).toBe(events.at(-1))
  expect(data.hasOlderEvents).toBe(true)
})

test.each([0, 1, 999, 1_000, 1_001, 1_999, 2_000, 2_001, 4_096, 70_001])(
  'of %i items the newest are found',
  async (total) => {
    let asked = 0
    const ask = ({ offset, limit }: { offset: number; limit: number }) => {
      asked++
      const contents = Array.from(
        { length: Math.max(Math.min(limit, total - offset), 0) },
        (_, index) => offset + index,
      )
      return Promise.resolve({ contents, ...(offset + limit < total && { next: 'more' }) })
    }
    const found = await newest(ask)
    expect(found).toHaveLength(Math.min(total, 1_000))
    if (total > 0) expect(found.at(-1)).toBe(total - 1)
    expect(asked).toBeLessThan(30)
  },
)
