/** WebhookSlots: a hanging webhook delays only other slow ones. */
import { setTimeout } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { WebhookSlots } from '../../../src/wallet/events/webhook-slots.ts'
import { until } from '../../support/tenants.ts'

/** Requests that end on demand. */
function openSlots() {
  const slots = new WebhookSlots({ prompt: 2, slow: 2, promptMs: 30 })
  const running = new Map<string, (isTaken: boolean) => void>()
  const begin = (queue: string) =>
    slots.run(queue, () => new Promise((resolve) => running.set(queue, resolve)))
  const end = async (queue: string, isTaken: boolean, ended: Promise<unknown>) => {
    running.get(queue)!(isTaken)
    running.delete(queue)
    await ended
  }
  const begun = (...queues: string[]) =>
    until(
      `${queues.join(', ')} running`,
      () => Promise.resolve([...running.keys()].toSorted()),
      (found) => queues.every((queue) => found.includes(queue)),
    )
  return { slots, running, begin, end, begun }
}

/** Lets queues time out one after the other. */
async function hang({ begin, end, begun }: ReturnType<typeof openSlots>, ...queues: string[]): Promise<void> {
  for (const queue of queues) {
    const ended = begin(queue)
    await begun(queue)
    await setTimeout(40)
    await end(queue, false, ended)
  }
}

test('a slow request frees its slot for the next, up to a limit', async () => {
  const { begin, begun, end, running } = openSlots()
  const ended = ['a', 'b', 'c', 'd', 'e'].map(begin)
  expect(await begun('a', 'b', 'c', 'd')).toEqual(['a', 'b', 'c', 'd'])
  await setTimeout(100)
  expect(running.has('e')).toBe(false)
  await end('a', true, ended[0]!)
  await begun('e')
})

test('slow webhooks wait for each other, and no prompt webhook waits for them', async () => {
  const setup = openSlots()
  const { begin, begun, running } = setup
  const hanging = ['a', 'b', 'c', 'd', 'e', 'f']
  await hang(setup, ...hanging)
  for (const queue of hanging) void begin(queue)
  await begun('a', 'b')
  for (const queue of ['x', 'y']) void begin(queue)
  expect([...running.keys()]).toEqual(['a', 'b', 'x', 'y'])
})

test('a webhook that accepts again, or refuses at once, is prompt again', async () => {
  const setup = openSlots()
  const { slots, begin, begun, end, running } = setup
  await hang(setup, 'a', 'b', 'c', 'd')
  const ended = begin('a')
  await begun('a')
  await end('a', true, ended)
  await slots.run('b', () => Promise.resolve(false))
  void begin('c')
  void begin('d')
  await begun('c', 'd')
  void begin('a')
  void begin('b')
  expect([...running.keys()]).toEqual(['c', 'd', 'a', 'b'])
})

test('an error of a request is rethrown, and its slot is freed', async () => {
  const { slots } = openSlots()
  for (let n = 0; n < 5; n++) {
    const failing = slots.run('a', () => Promise.reject(new Error('the disk is full')))
    await expect(failing).rejects.toThrow('the disk is full')
  }
  await slots.onIdle()
})

test('a stop drops waiting requests and waits for running ones', async () => {
  const { slots, begin, begun, end, running } = openSlots()
  const ended = begin('a')
  for (const queue of ['b', 'c', 'd', 'e']) void begin(queue)
  await begun('a', 'b')
  slots.clear()
  await end('a', true, ended)
  running.get('b')!(true)
  await slots.onIdle()
  expect([...running.keys()]).toEqual(['b'])
})
