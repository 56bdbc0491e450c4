/** The gate where writes to wallets pass: still for an instant, and not before whoever copies has the file. */
import { setImmediate as turn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createGate } from '../../src/wallet/gate.ts'

/** Something that ends when it is told to. */
function aWork() {
  let end = () => {}
  const ended = new Promise<void>((resolve) => (end = resolve))
  return { work: () => ended, end }
}

/** What happens, in order. */
function aStory() {
  const told: string[] = []
  return { told, tell: (what: string) => async () => void told.push(what) }
}

test('an instant waits for what is under way, and what comes then waits for the instant', async () => {
  const gate = createGate()
  const { told, tell } = aStory()
  const [first, second, instant] = [aWork(), aWork(), aWork()]
  const writes = [gate.write('a', first.work), gate.write('b', second.work)]
  const holding = gate.hold(() => tell('instant')().then(instant.work), tell('asked'))
  writes.push(gate.write('c', tell('written')))
  first.end()
  await turn()
  expect(told).toEqual([])
  second.end()
  await turn()
  expect(told).toEqual(['instant'])
  instant.end()
  await Promise.all([...writes, holding])
  // What waited is asked for as well: it is written after the instant.
  expect(told).toEqual(['instant', 'asked', 'written'])
})

test('from then on, until it is released, whoever copies is asked before each write', async () => {
  const gate = createGate()
  const { told, tell } = aStory()
  await gate.hold(tell('instant'), async (id) => void told.push(`hold ${id}`))
  await gate.write('a', tell('write a'))
  await gate.write('b', tell('write b'))
  gate.release()
  await gate.write('a', tell('write a'))
  expect(told).toEqual(['instant', 'hold a', 'write a', 'hold b', 'write b', 'write a'])
})

test('who was asked for one backup is asked for the next one too', async () => {
  const gate = createGate()
  const { told, tell } = aStory()
  const copy = aWork()
  await gate.hold(tell('first instant'), copy.work)
  const writing = gate.write('a', tell('written'))
  gate.release()
  await gate.hold(tell('second instant'), tell('asked for the second'))
  copy.end()
  await writing
  expect(told).toEqual(['first instant', 'second instant', 'asked for the second', 'written'])
})

test('an instant that does not come is given up, and writes go on', async () => {
  const gate = createGate()
  const { told, tell } = aStory()
  const endless = aWork()
  const writing = gate.write('a', endless.work)
  await expect(gate.hold(tell('instant'), tell('asked'), 1)).rejects.toMatchObject({
    type: 'error:ServiceUnavailable',
  })
  await gate.write('b', tell('written'))
  endless.end()
  await writing
  await turn()
  expect(told).toEqual(['written'])
  await expect(gate.hold(() => Promise.reject(new Error('the disk')), tell('asked'))).rejects.toThrow(
    'the disk',
  )
  await gate.write('b', tell('written'))
  expect(told).toEqual(['written', 'written'])
})

test('a write that fails is over', async () => {
  const gate = createGate()
  await expect(gate.write('a', () => Promise.reject(new Error('full')))).rejects.toThrow('full')
  await gate.hold(
    () => Promise.resolve(),
    () => Promise.resolve(),
  )
  gate.release()
})
