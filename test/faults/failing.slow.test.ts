/** Like `killed-at-random.slow.test.ts`, with failing steps instead of kills. */
import { expect, test } from 'vitest'
import { failAtRandom, faultless, faultsOf } from './_kills.ts'

test('one step in ten fails, in half of the cases after it has happened', { timeout: 300_000 }, async () => {
  const outcome = await failAtRandom({ rate: 0.05, seed: 1, flows: 2 })
  expect(faultsOf(outcome)).toEqual(faultless)
})
