/** Subscriptions to commits. */
import { expect, test } from 'vitest'
import { EventBus } from '../../src/events/bus.ts'

const longMs = 60_000

test('a subscriber is notified of its wallet, once for all events since its last read', async () => {
  const bus = new EventBus()
  const [one, all] = [bus.subscribe('one'), bus.subscribe()]
  for (const walletId of ['two', 'one', 'one']) bus.notify(walletId)
  expect(await one.next(longMs)).toEqual(['one'])
  expect(await all.next(longMs)).toEqual(['two', 'one'])
  const waiting = one.next(longMs)
  bus.notify('one')
  expect(await waiting).toEqual(['one'])
  expect(await one.next(1)).toEqual([])
})

test('an ended subscription gets no notification, and closing the bus ends all current and later ones', async () => {
  const bus = new EventBus()
  const [one, other] = [bus.subscribe('one'), bus.subscribe('one')]
  const waiting = one.next(longMs)
  one.close()
  one.close()
  expect(await waiting).toBeUndefined()
  bus.notify('one')
  expect([await one.next(longMs), await other.next(longMs)]).toEqual([undefined, ['one']])
  bus.close()
  expect([other.signal.aborted, await other.next(longMs), await bus.subscribe('one').next(longMs)]).toEqual([
    true,
    undefined,
    undefined,
  ])
})

test('subscriptions are limited per wallet, and a wallet at its limit does not affect others', () => {
  const bus = new EventBus()
  const subscriptions = Array.from({ length: 50 }, () => bus.subscribe('one'))
  expect(() => bus.subscribe('one')).toThrow(
    expect.objectContaining({ type: 'TooManyRequests', status: 429 }),
  )
  expect([bus.subscribe('two'), bus.subscribe()]).toHaveLength(2)
  subscriptions[3]!.close()
  bus.subscribe('one')
  expect(() => bus.subscribe('one')).toThrow()
})
