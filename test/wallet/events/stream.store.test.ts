/** Subscriptions to events. */
import { expect, test } from 'vitest'
import { Notifier } from '../../../src/foundation/notifier.ts'
import { subscribeToEvents } from '../../../src/wallet/events/stream.ts'

test('subscriptions are limited per wallet, and a wallet at its limit does not affect others', () => {
  const notifier = new Notifier()
  const subscribe = (walletId?: string) => subscribeToEvents(notifier, walletId)
  const subscriptions = Array.from({ length: 50 }, () => subscribe('one'))
  expect(() => subscribe('one')).toThrow(expect.objectContaining({ type: 'TooManyRequests', status: 429 }))
  expect([subscribe('two'), subscribe()]).toHaveLength(2)
  subscriptions[3]!.close()
  subscribe('one')
  expect(() => subscribe('one')).toThrow()
})
