/** The time limit of calculations in threads counts only time in which the process had a processor. */
import { expect, test } from 'vitest'
import { createThread, ThreadSpent } from '../../src/foundation/thread.ts'

/** A task that blocks for a number of milliseconds without using a processor, as on a busy machine. */
const sleeper = `
  const { parentPort } = require('node:worker_threads')
  parentPort.on('message', (ms) => {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
    parentPort.postMessage(ms)
  })
  parentPort.postMessage('ready')
`

async function open(timeMs: number) {
  const program = { code: sleeper, isSource: true }
  const thread = createThread<number, number>({
    name: 'sleeper',
    program,
    timeMs,
    waiting: 10,
    tooMany: 'Too many wait.',
  })
  return { ...thread, [Symbol.asyncDispose]: () => thread.close() }
}

test('time without a processor does not count against the limit of a task', async () => {
  await using thread = await open(600)
  expect(await thread.ask(1_200)).toBe(1_200)
})

test('but a task without result is ended', async () => {
  await using thread = await open(200)
  await expect(thread.ask(60_000)).rejects.toThrow(ThreadSpent)
  expect(await thread.ask(1)).toBe(1)
})
