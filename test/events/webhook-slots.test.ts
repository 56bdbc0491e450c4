/** WebhookSlots: a hanging webhook delays only other slow ones. */
import { setTimeout } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { WebhookSlots } from '../../src/events/webhook-slots.ts'
import { until } from '../_pair.ts'

/** Requests that end when the test says so. */
function openDesk() {
  const places = new WebhookSlots({ prompt: 2, slow: 2, promptMs: 30 })
  const underWay = new Map<string, (isTaken: boolean) => void>()
  const begin = (lane: string) =>
    places.run(lane, () => new Promise((resolve) => underWay.set(lane, resolve)))
  const end = async (lane: string, isTaken: boolean, ended: Promise<unknown>) => {
    underWay.get(lane)!(isTaken)
    underWay.delete(lane)
    await ended
  }
  const begun = (...lanes: string[]) =>
    until(
      `${lanes.join(', ')} under way`,
      () => Promise.resolve([...underWay.keys()].toSorted()),
      (found) => lanes.every((lane) => found.includes(lane)),
    )
  return { places, underWay, begin, end, begun }
}

/** Has lanes hang and fail, one after the other. */
async function hang({ begin, end, begun }: ReturnType<typeof openDesk>, ...lanes: string[]): Promise<void> {
  for (const lane of lanes) {
    const ended = begin(lane)
    await begun(lane)
    await setTimeout(40)
    await end(lane, false, ended)
  }
}

test('who is not answered soon makes room for the next, and there is a limit to that as well', async () => {
  const { begin, begun, end, underWay } = openDesk()
  const ended = ['a', 'b', 'c', 'd', 'e'].map(begin)
  expect(await begun('a', 'b', 'c', 'd')).toEqual(['a', 'b', 'c', 'd'])
  await setTimeout(100)
  expect(underWay.has('e')).toBe(false)
  await end('a', true, ended[0]!)
  await begun('e')
})

test('slow webhooks wait for each other, and no prompt webhook waits for them', async () => {
  const desk = openDesk()
  const { begin, begun, underWay } = desk
  const hanging = ['a', 'b', 'c', 'd', 'e', 'f']
  await hang(desk, ...hanging)
  for (const lane of hanging) void begin(lane)
  await begun('a', 'b')
  for (const lane of ['x', 'y']) void begin(lane)
  expect([...underWay.keys()]).toEqual(['a', 'b', 'x', 'y'])
})

test('a webhook that accepts again, or refuses at once, is prompt again', async () => {
  const desk = openDesk()
  const { places, begin, begun, end, underWay } = desk
  await hang(desk, 'a', 'b', 'c', 'd')
  const ended = begin('a')
  await begun('a')
  await end('a', true, ended)
  await places.run('b', () => Promise.resolve(false))
  void begin('c')
  void begin('d')
  await begun('c', 'd')
  void begin('a')
  void begin('b')
  expect([...underWay.keys()]).toEqual(['c', 'd', 'a', 'b'])
})

test('what a request throws is thrown, and its place is free', async () => {
  const { places } = openDesk()
  for (let n = 0; n < 5; n++) {
    const failing = places.run('a', () => Promise.reject(new Error('the disk is full')))
    await expect(failing).rejects.toThrow('the disk is full')
  }
  await places.onIdle()
})

test('what was not begun is forgotten, and what was begun is waited for', async () => {
  const { places, begin, begun, end, underWay } = openDesk()
  const ended = begin('a')
  for (const lane of ['b', 'c', 'd', 'e']) void begin(lane)
  await begun('a', 'b')
  places.clear()
  await end('a', true, ended)
  underWay.get('b')!(true)
  await places.onIdle()
  expect([...underWay.keys()]).toEqual(['b'])
})
