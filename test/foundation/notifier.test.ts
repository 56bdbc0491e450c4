/** Subscriptions to commits. */
import { expect, test } from 'vitest'
import { Notifier } from '../../src/foundation/notifier.ts'

const longMs = 60_000

test('a subscriber is notified of its topic and wallet, once for all commits since its last read', async () => {
  const notifier = new Notifier()
  const [one, all] = [notifier.subscribe('events', 'one'), notifier.subscribe('events')]
  notifier.notify('jobs', 'one')
  for (const walletId of ['two', 'one', 'one']) notifier.notify('events', walletId)
  expect(await one.next(longMs)).toEqual(['one'])
  expect(await all.next(longMs)).toEqual(['two', 'one'])
  const waiting = one.next(longMs)
  notifier.notify('events', 'one')
  expect(await waiting).toEqual(['one'])
  expect(await one.next(1)).toEqual([])
})

test('an ended subscription gets no notification, and closing the notifier ends all current and later ones', async () => {
  const notifier = new Notifier()
  const subscribe = (signal?: AbortSignal) => notifier.subscribe('events', 'one', signal)
  const leaving = new AbortController()
  const [one, gone, other] = [subscribe(), subscribe(leaving.signal), subscribe()]
  const waiting = [one.next(longMs), gone.next(longMs)]
  one.close()
  one.close()
  leaving.abort()
  expect(await Promise.all(waiting)).toEqual([undefined, undefined])
  expect([await subscribe(leaving.signal).next(longMs), notifier.count('events', 'one')]).toEqual([
    undefined,
    1,
  ])
  notifier.notify('events', 'one')
  expect([await one.next(longMs), await other.next(longMs)]).toEqual([undefined, ['one']])
  notifier.close()
  expect([other.signal.aborted, await other.next(longMs), await subscribe().next(longMs)]).toEqual([
    true,
    undefined,
    undefined,
  ])
})
