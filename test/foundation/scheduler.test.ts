import { setImmediate as nextIteration } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createScheduler, type Slot } from '../../src/foundation/scheduler.ts'

const wide = { running: 100, runningPerClient: 100, waiting: 1_000, waitingPerClient: 1_000 }

async function iterate(count = 500): Promise<void> {
  for (let n = 0; n < count; n++) await nextIteration()
}

test('the request of a single client starts at once', async () => {
  const scheduler = createScheduler(wide)
  let hasStarted = false
  void scheduler.acquire('a').then(() => (hasStarted = true))
  await Promise.resolve()
  expect(hasStarted).toBe(true)
})

test('one request starts per iteration of the event loop', async () => {
  const scheduler = createScheduler(wide)
  let started = 0
  for (let n = 0; n < 5; n++) void scheduler.acquire('a').then(() => started++)
  const seen = []
  for (let n = 0; n < 5; n++) {
    await nextIteration()
    seen.push(started)
  }
  expect(seen).toEqual([2, 3, 4, 5, 5])
})

test('clients get slots in turn, however many requests one of them has sent', async () => {
  const scheduler = createScheduler(wide)
  const order: string[] = []
  const run = async (client: string) => {
    const slot = await scheduler.acquire(client)
    order.push(client)
    slot!.release()
  }
  await Promise.all([...'aaaaaabbc'].map(run))
  expect(order.join('')).toBe('aabcabaaa')
})

test('a client with all of its slots in use waits, and others do not', async () => {
  const scheduler = createScheduler({ ...wide, runningPerClient: 2 })
  const slots: Slot[] = []
  for (let n = 0; n < 3; n++) void scheduler.acquire('a').then((slot) => slots.push(slot!))
  let other = false
  void scheduler.acquire('b').then(() => (other = true))
  await iterate()
  expect([slots.length, other]).toEqual([2, true])
  slots[0]!.release()
  slots[0]!.release()
  await iterate()
  expect(slots.length).toBe(3)
})

test('the requests that run in total are limited', async () => {
  const scheduler = createScheduler({ ...wide, running: 2 })
  const slots: Slot[] = []
  for (const client of ['a', 'b', 'c', 'd']) void scheduler.acquire(client).then((slot) => slots.push(slot!))
  await iterate()
  expect(slots.length).toBe(2)
  slots[1]!.release()
  await iterate()
  expect(slots.length).toBe(3)
})

test('too many waiting requests are refused: 429 for those of one client, 503 for the total', async () => {
  const scheduler = createScheduler({ running: 1, runningPerClient: 1, waiting: 3, waitingPerClient: 2 })
  const first = await scheduler.acquire('a')
  const waiting = [scheduler.acquire('a'), scheduler.acquire('a')]
  await expect(scheduler.acquire('a')).rejects.toMatchObject({ status: 429, retryAfter: 1 })
  waiting.push(scheduler.acquire('b'))
  await expect(scheduler.acquire('c')).rejects.toMatchObject({
    type: 'error:ServiceUnavailable',
    status: 503,
    retryAfter: 1,
  })
  first!.release()
  await Promise.all(waiting.map((next) => next.then((slot) => slot!.release())))
  expect(scheduler.waiting()).toBe(0)
  expect(await scheduler.acquire('c')).toBeDefined()
})

test('a request that is cancelled while it waits makes room and never starts', async () => {
  const scheduler = createScheduler({ ...wide, runningPerClient: 1, waitingPerClient: 1 })
  const first = await scheduler.acquire('a')
  let cancel = () => {}
  const second = scheduler.acquire('a', (how) => (cancel = how))
  cancel()
  cancel()
  expect(await second).toBeUndefined()
  const third = scheduler.acquire('a')
  first!.release()
  expect(await third).toBeDefined()
})
