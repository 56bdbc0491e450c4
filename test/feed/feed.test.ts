/** Who is told of commits. */
import { expect, test } from 'vitest'
import { Feed } from '../../src/feed/feed.ts'

const longMs = 60_000

test('a listener is told of its wallet, once for all that came since it last looked', async () => {
  const feed = new Feed()
  const [one, all] = [feed.listen('one'), feed.listen()]
  for (const walletId of ['two', 'one', 'one']) feed.wake(walletId)
  expect(await one.news(longMs)).toEqual(['one'])
  expect(await all.news(longMs)).toEqual(['two', 'one'])
  const waiting = one.news(longMs)
  feed.wake('one')
  expect(await waiting).toEqual(['one'])
  expect(await one.news(1)).toEqual([])
})

test('who has ended is told nothing more, and closing the feed ends all, now and later', async () => {
  const feed = new Feed()
  const [one, other] = [feed.listen('one'), feed.listen('one')]
  const waiting = one.news(longMs)
  one.close()
  one.close()
  expect(await waiting).toBeUndefined()
  feed.wake('one')
  expect([await one.news(longMs), await other.news(longMs)]).toEqual([undefined, ['one']])
  feed.close()
  expect([other.signal.aborted, await other.news(longMs), await feed.listen('one').news(longMs)]).toEqual([true, undefined, undefined])
})

test('each wallet has room for so many listeners, and a full one takes nothing from others', () => {
  const feed = new Feed()
  const listeners = Array.from({ length: 50 }, () => feed.listen('one'))
  expect(() => feed.listen('one')).toThrow(expect.objectContaining({ type: 'TooManyRequests', status: 429 }))
  expect([feed.listen('two'), feed.listen()]).toHaveLength(2)
  listeners[3]!.close()
  feed.listen('one')
  expect(() => feed.listen('one')).toThrow()
})
