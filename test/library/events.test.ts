/** The event stream of the exported client: restarts of the agent, broken streams, and both keys. */
import { expect, test } from 'vitest'
import type { AgentEvent } from '../../library/client/index.ts'
import { Daemon } from '../support/daemon.ts'
import { client, failureOf, library } from './_library.ts'

const { createClient, events, firstEvent } = client

test('a stream continues across kills of the daemon, without loss or repetition', async () => {
  await using daemon = await Daemon.start()
  const { apiKey } = await daemon.newTenant('acme')
  const acme = createClient(daemon.url, { apiKey })
  const changes: boolean[] = []
  const stream = events(acme, { type: 'ConnectionUpdated', onChange: (isThere) => changes.push(isThere) })
  await stream.open()
  const made: string[] = []
  const seen: string[] = []
  const make = async () => made.push((await acme('POST /connections', { body: {} })).connectionId)
  const read = async () => {
    while (seen.length < made.length) {
      const { value } = await stream.next()
      if (value && !value.data.test) seen.push(value.data.connectionId)
    }
  }
  for (let round = 0; round < 3; round++) {
    await make()
    await make()
    // Events that were written, and not yet read, are in the log of the next process.
    await daemon.crash()
    await make()
    await read()
  }
  expect(seen).toEqual(made)
  expect(changes.filter((isThere) => isThere).length).toBeGreaterThanOrEqual(3)

  // A second reader reads the same from the log.
  const again: string[] = []
  for await (const { data } of events(acme, { type: 'ConnectionUpdated', after: firstEvent })) {
    if (!data.test) again.push(data.connectionId)
    if (again.length === made.length) break
  }
  expect(again).toEqual(made)
})

test('an agent that has stopped for good ends nothing; the signal does, with its reason', async () => {
  const agent = await library.createAgent()
  const ending = new AbortController()
  let noticed = () => {}
  const isAway = new Promise<void>((resolve) => (noticed = resolve))
  const stream = events(agent.client, { signal: ending.signal, onChange: (isThere) => isThere || noticed() })
  await stream.open()
  const next = failureOf(stream.next())
  await agent.close()
  await isAway
  ending.abort(new Error('no longer interested'))
  expect((await next).message).toBe('no longer interested')
  expect((await failureOf(stream.next())).message).toBe('no longer interested')
})

test('a stream that is closed frees its place, before and after it was read', async () => {
  await using agent = await library.createAgent()
  // A wallet has 50 streams at most.
  for (let round = 0; round < 120; round++) {
    const stream = events(agent.client)
    await stream.open()
    if (round % 2 === 1) {
      const next = stream.next()
      await agent.client('POST /events/test', { body: { type: 'ConnectionUpdated' } })
      expect((await next).value?.data).toEqual({ test: true })
    }
    expect(await stream.return()).toEqual({ done: true, value: undefined })
  }
})

test('with both keys, events are the tenant’s unless a wallet is named', async () => {
  await using agent = await library.createAgent()
  const other = await agent.newTenant('other')
  const both = createClient(agent.url, { apiKey: agent.apiKey, adminKey: agent.adminKey })
  const [own, others] = [events(both), events(both, { walletId: other.walletId })]
  await Promise.all([own.open(), others.open()])
  await other.client('POST /events/test', { body: { type: 'ConnectionUpdated' } })
  await agent.client('POST /events/test', { body: { type: 'PresentationUpdated' } })
  const read = async (stream: AsyncIterator<AgentEvent>) => (await stream.next()).value as AgentEvent
  expect([(await read(own)).type, (await read(others)).walletId]).toEqual([
    'PresentationUpdated',
    other.walletId,
  ])
  expect((await both('GET /wallets')).contents.length).toBe(2)
  await Promise.all([own.return(), others.return()])
})
