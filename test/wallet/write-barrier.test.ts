/**
 * The write barrier: no write runs during the instant, and later writes wait for the snapshot of their
 * wallet.
 */
import { setImmediate as tick } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createWriteBarrier } from '../../src/wallet/write-barrier.ts'

/** Work that ends when `end` is called. */
function newWork() {
  let end = () => {}
  const ended = new Promise<void>((resolve) => (end = resolve))
  return { work: () => ended, end }
}

/** Records events in order. */
function newRecorder() {
  const events: string[] = []
  return { events, record: (event: string) => async () => void events.push(event) }
}

test('the instant waits for writes under way, and later writes wait for the instant', async () => {
  const barrier = createWriteBarrier()
  const { events, record } = newRecorder()
  const [first, second, instant] = [newWork(), newWork(), newWork()]
  const writes = [barrier.write('a', first.work), barrier.write('b', second.work)]
  const holding = barrier.pause(() => record('instant')().then(instant.work), record('before write'))
  writes.push(barrier.write('c', record('written')))
  first.end()
  await tick()
  expect(events).toEqual([])
  second.end()
  await tick()
  expect(events).toEqual(['instant'])
  instant.end()
  await Promise.all([...writes, holding])
  // The write that waited awaits `beforeWrite` too, since it runs after the instant.
  expect(events).toEqual(['instant', 'before write', 'written'])
})

test('until the release, each write awaits beforeWrite', async () => {
  const barrier = createWriteBarrier()
  const { events, record } = newRecorder()
  await barrier.pause(record('instant'), async (id) => void events.push(`hold ${id}`))
  await barrier.write('a', record('write a'))
  await barrier.write('b', record('write b'))
  barrier.release()
  await barrier.write('a', record('write a'))
  expect(events).toEqual(['instant', 'hold a', 'write a', 'hold b', 'write b', 'write a'])
})

test('a write that waited for one backup also waits for the next one', async () => {
  const barrier = createWriteBarrier()
  const { events, record } = newRecorder()
  const copy = newWork()
  await barrier.pause(record('first instant'), copy.work)
  const writing = barrier.write('a', record('written'))
  barrier.release()
  await barrier.pause(record('second instant'), record('before write for the second'))
  copy.end()
  await writing
  expect(events).toEqual(['first instant', 'second instant', 'before write for the second', 'written'])
})

test('pause gives up after its limit, and writes continue', async () => {
  const barrier = createWriteBarrier()
  const { events, record } = newRecorder()
  const endless = newWork()
  const writing = barrier.write('a', endless.work)
  await expect(barrier.pause(record('instant'), record('before write'), 1)).rejects.toMatchObject({
    type: 'error:ServiceUnavailable',
  })
  await barrier.write('b', record('written'))
  endless.end()
  await writing
  await tick()
  expect(events).toEqual(['written'])
  await expect(
    barrier.pause(() => Promise.reject(new Error('the disk')), record('before write')),
  ).rejects.toThrow('the disk')
  await barrier.write('b', record('written'))
  expect(events).toEqual(['written', 'written'])
})

test('a failed write counts as ended', async () => {
  const barrier = createWriteBarrier()
  await expect(barrier.write('a', () => Promise.reject(new Error('full')))).rejects.toThrow('full')
  await barrier.pause(
    () => Promise.resolve(),
    () => Promise.resolve(),
  )
  barrier.release()
})
