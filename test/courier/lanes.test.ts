/** What the courier makes of what it is told: which lanes go on by themselves, and when a wallet's file is to be looked into. */
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { hearDebts, hearEvents } from '../../src/courier/lanes.ts'
import { freeFor, newRound, type Round } from '../../src/courier/round.ts'
import type { Promised } from '../../src/outbox/debt.ts'
import type { Written } from '../../src/outbox/event.ts'
import type { Told } from '../../src/outbox/lane.ts'

const walletId = randomUUID()
const newDebt = (lane: string, isFirst: boolean): Promised => ({
  id: randomUUID(),
  lane,
  attempts: 0,
  createdAt: new Date().toISOString(),
  debt: { kind: 'work', protocol: 'did-registrar', recordId: lane, work: 'submit operation' },
  eventSequence: 0,
  isFirst,
})
const newEvents = (first: number, count = 1): Written[] =>
  Array.from({ length: count }, (_, n) => ({
    sequence: first + n,
    event: { type: 'ConnectionUpdated', id: randomUUID(), ts: new Date().toISOString(), data: {} },
  }))
const webhook = (id: string, cursor: number): [string, Told] => [
  id,
  { webhookId: id, url: `http://${id}`, headers: '', secrets: null, cursor },
]

/** A round after a look that has found nothing, whose lanes are occupied by what is begun and never left. */
function looked() {
  const round: Round = { ...newRound(), hasMore: false, told: new Map() }
  const begun: string[] = []
  const debts = (...promised: Promised[]) =>
    hearDebts(round, promised, (item) => {
      begun.push(item.id)
      round.debts.set(item.lane, { item, rest: [], isAll: true })
    })
  const events = (...written: Written[]) =>
    hearEvents(round, written, walletId, (lane) => {
      begun.push(lane.item.webhookId)
      round.webhooks.set(lane.item.webhookId, lane)
    })
  const laneOf = (name: string) => round.debts.get(name) ?? round.webhooks.get(name)
  const restOf = (name: string) => laneOf(name)?.rest
  return { round, begun, debts, events, laneOf, restOf }
}

test('a debt in a free lane is begun with, and those behind it wait their turn', () => {
  const { begun, debts, restOf } = looked()
  const [first, second, third] = [newDebt('a', true), newDebt('a', false), newDebt('a', false)]
  expect([debts(first, second), debts(third)]).toEqual([true, true])
  expect(begun).toEqual([first.id])
  expect(restOf('a')).toMatchObject([{ id: second.id }, { id: third.id }])
})

test('a debt that is the first of an occupied lane takes the place of what was struck out', () => {
  const { round, debts, restOf } = looked()
  debts(newDebt('a', true))
  round.debts.get('a')!.isAll = false
  const next = newDebt('a', true)
  expect(debts(next)).toBe(true)
  expect(restOf('a')).toMatchObject([{ id: next.id }])
})

test('what stands behind something that nobody is at is looked for', () => {
  const { begun, debts } = looked()
  expect([debts(newDebt('a', false)), begun]).toEqual([false, []])
})

test('no more debts of a wallet are begun than may be on their way', () => {
  const { round, begun, debts } = looked()
  const flood = Array.from({ length: 60 }, (_, n) => newDebt(`lane ${n}`, true))
  expect(debts(...flood)).toBe(false)
  expect(begun).toEqual(flood.slice(0, begun.length).map(({ id }) => id))
  expect([begun.length, freeFor(round)]).toEqual([48, 0])
})

test('nothing is begun while more is due than may be on its way, and what changes is looked for', () => {
  const { round, begun, debts, laneOf } = looked()
  debts(newDebt('a', true), newDebt('a', false))
  expect(hearDebts(round, 'look', () => {})).toBe(false)
  expect(laneOf('a')).toMatchObject({ rest: [], isAll: false })
  round.hasMore = true
  expect([debts(newDebt('b', true)), begun.length]).toEqual([false, 1])
})

test('an event goes to every webhook: at once, or behind what that one is told just now', () => {
  const { round, begun, events, restOf } = looked()
  round.told = new Map([webhook('one', 6), webhook('two', 6)])
  expect([events(...newEvents(7, 2)), begun]).toEqual([true, ['one', 'two']])
  expect(events(...newEvents(9))).toBe(true)
  for (const id of ['one', 'two']) expect(restOf(id)).toMatchObject([{ sequence: 8 }, { sequence: 9, webhookId: id, event: { walletId } }])
})

test('a webhook that was not told of what is before an event is looked after, and so is one with more behind it than is remembered', () => {
  const { round, begun, events, laneOf, restOf } = looked()
  round.told = new Map([webhook('one', 5), webhook('two', 6)])
  expect([events(...newEvents(7)), begun]).toEqual([false, ['two']])
  expect(events(...newEvents(9))).toBe(true)
  expect(laneOf('two')).toMatchObject({ rest: [], isAll: false })

  round.told = new Map([webhook('three', 9)])
  events(...newEvents(10))
  events(...newEvents(11, 100))
  expect(restOf('three')).toHaveLength(100)
  events(...newEvents(111))
  // What is known is told all the same, and what was missed is not skipped.
  restOf('three')!.pop()
  events(...newEvents(112))
  expect([restOf('three')!.at(-1), restOf('three')!.length, laneOf('three')!.isAll]).toEqual([
    expect.objectContaining({ sequence: 109 }),
    99,
    false,
  ])
})

test('when it is not known which webhooks there are, or they have changed, it is looked', () => {
  const { round, events, laneOf } = looked()
  round.told = new Map([webhook('one', 0)])
  events(...newEvents(1, 2))
  expect(hearEvents(round, 'look', walletId, () => {})).toBe(false)
  expect(laneOf('one')).toMatchObject({ rest: [], isAll: false })
  expect([round.told, events(...newEvents(3))]).toEqual([undefined, false])
})
