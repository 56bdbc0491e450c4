/** Memory that is no longer needed is given back, while there is nothing to do. */
import { performance } from 'node:perf_hooks'
import { setFlagsFromString } from 'node:v8'
import { expect, test } from 'vitest'
import { giveBack, isIdleBetween } from '../../daemon/server/idle-memory.ts'

test('what was needed at a time and no longer is, is given back', () => {
  // A megabyte each has pages of its own. Small objects may lie in gaps between what other tests have left there, of which no page becomes free.
  let many: number[][] | undefined = Array.from({ length: 64 }, () =>
    Array.from({ length: 2 ** 17 }, () => 0.5),
  )
  const held = process.memoryUsage().heapTotal
  expect(many).toHaveLength(64)
  many = undefined
  giveBack()
  expect(held - process.memoryUsage().heapTotal).toBeGreaterThan(32 * 2 ** 20)
})

test('what was compiled for objects of which there are none at the moment is kept', () => {
  setFlagsFromString('--allow-natives-syntax')
  // oxlint-disable-next-line no-implied-eval, typescript/no-implied-eval -- the syntax that tells is V8's own
  const isCompiled = new Function(`
    function sum(pair) { return pair.first + pair.second }
    function work() {
      let total = 0
      for (let n = 0; n < 100; n++) {
        const pair = {}
        pair.first = n
        pair.second = 1
        total += sum(pair)
      }
      return total
    };
    %PrepareFunctionForOptimization(sum);
    work();
    %OptimizeFunctionOnNextCall(sum);
    work();
    const [isMaglev, isTurboFan] = [16, 32];
    return () => (%GetOptimizationStatus(sum) & (isMaglev | isTurboFan)) !== 0
  `)() as () => boolean
  expect(isCompiled()).toBe(true)
  giveBack()
  expect(isCompiled()).toBe(true)
})

test('who computes is not idle', async () => {
  const before = performance.eventLoopUtilization()
  // As long as the event loop's own account needs to see it.
  await new Promise((resolve) => setTimeout(resolve, 5))
  for (const end = performance.now() + 20; performance.now() < end;);
  await new Promise((resolve) => setTimeout(resolve, 5))
  expect(isIdleBetween(before, performance.eventLoopUtilization())).toBe(false)
  expect(
    isIdleBetween({ idle: 0, active: 0, utilization: 0 }, { idle: 1_990, active: 10, utilization: 0.005 }),
  ).toBe(true)
})
