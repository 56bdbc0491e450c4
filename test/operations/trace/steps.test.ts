/** The order of steps after clock changes and races, and the queries of a trace. */
import { randomUUID } from 'node:crypto'
import { Kysely, SqliteDialect } from 'kysely'
import { expect, test } from 'vitest'
import type { EventDelivery } from '../../../src/wallet/events/delivery-log.ts'
import type { LoggedEvent } from '../../../src/wallet/events/event.ts'
import type { LoggedMessage } from '../../../src/wallet/outbox/message-log.ts'
import { openSqlite } from '../../../src/foundation/storage/sqlite.ts'
import type { WalletTables } from '../../../src/foundation/storage/wallet-tables.ts'
import { toSteps } from '../../../src/operations/trace/steps.ts'
import { getTrace } from '../../../src/operations/trace/trace.ts'
import { connect, newDid, issue, startPair } from '../../support/tenants.ts'

const at = (second: number) => new Date(Date.parse('2026-11-20T12:00:00.000Z') + second * 1_000).toISOString()
const walletId = randomUUID()
const event = (sequence: number, second: number, state: string): LoggedEvent => ({
  sequence,
  event: {
    type: 'ConnectionUpdated',
    id: randomUUID(),
    ts: at(second),
    walletId,
    data: { connectionId: 'c', state },
  },
})
const message = (
  direction: 'sent' | 'received',
  place: number,
  second: number,
  id: string,
): LoggedMessage => ({
  sequence: 0,
  thread: 't',
  id,
  direction,
  outcome: 'taken',
  type: 'x',
  from_did: 'a',
  to_did: 'b',
  at: at(second),
  attempts: null,
  duration_ms: null,
  failure: null,
  event_sequence: place,
})
const delivery = (eventSequence: number, second: number): EventDelivery => ({
  webhookId: 'w',
  eventSequence,
  eventId: 'e',
  type: 'ConnectionUpdated',
  kind: 'automatic',
  outcome: 'delivered',
  attemptedAt: at(second),
  durationMs: 1,
})

/** The order, as states, ids of messages, and `webhook`. */
function order(
  ...[events, messages, deliveries]: [LoggedEvent[], LoggedMessage[], EventDelivery[]]
): (string | undefined)[] {
  const steps = toSteps({ events, messages, deliveries })
  return steps.map((step) =>
    step.kind === 'state' ? step.to : step.kind === 'message' ? step.id : 'webhook',
  )
}

test('an answer that is stored before the delivery of its question comes after it', () => {
  const events = [event(1, 0, 'Pending'), event(2, 1.02, 'Sent'), event(3, 1.02, 'Answered')]
  // The question was delivered, but the answer is stored before the delivery.
  const messages = [message('received', 1, 1.02, 'answer'), message('sent', 1, 1, 'question')]
  expect(order(events, messages, [])).toEqual(['Pending', 'question', 'answer', 'Sent', 'Answered'])
})

test('retries and late webhook deliveries are ordered by their own time', () => {
  const events = [event(1, 0, 'Pending'), event(5, 60, 'Sent'), event(9, 70, 'Answered')]
  const messages = [message('sent', 1, 59, 'question'), message('received', 7, 70, 'answer')]
  const deliveries = [delivery(1, 0.1), delivery(5, 61), delivery(1, 65)]
  expect(order(events, messages, deliveries)).toEqual([
    'Pending',
    'webhook',
    'question',
    'Sent',
    'webhook',
    'webhook',
    'answer',
    'Answered',
  ])
})

test('a clock that is set back does not reverse the order', () => {
  const events = [event(1, 3_600, 'Pending'), event(2, 0, 'Sent'), event(3, 1, 'Answered')]
  const messages = [message('sent', 1, 3_601, 'question'), message('received', 2, 1, 'answer')]
  const found = order(events, messages, [delivery(3, 2)])
  expect(found.filter((each) => each !== 'question')).toEqual([
    'Pending',
    'Sent',
    'answer',
    'Answered',
    'webhook',
  ])
  expect(found.indexOf('question')).toBeGreaterThan(0)
})

test('a state follows the one before it of the same record, and a message without an event is a step', () => {
  const other = { ...event(2, 1, 'Elsewhere') }
  other.event.data.connectionId = 'd'
  const steps = toSteps({
    events: [event(1, 0, 'One'), other, event(3, 2, 'Two')],
    messages: [message('sent', 0, -5, 'm')],
    deliveries: [],
  })
  expect(steps).toMatchObject([
    { kind: 'message' },
    { to: 'One' },
    { to: 'Elsewhere' },
    { from: 'One', to: 'Two' },
  ])
  expect(steps[1]).not.toHaveProperty('from')
})

test('no growing table is scanned', async () => {
  await using pair = await startPair()
  const { issuer, holder } = pair
  const { inviterConnectionId } = await connect(issuer, holder)
  await issuer.call('POST /events/webhooks', { body: { url: 'http://127.0.0.1:9/' } })
  const subject = await newDid(holder, 'authentication', 'Ed25519')
  const issued = await issue(
    issuer,
    holder,
    inviterConnectionId,
    (await newDid(issuer, 'assertionMethod')).did,
    subject.longFormDid,
  )
  const plans: string[] = []
  await pair.agent.agent.wallets.use(issuer.walletId, async (wallet) => {
    const database = openSqlite(`${pair.agent.dataDir}/wallets/${issuer.walletId}.db`)
    const db = new Kysely<WalletTables>({
      dialect: new SqliteDialect({ database }),
      log({ query: { sql, parameters } }) {
        const plan = database.prepare(`explain query plan ${sql}`).all(...parameters) as { detail: string }[]
        plans.push(...plan.map(({ detail }) => `${detail} — ${sql}`))
      },
    })
    for (const id of [issued.thid, issued.issuerRecordId, issued.thid.slice(0, 20)])
      await getTrace({ ...wallet, db }, id)
    await expect(getTrace({ ...wallet, db }, 'nothing-of-the-kind')).rejects.toMatchObject({ status: 404 })
    await db.destroy()
  })
  expect(plans.length).toBeGreaterThan(30)
  // Webhooks are few, and queries for the newest rows of a log are bounded.
  const isBounded = (plan: string) =>
    plan.startsWith('SCAN webhook') || /order by "\w+" desc limit \?\) as "log"/.test(plan)
  expect(plans.filter((plan) => plan.startsWith('SCAN') && !isBounded(plan))).toEqual([])
})
