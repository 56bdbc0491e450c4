/** Memory that is no longer needed is given back, while there is nothing to do. */
import { performance } from 'node:perf_hooks'
import { expect, test } from 'vitest'
import { giveBack, isIdleBetween } from '../../daemon/idle-memory.ts'

test('what was needed at a time and no longer is, is given back', async () => {
  let many: object[] | undefined = Array.from({ length: 500_000 }, (_, n) => ({ n, text: `number ${n}` }))
  const held = process.memoryUsage().heapTotal
  expect(many.length).toBe(500_000)
  many = undefined
  await giveBack()
  expect(held - process.memoryUsage().heapTotal).toBeGreaterThan(20 * 2 ** 20)
})

test('who computes is not idle', async () => {
  const before = performance.eventLoopUtilization()
  // As long as the event loop's own account needs to see it.
  await new Promise((resolve) => setTimeout(resolve, 5))
  for (const end = performance.now() + 20; performance.now() < end;);
  await new Promise((resolve) => setTimeout(resolve, 5))
  expect(isIdleBetween(before, performance.eventLoopUtilization())).toBe(false)
  expect(isIdleBetween({ idle: 0, active: 0, utilization: 0 }, { idle: 1_990, active: 10, utilization: 0.005 })).toBe(true)
})
