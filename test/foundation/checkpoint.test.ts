import { expect, test } from 'vitest'
import { createCheckpoint } from '../../src/foundation/checkpoint.ts'

/** Whether other work proceeds during a loop of a few parts. */
async function yields(yieldMs: number): Promise<boolean> {
  let hasProceeded = false
  setImmediate(() => (hasProceeded = true))
  const checkpoint = createCheckpoint(yieldMs)
  for (let part = 0; part < 3; part++) await checkpoint()
  return hasProceeded
}

test('a checkpoint lets other work proceed when it is due, and costs nothing before', async () => {
  expect(await yields(0)).toBe(true)
  expect(await yields(60_000)).toBe(false)
})
