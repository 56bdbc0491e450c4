/** Subscriptions to commits. */
import { expect, test } from 'vitest'
import { EventBus } from '../../src/events/bus.ts'

const longMs = 60_000

test('a subscriber is told of its wallet, once for all that came since it last looked', async () => {
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

test('who has ended is told nothing more, and closing the bus ends all, now and later', async () => {
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

test('each wallet has room for so many subscriptions, and a full one takes nothing from others', () => {
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
