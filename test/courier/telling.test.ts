/** What a look into a wallet's file makes of a webhook: what it is told next, and what it is not told again. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { hearEvents, type Lane } from '../../src/courier/lanes.ts'
import { newRound, type Round } from '../../src/courier/round.ts'
import { findDeliveries } from '../../src/courier/telling.ts'
import { putEvent } from '../../src/outbox/event.ts'
import type { Delivery } from '../../src/outbox/lane.ts'
import { startAgent, type TestAgent } from '../_sources.ts'

let agent: TestAgent
beforeAll(async () => {
  agent = await startAgent()
  await agent.agent.courier[Symbol.asyncDispose]()
})
afterAll(() => agent[Symbol.asyncDispose]())

/** A webhook with so many events to be told of, and what a look begins with that finds a round as it is made; `beforeAhead` comes before more than the first is read. */
async function look(events: number, make: (webhookId: string) => Partial<Round>, beforeAhead?: (round: Round) => void) {
  const { call, walletId } = await agent.newTenant()
  const { id } = await call('POST /events/webhooks', { body: { url: 'http://127.0.0.1:9/' } })
  const begun: Lane<Delivery>[] = []
  await agent.agent.wallets.use(walletId, async (wallet) => {
    await wallet.transaction(async (tx) => {
      for (let n = 1; n <= events; n++) await putEvent(tx, { type: 'ConnectionUpdated', subject: 'a thread', data: { state: n } })
    })
    const round = { ...newRound(), ...make(id) }
    let reads = 0
    const read = () => {
      if (++reads === 2) beforeAhead?.(round)
      return wallet.db
    }
    const watched = Object.defineProperty({ ...wallet }, 'db', { get: read })
    await findDeliveries(watched, round, (lane) => begun.push(lane))
  })
  return begun.map(({ item, rest, isAll }) => ({ told: [item, ...rest].map(({ event }) => event.data.state), isAll }))
}
const upTo = (count: number) => Array.from({ length: count }, (_, n) => n + 1)

test('a webhook is told of what it is owed: of all that is there, or of a hundred and one, and then it is looked again', async () => {
  expect(await look(3, () => ({}))).toEqual([{ told: upTo(3), isAll: true }])
  expect(await look(100, () => ({}))).toEqual([{ told: upTo(100), isAll: true }])
  expect(await look(300, () => ({}))).toEqual([{ told: upTo(101), isAll: false }])
})

test('what a webhook was told of while it was looked is not begun again', async () => {
  const told = (id: string, cursor: number) => new Map([[id, { webhookId: id, url: '', headers: '', secrets: null, cursor }]])
  expect(await look(2, (id) => ({ told: told(id, 1) }))).toEqual([])
  expect(await look(2, (id) => ({ told: told(id, 0) }))).toEqual([{ told: [1, 2], isAll: true }])
})

test('when who is told has changed while it was looked, nothing but the first is begun, and it is looked again', async () => {
  const begun = await look(
    3,
    () => ({}),
    (round) => void hearEvents(round, 'look', 'a wallet', () => {}),
  )
  expect(begun).toEqual([{ told: [1], isAll: false }])
})
