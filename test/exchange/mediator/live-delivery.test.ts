/** Subscriptions of live delivery: limits, and removal. */
import { expect, test } from 'vitest'
import { createLiveDelivery, type Channel } from '../../../src/exchange/mediator/pickup.ts'

const channel = (): Channel => ({ send: () => undefined })
const listener = (channel: Channel, account: string) => ({
  channel,
  account,
  kid: `${account}#key-1`,
  from: 'did:example:mediator',
})

test('at the limit of connections of an account the oldest is unsubscribed', () => {
  const live = createLiveDelivery()
  const channels = Array.from({ length: 9 }, channel)
  for (const each of channels) expect(live.subscribe(listener(each, 'did:example:a'))).toBe(true)
  expect(live.subscriptionsOf('did:example:a').map((each) => each.channel)).toEqual(channels.slice(1))
  expect(channels.map((each) => live.isSubscribed(each, 'did:example:a'))).toEqual([
    false,
    ...Array.from({ length: 8 }, () => true),
  ])
})

test('subscribing again replaces the subscription', () => {
  const live = createLiveDelivery()
  const one = channel()
  for (const _ of [1, 2]) live.subscribe(listener(one, 'did:example:a'))
  expect(live.subscriptionsOf('did:example:a')).toHaveLength(1)
  live.unsubscribe(one, 'did:example:a')
  expect([live.subscriptionsOf('did:example:a'), live.isSubscribed(one, 'did:example:a')]).toEqual([
    [],
    false,
  ])
})

test('a connection has a limited number of subscriptions, and none once it is closed', () => {
  const live = createLiveDelivery()
  const [one, other] = [channel(), channel()]
  const accounts = Array.from({ length: 32 }, (_, n) => `did:example:${n}`)
  for (const account of accounts) expect(live.subscribe(listener(one, account))).toBe(true)
  expect(live.subscribe(listener(one, 'did:example:more'))).toBe(false)
  expect(live.subscriptionsOf('did:example:more')).toEqual([])
  live.subscribe(listener(other, accounts[0]!))
  live.close(one)
  expect(accounts.flatMap((account) => live.subscriptionsOf(account).map((each) => each.channel))).toEqual([
    other,
  ])
  expect(live.subscribe(listener(one, 'did:example:more'))).toBe(true)
})
