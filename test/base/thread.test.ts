/** Threads for calculations: what counts against a task's time is that this process had a processor. */
import { expect, test } from 'vitest'
import { createThread, ThreadSpent } from '../../src/base/thread.ts'

/** Answers a task, a number, after so many milliseconds in which it needs no processor, as on a machine that is busy with others. */
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

test('a task that got no processor for a while has its time all the same', async () => {
  await using thread = await open(600)
  expect(await thread.ask(1_200)).toBe(1_200)
})

test('but not for ever', async () => {
  await using thread = await open(200)
  await expect(thread.ask(60_000)).rejects.toThrow(ThreadSpent)
  expect(await thread.ask(1)).toBe(1)
})
