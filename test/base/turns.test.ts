import { setImmediate as turn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { Problem } from '../../src/base/problem.ts'
import { createTurns, type Turn } from '../../src/base/turns.ts'

const wide = { atOnce: 100, ofPartyAtOnce: 100, waiting: 1_000, ofPartyWaiting: 1_000 }

/** Lets everything that is to come by itself come. */
async function settle(): Promise<void> {
  for (let n = 0; n < 500; n++) await turn()
}

/** Work of a party, which ends when it has begun; `order` is whose has. */
function inOrder() {
  const turns = createTurns(wide)
  const order: string[] = []
  const work = async (party: string) => {
    const mine = await turns.take(party)
    order.push(party)
    mine!.leave()
  }
  return { work, order }
}

test('whoever is alone begins at once', async () => {
  const turns = createTurns(wide)
  let begun = false
  void turns.take('a').then(() => (begun = true))
  await Promise.resolve()
  expect(begun).toBe(true)
})

test('one piece of work is begun between two looks at the network', async () => {
  const turns = createTurns(wide)
  let begun = 0
  for (let n = 0; n < 5; n++) void turns.take('a').then(() => begun++)
  const seen = []
  for (let n = 0; n < 5; n++) {
    await turn()
    seen.push(begun)
  }
  expect(seen).toEqual([2, 3, 4, 5, 5])
})

test('parties take turns, whatever one of them has brought', async () => {
  const { work, order } = inOrder()
  const all = [...'aaaaaabbc'].map(work)
  await Promise.all(all)
  expect(order.join('')).toBe('abcabaaaa')
})

test('who comes with nothing else goes first, but not for ever', async () => {
  const { work, order } = inOrder()
  const all = [work('a'), work('a'), work('a')]
  await turn()
  all.push(...[...'bcdefghijk'].map(work))
  await Promise.all(all)
  expect(order.join('')).toBe('aabcdefghiajk')
})

test('a party that has as much under way as it may waits for itself, and for nobody else', async () => {
  const turns = createTurns({ ...wide, ofPartyAtOnce: 2 })
  const held: Turn[] = []
  for (let n = 0; n < 3; n++) void turns.take('a').then((mine) => held.push(mine!))
  let other = false
  void turns.take('b').then(() => (other = true))
  await settle()
  expect([held.length, other]).toEqual([2, true])
  held[0]!.leave()
  held[0]!.leave()
  await settle()
  expect(held.length).toBe(3)
})

test('what is under way in all is limited', async () => {
  const turns = createTurns({ ...wide, atOnce: 2 })
  const held: Turn[] = []
  for (const party of ['a', 'b', 'c', 'd']) void turns.take(party).then((mine) => held.push(mine!))
  await settle()
  expect(held.length).toBe(2)
  held[1]!.leave()
  await settle()
  expect(held.length).toBe(3)
})

test('too much of one party is refused with 429, too much of all with 503, and both say when to come again', async () => {
  const turns = createTurns({ atOnce: 1, ofPartyAtOnce: 1, waiting: 3, ofPartyWaiting: 2 })
  const held = await turns.take('a')
  const waiting = [turns.take('a'), turns.take('a')]
  await expect(turns.take('a')).rejects.toMatchObject({ status: 429, retryAfter: 1 })
  waiting.push(turns.take('b'))
  const refused = await turns.take('c').catch((error: unknown) => error)
  expect(refused).toBeInstanceOf(Problem)
  expect(refused).toMatchObject({ type: 'error:ServiceUnavailable', status: 503, retryAfter: 1 })
  held!.leave()
  const begun = await Promise.all(waiting.map((next) => next.then((mine) => (mine!.leave(), true))))
  expect(begun).toEqual([true, true, true])
  expect(await turns.take('c')).toBeDefined()
})

test('refusals go out a few at a time', async () => {
  const turns = createTurns({ atOnce: 1, ofPartyAtOnce: 1, waiting: 1, ofPartyWaiting: 1 })
  await turns.take('a')
  void turns.take('a')
  let refused = 0
  for (let n = 0; n < 10; n++) turns.take('a').catch(() => refused++)
  const seen = []
  for (let n = 0; n < 4; n++) {
    await turn()
    seen.push(refused)
  }
  expect(seen).toEqual([4, 8, 10, 10])
})

test('whoever gives up a wait makes room, and nothing of it is begun', async () => {
  const turns = createTurns({ ...wide, ofPartyAtOnce: 1, ofPartyWaiting: 1 })
  const held = await turns.take('a')
  let giveUp: () => void = () => undefined
  const given = turns.take('a', (how) => (giveUp = how))
  giveUp()
  giveUp()
  expect(await given).toBeUndefined()
  const next = turns.take('a')
  held!.leave()
  expect(await next).toBeDefined()
})
